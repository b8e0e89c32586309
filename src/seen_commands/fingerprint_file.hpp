// Fingerprints from a file, packed or not: as they are, as numbers of URLs, or as URLs one a line.
#pragma once
#include <array>
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
    urls,   // one a line; other lines are left out and counted
    u128,   // 16 bytes each, little-endian
};
/// Their names, in that order.
inline constexpr std::array<std::string_view, 4> fingerprint_forms{"u64", "u32", "urls", "u128"};
/// By what the name ends in, before any ".zst" or ".gz"; u64 when that says nothing.
FingerprintForm form_of(std::string_view file_name);
/// Without .zst or .gz behind it.
std::string_view without_packing(std::string_view file_name);

class FingerprintFile {
public:
    FingerprintFile(std::string const& path, FingerprintForm form)
        : file_(path), lines_(file_, crawl::url_bytes_max + 1),   // a line may end in CR LF
          name_(path == "-" ? "standard input" : path), form_(form) {}

    /// Up to as many as `into` has room for; 0 at the end and after a fault. Print is Fingerprint, of any form but u128,
    /// crawl::Fingerprint128, of any but u64, or std::uint32_t, the numbers of URLs themselves, of u32.
    template <class Print>
    std::size_t read(std::vector<Print>& into);
    /// Names the file, what is wrong with it and the mend. Empty: nothing.
    std::string const& fault() const { return fault_.empty() ? file_.fault() : fault_; }

    std::uint64_t lines() const { return line_count_; }   // of URLs
    std::uint64_t no_urls() const { return no_urls_; }    // of them
    Bytes bytes_read() const { return file_.bytes_read(); }
    Bytes bytes_in_file() const { return file_.bytes_in_file(); }

private:
    template <class Print>
    std::size_t read_fingerprints(std::vector<Print>& into);
    template <class Number, class Print, class Make>
    std::size_t read_numbers(std::vector<Print>& into, Make make);
    template <class Print>
    std::size_t read_urls(std::vector<Print>& into);

    sim::UnpackedFile file_;
    sim::BufferedLines lines_;
    std::string name_, fault_;
    FingerprintForm form_;
    crawl::CanonicalUrl url_;
    std::uint64_t read_ = 0, line_count_ = 0, no_urls_ = 0;   // numbers
};

}   // namespace garner::seen_commands
