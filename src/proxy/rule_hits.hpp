// The requests that each access rule decided.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "http/access_rules.hpp"
#include "util/counter.hpp"

namespace garner::proxy {

/// Belongs to one list of rules: a transaction that began before a reload counts for the rules that it uses. Each worker writes
/// counters of its own, and any thread may read.
class RuleHits {
public:
    RuleHits(std::size_t rules, std::size_t workers) {
        for (std::size_t i = 0; i < workers; ++i) of_workers_.emplace_back(rules);
    }
    void add(std::size_t worker, std::size_t rule) { of_workers_[worker][rule].add(); }
    /// Of each rule.
    std::vector<std::uint64_t> sums() const;

private:
    std::vector<std::vector<Counter>> of_workers_;
};

/// True if the lists have the same rules in the same order, as they are configured.
bool are_same_rules(http::AccessRules const&, http::AccessRules const&);

}   // namespace garner::proxy
