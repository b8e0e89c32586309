// A cache digest in Squid's format: a Bloom filter of the URLs that a cache holds. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "util/bytes.hpp"
#include "util/counted.hpp"
#include "util/result.hpp"

namespace garner::icp {

/// A URL's key in a digest: the four words of the MD5 of GET's number and the URL. Only responses to GET and HEAD are in a
/// digest.
using DigestKey = std::array<std::uint32_t, 4>;

/// Thread-safe. `url`: absolute, in normal form.
DigestKey digest_key(std::string_view url);

/// Immutable.
class Digest {
public:
    static constexpr std::size_t header_bytes = 128;
    static constexpr Bytes mask_max = 64 * MiB;   // for a hundred million URLs
    static constexpr Bytes bytes_max = header_bytes + mask_max;

    /// `bytes`: a whole one, as received. A fault if it is not a digest, or has a version or sizes that Squid 5 refuses, too.
    static Result<std::shared_ptr<Digest const>> read(std::string bytes);

    /// False: the cache did not have the URL when the digest was built. True: it probably had; about one in ten is a false
    /// positive.
    bool may_have(DigestKey const&) const;

    /// The number that the digest's cache has put in.
    std::uint64_t entries() const { return entries_; }
    Bytes size() const { return bytes_.size(); }

private:
    Digest() = default;

    std::string bytes_;
    CountedBytes<Digest> counted_;
    std::uint64_t bits_ = 0;
    std::uint64_t entries_ = 0;
};

/// Builds a digest. More entries than its capacity only raise the false positive rate.
class DigestBuilder {
public:
    /// `capacity`: the expected number of entries; limited to what Digest::mask_max allows.
    explicit DigestBuilder(std::uint64_t capacity);

    void add(DigestKey const&);
    std::uint64_t entries() const { return entries_; }
    /// In the format that Digest::read and Squid accept.
    std::string finish() &&;

private:
    std::uint64_t capacity_;
    std::uint64_t bits_;
    std::uint64_t entries_ = 0;
    std::string bytes_;
};

}   // namespace garner::icp
