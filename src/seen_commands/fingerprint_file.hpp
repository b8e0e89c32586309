// Fingerprints from a file, packed or not: as they are, as numbers of URLs, or as URLs one a line.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "crawl/canonical_url.hpp"
#include "crawl/fingerprint.hpp"
#include "sim/buffered_lines.hpp"

namespace garner::seen_commands {

enum class FingerprintForm : std::uint8_t {
    u64,    // 8 bytes each, little-endian
    u32,    // numbers of URLs, 4 bytes each: their fingerprints are made of them
    urls,   // one a line; what is no URL is left out and counted
    u128,   // 16 bytes each, little-endian
};
/// "u64", "u32", "urls", "u128".
std::string_view name_of(FingerprintForm);
/// By what the name ends in, before any ".zst" or ".gz"; u64 when that says nothing.
FingerprintForm form_of(std::string_view file_name);
/// Without .zst or .gz behind it.
std::string_view without_packing(std::string_view file_name);

class FingerprintFile {
public:
    FingerprintFile(std::string const& path, FingerprintForm form)
        : file_(path), lines_(file_, crawl::url_bytes_max + 1), name_(path), form_(form) {}   // a line may end in CR LF

    /// Up to as many as `into` has room for; 0 at the end and after a fault. Print is Fingerprint, of any form but u128, or
    /// crawl::Fingerprint128, of any but u64.
    template <class Print>
    std::size_t read(std::vector<Print>& into);
    /// Names the file and what is wrong with it. Empty: nothing.
    std::string const& fault() const { return fault_.empty() ? file_.fault() : fault_; }

    std::uint64_t lines() const { return line_count_; }   // of URLs
    std::uint64_t no_urls() const { return no_urls_; }  // of them
    Bytes bytes_read() const { return file_.bytes_read(); }
    Bytes bytes_in_file() const { return file_.bytes_in_file(); }

private:
    template <class Number, class Print, class Make>
    std::size_t read_numbers(std::vector<Print>& into, Make make);
    template <class Print>
    std::size_t read_urls(std::vector<Print>& into);

    sim::UnpackedFile file_;
    sim::BufferedLines lines_;
    std::string name_, fault_;
    FingerprintForm form_;
    crawl::CanonicalUrl url_;
    std::uint64_t line_count_ = 0, no_urls_ = 0;
};

}  // namespace garner::seen_commands
