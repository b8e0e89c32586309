#include "http/host_set.hpp"

#include <algorithm>

namespace garner::http {
namespace {

constexpr std::size_t few = 8;

}   // namespace

HostSet::HostSet(std::vector<HostPattern> patterns, Lists lists) : patterns_(std::move(patterns)), lists_(std::move(lists)) {
    if (patterns_.size() <= few) return;
    auto many = std::make_shared<HostList>(patterns_.size());
    for (auto const& pattern : patterns_) many->add(pattern.text());
    many_ = std::move(many);
}

bool HostSet::contains(std::string_view host) const {
    auto const in_list = [&](auto const& list) { return list->contains(host); };
    auto const matches = [&](HostPattern const& pattern) { return pattern.matches(host); };
    if (many_ ? many_->contains(host) : std::ranges::any_of(patterns_, matches)) return true;
    return std::ranges::any_of(lists_, in_list);
}

bool HostSet::names(IpAddress const& address) const {
    return std::ranges::any_of(patterns_, [&](HostPattern const& pattern) { return pattern.address() == address; });
}

bool HostSet::names_localhost() const {
    return std::ranges::any_of(patterns_, [](HostPattern const& pattern) { return pattern.text() == "localhost"; });
}

}   // namespace garner::http
