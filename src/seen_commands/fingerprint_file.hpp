// Reads fingerprints from a file, which may be compressed. It has fingerprints, numbers of URLs, or one URL a line.
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
    u32,    // numbers of URLs, 4 bytes each, from which the fingerprints are made
    urls,   // one a line; other lines are left out and counted
    u128,   // 16 bytes each, little-endian
};
/// Their names, in that order.
inline constexpr std::array<std::string_view, 4> fingerprint_forms{"u64", "u32", "urls", "u128"};
/// The form that the end of the name says, without ".zst" or ".gz"; u64 if it says none.
FingerprintForm form_of(std::string_view file_name);
/// The name without .zst or .gz at its end.
std::string_view without_packing(std::string_view file_name);

class FingerprintFile {
public:
    FingerprintFile(std::string const& path, FingerprintForm form)
        : file_(path), lines_(file_, crawl::url_bytes_max + 1),   // a line may end in CR LF
          name_(path == "-" ? "standard input" : path), form_(form) {}

    /// Reads at most into.size() entries. Returns 0 at the end and after an error. `Print` is Fingerprint (any form but u128),
    /// crawl::Fingerprint128 (any form but u64), or std::uint32_t (the numbers themselves; form u32).
    template <class Print>
    std::size_t read(std::vector<Print>& into);
    /// The file, its error and a suggested fix. Empty: no error.
    std::string const& fault() const { return fault_.empty() ? file_.fault() : fault_; }

    std::uint64_t lines() const { return line_count_; }   // lines of a file of URLs
    std::uint64_t no_urls() const { return no_urls_; }    // lines that are no URLs
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
