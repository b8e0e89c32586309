// Mercator's Duplicate URL Eliminator on disk (Broder, Najork, Wiener 2003, section 3): checksums of 8 bytes in a
// sorted file, into which a full buffer is merged.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "crawl/url_set.hpp"
#include "io/file.hpp"

namespace garner::papers {

/// Each batch is a full buffer, and rewrites the whole file once. 8 bytes an entry.
class MercatorFile final : public crawl::UrlSet {
public:
    struct Options {
        std::filesystem::path directory;
        std::optional<std::string> layers = {};   // as in SetForm
        io::Faults* faults = nullptr;             // outlives the set
    };
    /// Opens the set in the directory, or creates one. The directory is locked against other processes.
    static Result<std::unique_ptr<MercatorFile>> open(Options const&);

    Added add(std::span<Fingerprint const>, std::span<std::uint8_t> is_new) override;
    std::string why_it_forgets() const override { return {}; }
    std::string sync() override;
    std::uint64_t size() const override { return size_; }
    Bytes memory_bytes() const override { return sizeof *this; }
    Bytes file_bytes() const override { return 64 + 8 * size_; }

private:
    explicit MercatorFile(Options const& options) : options_(options), name_((options.directory / "sorted").string()) {}
    std::string open();

    Options const options_;
    std::string const name_;
    io::File lock_;
    io::File file_;
    std::uint64_t size_ = 0, checksum_ = 0;
    bool synced_ = false;   // the name; the file is synced before it gets one
};

}   // namespace garner::papers
