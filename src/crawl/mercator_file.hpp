// Mercator's Duplicate URL Eliminator on disk (Broder, Najork, Wiener 2003, section 3): checksums of 8 bytes in a sorted
// file, with which a full buffer is merged.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "crawl/url_set.hpp"
#include "io/file.hpp"

namespace garner::crawl {

/// Each batch is a full buffer: it costs one pass over the whole file, to be written anew. 8 bytes an entry.
class MercatorFile final : public UrlSet {
public:
    struct Opened {
        std::unique_ptr<MercatorFile> set;
        std::string fault = {};
    };
    static Opened open(std::filesystem::path const& directory, io::Faults* faults = nullptr);

    Added add(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) override;
    std::uint64_t size() const override { return size_; }
    Bytes memory_bytes() const override { return sizeof *this; }
    Bytes file_bytes() const override { return 64 + 8 * size_; }

private:
    MercatorFile(std::string name, io::Faults* faults) : name_(std::move(name)), faults_(faults) {}
    std::string open();

    std::string const name_;
    io::Faults* const faults_;
    io::File file_;
    std::uint64_t size_ = 0, checksum_ = 0;
};

}  // namespace garner::crawl
