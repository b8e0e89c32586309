// The hosts of a rule: patterns of the configuration, and lists from files.
#pragma once
#include <initializer_list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "http/host_list.hpp"
#include "http/host_pattern.hpp"

namespace garner::http {

/// Immutable after construction; copies share the lists. Many patterns are looked up in a list of their own.
class HostSet {
public:
    using Lists = std::vector<std::shared_ptr<HostList const>>;

    HostSet() = default;
    HostSet(std::vector<HostPattern> patterns, Lists lists = {});
    HostSet(std::initializer_list<HostPattern> patterns) : HostSet(std::vector<HostPattern>(patterns)) {}

    bool contains(std::string_view host) const;
    /// True if a pattern of the configuration is this address. Values from files do not count.
    bool names(IpAddress const& address) const;
    /// True if a pattern of the configuration is "localhost". Values from files do not count.
    bool names_localhost() const;

    /// True without a condition.
    bool empty() const { return patterns_.empty() && lists_.empty(); }
    bool has_lists() const { return !lists_.empty(); }
    Lists const& lists() const { return lists_; }

    // The patterns of the configuration, in its order.
    std::size_t size() const { return patterns_.size(); }
    HostPattern const& operator[](std::size_t index) const { return patterns_[index]; }
    auto begin() const { return patterns_.begin(); }
    auto end() const { return patterns_.end(); }

private:
    std::vector<HostPattern> patterns_;
    std::shared_ptr<HostList const> many_;   // the patterns; nullptr: few
    Lists lists_;
};

}   // namespace garner::http
