#include "http/rules_by_host.hpp"

#include <algorithm>
#include <array>

#include "util/text.hpp"

namespace garner::http {
namespace {

constexpr std::size_t host_max = 255;   // a longer one may match any rule

}   // namespace

RulesByHost::RulesByHost(std::vector<HostSet const*> const& rules) : seed_(random_bits()), others_(words_for(rules.size())) {
    for (std::uint32_t rule = 0; rule < rules.size(); ++rule) {
        if (!rules[rule]) {
            set_bit(others_, rule);
            continue;
        }
        active_ = true;
        for (auto const& pattern : *rules[rule]) {
            has_addresses_ = has_addresses_ || pattern.address();
            add(pattern.address() ? pattern.address()->text() : pattern.text(), rule);
        }
    }
}

void RulesByHost::add(std::string_view key, std::uint32_t rule) {
    auto& number = numbers_.at(fingerprint(key, seed_));
    if (number == FingerprintMap::none) {
        number = static_cast<std::uint32_t>(lists_.size());
        lists_.emplace_back();
    }
    auto& list = lists_[number];
    if (list.empty() || list.back() != rule) list.push_back(rule);
}

void RulesByHost::set_found(std::string_view key, RuleBits& found) const {
    auto const number = numbers_.find(fingerprint(key, seed_));
    if (number == FingerprintMap::none) return;
    for (auto const rule : lists_[number]) set_bit(found, rule);
}

void RulesByHost::keep_matching(std::string_view host, RuleBits& bits) const {
    host = without_final_dot(host);
    if (host.size() > host_max) return;
    thread_local RuleBits found;   // keeps its memory
    found.assign(others_.begin(), others_.end());
    if (has_addresses_)
        if (auto const address = parse_ip(host)) set_found(address->text(), found);
    std::array<char, host_max + 1> text;   // NOLINT: written before it is read
    text[0] = '.';
    std::ranges::transform(host, text.begin() + 1, to_lower);
    std::string_view const suffix(text.data(), host.size() + 1);
    set_found(suffix.substr(1), found);
    for (std::size_t dot = 0; dot != suffix.npos; dot = suffix.find('.', dot + 1)) set_found(suffix.substr(dot), found);
    keep_common(bits, found);
}

}   // namespace garner::http
