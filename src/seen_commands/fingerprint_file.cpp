#include "seen_commands/fingerprint_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "crawl/mixed_bits.hpp"

namespace garner::seen_commands {

namespace {

constexpr std::size_t block_bytes = 256 * KiB;

// Of the number of a URL, and of its text.
void make(std::uint32_t number, Fingerprint& to) { to = crawl::mixed(number + 1ull); }
void make(std::uint32_t number, crawl::Fingerprint128& to) { to = {crawl::mixed(number + 1ull), number}; }
void make(std::string_view url, Fingerprint& to) { to = crawl::fingerprint64(url); }
void make(std::string_view url, crawl::Fingerprint128& to) { to = crawl::fingerprint128(url); }

}  // namespace

std::string_view name_of(FingerprintForm form) {
    switch (form) {
    case FingerprintForm::u32: return "u32";
    case FingerprintForm::urls: return "urls";
    case FingerprintForm::u128: return "u128";
    case FingerprintForm::u64: break;
    }
    return "u64";
}

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
    if (form_ == FingerprintForm::urls) return read_urls(into);
    if (form_ == FingerprintForm::u32)
        return read_numbers<std::uint32_t>(into, [](std::uint32_t number, Print& to) { make(number, to); });
    if constexpr (std::is_same_v<Print, Fingerprint>)
        return read_numbers<std::uint64_t>(into, [](std::uint64_t number, Print& to) { to = number; });
    else
        return read_numbers<std::array<std::uint64_t, 2>>(
            into, [](std::array<std::uint64_t, 2> const& halves, Print& to) { to = {halves[1], halves[0]}; });
}
template std::size_t FingerprintFile::read(std::vector<Fingerprint>&);
template std::size_t FingerprintFile::read(std::vector<crawl::Fingerprint128>&);

// What is left of the block moves to its beginning, and more comes behind it.
bool FingerprintFile::refill() {
    block_.resize(block_bytes);
    std::copy(block_.begin() + static_cast<std::ptrdiff_t>(at_), block_.begin() + static_cast<std::ptrdiff_t>(size_),
              block_.begin());
    size_ -= at_;
    at_ = 0;
    auto const more = file_.read(block_.data() + size_, block_.size() - size_);
    size_ += more;
    return more > 0;
}

template <class Number, class Print, class Make>
std::size_t FingerprintFile::read_numbers(std::vector<Print>& into, Make make_print) {
    std::size_t count = 0;
    while (count < into.size()) {
        for (; count < into.size() && size_ - at_ >= sizeof(Number); at_ += sizeof(Number)) {
            Number number;
            std::memcpy(&number, block_.data() + at_, sizeof number);
            make_print(number, into[count++]);
        }
        if (count == into.size() || refill()) continue;
        if (size_ > at_ && file_.fault().empty())
            fault_ = name_ + " ends in the middle of a number: its last " + std::to_string(size_ - at_) + " of " +
                     std::to_string(sizeof(Number)) + " bytes; is it of another form? see --form";
        break;
    }
    return fault().empty() ? count : 0;
}

template <class Print>
std::size_t FingerprintFile::read_urls(std::vector<Print>& into) {
    std::size_t count = 0;
    std::string_view line;
    while (count < into.size() && next_line(line)) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        ++lines_;
        if (crawl::canonicalise(line, url_) == crawl::UrlFault::none)
            make(url_.text, into[count++]);
        else
            ++no_urls_;
    }
    return fault().empty() ? count : 0;
}

// Of a line that is too long to be a URL no more is kept than shows that it is.
bool FingerprintFile::next_line(std::string_view& line) {
    line_.clear();
    for (;;) {
        auto const* const begin = block_.data() + at_;
        auto const* const end = size_ > at_ ? static_cast<char const*>(std::memchr(begin, '\n', size_ - at_)) : nullptr;
        std::string_view const piece(begin, end ? static_cast<std::size_t>(end - begin) : size_ - at_);
        at_ += piece.size() + (end ? 1 : 0);
        if (end && line_.empty()) {
            line = piece;
            return true;
        }
        line_ += piece.substr(0, crawl::url_bytes_max + 1 - std::min(line_.size(), crawl::url_bytes_max + 1));
        if (!end && refill()) continue;
        line = line_;
        return end || !line_.empty();
    }
}

}  // namespace garner::seen_commands
