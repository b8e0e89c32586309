// The part of the rules' index that finds rules by the host of a request.
#pragma once
#include <cstdint>
#include <string_view>
#include <vector>

#include "http/host_set.hpp"
#include "http/rule_bits.hpp"
#include "util/fingerprint_map.hpp"

namespace garner::http {

/// Immutable after construction, so many threads may read it.
class RulesByHost {
public:
    /// The patterns of each rule; nullptr for a rule that every host may match.
    explicit RulesByHost(std::vector<HostSet const*> const& rules);

    /// False if it leaves all rules.
    bool is_active() const { return active_; }
    /// Clears the bits of rules that do not match this host.
    void keep_matching(std::string_view host, RuleBits& bits) const;

private:
    void add(std::string_view key, std::uint32_t rule);
    void set_found(std::string_view key, RuleBits& found) const;

    std::uint64_t seed_;
    FingerprintMap numbers_;                          // index in lists_, by the fingerprint of a host or suffix
    std::vector<std::vector<std::uint32_t>> lists_;   // rules
    RuleBits others_;                                 // rules that every host may match
    bool has_addresses_ = false;
    bool active_ = false;
};

}   // namespace garner::http
