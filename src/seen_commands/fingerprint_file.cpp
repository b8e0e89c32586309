#include "seen_commands/fingerprint_file.hpp"

#include <array>
#include <type_traits>

#include "crawl/mixed_bits.hpp"
#include "util/check.hpp"

namespace garner::seen_commands {

namespace {

// Make a fingerprint from the number of a URL, or from its text.
void make(std::uint32_t number, Fingerprint& to) { to = crawl::mixed(number + 1ull); }
void make(std::uint32_t number, crawl::Fingerprint128& to) { to = {crawl::mixed(number + 1ull), number}; }
void make(std::string_view url, Fingerprint& to) { to = crawl::fingerprint64(url); }
void make(std::string_view url, crawl::Fingerprint128& to) { to = crawl::fingerprint128(url); }

}   // namespace

std::string_view without_packing(std::string_view name) {
    for (std::string_view const packed : {".zst", ".gz"})
        if (name.ends_with(packed)) name.remove_suffix(packed.size());
    return name;
}

FingerprintForm form_of(std::string_view file) {
    auto const name = without_packing(file);
    if (name.ends_with(".u32")) return FingerprintForm::u32;
    if (name.ends_with(".u128")) return FingerprintForm::u128;
    if (name.ends_with(".urls") || name.ends_with(".txt")) return FingerprintForm::urls;
    return FingerprintForm::u64;
}

template <class Print>
std::size_t FingerprintFile::read(std::vector<Print>& into) {
    if (!fault().empty()) return 0;
    if constexpr (std::is_same_v<Print, std::uint32_t>) {
        check(form_ == FingerprintForm::u32);
        return read_numbers<std::uint32_t>(into, [](std::uint32_t number, Print& to) { to = number; });
    } else {
        return read_fingerprints(into);
    }
}
template std::size_t FingerprintFile::read(std::vector<std::uint32_t>&);
template std::size_t FingerprintFile::read(std::vector<Fingerprint>&);
template std::size_t FingerprintFile::read(std::vector<crawl::Fingerprint128>&);

template <class Print>
std::size_t FingerprintFile::read_fingerprints(std::vector<Print>& into) {
    if (form_ == FingerprintForm::urls) return read_urls(into);
    if (form_ == FingerprintForm::u32)
        return read_numbers<std::uint32_t>(into, [](std::uint32_t number, Print& to) { make(number, to); });
    if constexpr (std::is_same_v<Print, Fingerprint>)
        return read_numbers<std::uint64_t>(into, [](std::uint64_t number, Print& to) { to = number; });
    else
        return read_numbers<std::array<std::uint64_t, 2>>(into, [](std::array<std::uint64_t, 2> const& halves, Print& to) {
            to = {halves[1], halves[0]};
        });
}
template <class Number, class Print, class Make>
std::size_t FingerprintFile::read_numbers(std::vector<Print>& into, Make make_print) {
    std::size_t count = 0;
    auto const odd = lines_.next_numbers<Number>(into.size(), [&](Number number) { make_print(number, into[count++]); });
    read_ += count;
    if (odd > 0 && file_.fault().empty() && std::is_same_v<Print, std::uint32_t>)
        fault_ = name_ + ": " + std::to_string(read_ * sizeof(Number) + odd) +
                 " bytes are no whole number of 4-byte URL numbers: the file is cut off, or no stream of little-endian u32";
    else if (odd > 0 && file_.fault().empty())
        fault_ = name_ + " ends in the middle of a number: its last " + std::to_string(odd) + " of " +
                 std::to_string(sizeof(Number)) + " bytes; is it of another form? see --form";
    return fault().empty() ? count : 0;
}

template <class Print>
std::size_t FingerprintFile::read_urls(std::vector<Print>& into) {
    std::size_t count = 0;
    std::string_view line;
    while (count < into.size() && lines_.next_line(line)) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        ++line_count_;
        if (crawl::canonicalise(line, url_) == crawl::UrlFault::none)
            make(url_.text, into[count++]);
        else
            ++no_urls_;
    }
    return fault().empty() ? count : 0;
}

}   // namespace garner::seen_commands
