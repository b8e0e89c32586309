#include "http/host_list.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "util/hash.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

constexpr std::size_t labels_looked_up = 128;   // a name of 253 bytes has no more
constexpr std::size_t host_on_stack = 256;

unsigned labels_of(std::string_view name) { return static_cast<unsigned>(std::ranges::count(name, '.')) + !name.starts_with('.'); }

/// Lines for this many names at three quarters of their places.
std::size_t lines_for(std::size_t names) { return names / 6 + 1; }

}   // namespace

HostList::HostList(std::size_t expected) : lines_(lines_for(expected)), seed_(random_bits()) {}

std::uint64_t HostList::print_of(std::string_view text) const { return std::max<std::uint64_t>(fingerprint(text, seed_), 1); }

std::uint64_t HostList::print_of(IpAddress const& address) const {
    // No host has these bytes, which begin with NUL or a control byte of no host name.
    std::string_view const bytes(reinterpret_cast<char const*>(address.bytes.data()), address.bytes.size());
    return std::max<std::uint64_t>(fingerprint(bytes, ~seed_), 1);
}

// The high bits choose the line.
std::size_t HostList::line_of(std::uint64_t print) const {
    return static_cast<std::size_t>(static_cast<unsigned __int128>(print) * lines_.size() >> 64);
}

void HostList::insert(std::uint64_t print) {
    for (auto at = line_of(print);; at = at + 1 == lines_.size() ? 0 : at + 1)
        for (auto& place : lines_[at].prints) {
            if (place == print) return;
            if (place != 0) continue;
            place = print;
            ++size_;
            return;
        }
}

void HostList::grow() {
    auto const old = std::exchange(lines_, std::vector<Line>(lines_for(size_ * 2)));
    size_ = 0;
    for (auto const& line : old)
        for (auto const print : line.prints)
            if (print != 0) insert(print);
}

void HostList::add(std::string_view name) {
    if (size_ >= lines_.size() * 6) grow();
    name = without_final_dot(name);
    if (auto const address = parse_ip(name)) {
        has_addresses_ = true;
        return insert(print_of(*address));
    }
    labels_max_ = std::max(labels_max_, labels_of(name));
    insert(print_of(lower_case(name)));
}

bool HostList::has(std::uint64_t print) const {
    for (auto at = line_of(print);; at = at + 1 == lines_.size() ? 0 : at + 1) {
        auto const& prints = lines_[at].prints;
        for (auto const one : prints)
            if (one == print) return true;
        if (prints.back() == 0) return false;
    }
}

/// A listed ".b.example" matches "b.example" and "a.b.example": the keys are "a.b.example", ".a.b.example", ".b.example" and
/// ".example". All lines are prefetched before the first one is read.
bool HostList::has_suffix(std::string_view lower) const {
    std::array<std::uint64_t, labels_looked_up + 2> prints;   // NOLINT: only the first `count` are read
    std::size_t count = 0;
    auto const note = [&](std::uint64_t print) {
        __builtin_prefetch(&lines_[line_of(print)]);
        prints[count++] = print;
    };
    // lower[0] is a dot before the host, which makes its own domain a suffix, too.
    auto const host = lower.substr(1);
    unsigned labels = labels_of(host);
    if (labels <= labels_max_) note(print_of(host));
    for (std::size_t dot = 0; dot != lower.npos && count < prints.size(); dot = lower.find('.', dot + 1), --labels)
        if (labels <= labels_max_) note(print_of(lower.substr(dot)));
    return std::any_of(prints.begin(), prints.begin() + static_cast<std::ptrdiff_t>(count), [&](auto one) { return has(one); });
}

bool HostList::contains(std::string_view host) const {
    if (empty()) return false;
    host = without_final_dot(host);
    if (has_addresses_)
        if (auto const address = parse_ip(host); address && has(print_of(*address))) return true;
    if (host.size() < host_on_stack) {
        std::array<char, host_on_stack + 1> text;   // NOLINT: written before it is read
        text[0] = '.';
        std::ranges::transform(host, text.begin() + 1, to_lower);
        return has_suffix({text.data(), host.size() + 1});
    }
    return has_suffix("." + lower_case(host));
}

}   // namespace garner::http
