// A cache digest in Squid's form: a Bloom filter of the URLs that a cache holds. Pure.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "util/bytes.hpp"

namespace garner::icp {

/// A URL in a digest: the four words of the MD5 of GET's number and the URL. Only responses to GET and HEAD are in a digest.
using DigestKey = std::array<std::uint32_t, 4>;

/// Thread-safe. `url`: absolute, in normal form.
DigestKey digest_key(std::string_view url);

/// Immutable.
class Digest {
public:
    static constexpr std::size_t header_bytes = 128;
    static constexpr Bytes mask_max = 64 * MiB;             // for a hundred million URLs
    static constexpr Bytes bytes_max = header_bytes + mask_max;

    /// `bytes`: a whole one, as it came. nullptr with `fault`, a literal, when it is none, or of a version or with
    /// measures that Squid 5 would not take either.
    static std::shared_ptr<Digest const> read(std::string bytes, char const*& fault);

    /// False: the cache did not have it when the digest was made. True: it had, but for about one in ten.
    bool may_have(DigestKey const&) const;

    /// As its cache counted them.
    std::uint64_t entries() const { return entries_; }
    Bytes size() const { return bytes_.size(); }

private:
    Digest() = default;

    std::string bytes_;
    std::uint64_t bits_ = 0;
    std::uint64_t entries_ = 0;
};

/// Makes one. More entries than its capacity only make it less exact.
class DigestBuilder {
public:
    /// `capacity`: how many entries are expected; at most what Digest::mask_max has room for is heeded.
    explicit DigestBuilder(std::uint64_t capacity);

    void add(DigestKey const&);
    std::uint64_t entries() const { return entries_; }
    /// As Digest::read takes it, and Squid.
    std::string finish() &&;

private:
    std::uint64_t capacity_;
    std::uint64_t bits_;
    std::uint64_t entries_ = 0;
    std::string bytes_;
};

}  // namespace garner::icp
