// The table of replacement policies by name.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/options.hpp"
#include "policy/policy.hpp"

namespace garner::policy {

struct Row {
    std::string_view name;                                                // as in the configuration: "lru", "gdsf"
    std::string_view what;                                                // one line for --help
    std::unique_ptr<ReplacementPolicy> (*make)(Options const&);
    std::span<Setting const> settings = {};
};

/// All registered policies; a new one is one file and one row.
std::span<Row const> all();

/// A policy as people write it: "NAME" or "NAME:setting=value:setting=value". The texts in `row` live forever.
struct Spec {
    Row const* row = nullptr;      // nullptr: there is no such policy or setting, see `fault`
    std::vector<double> values;
    std::string fault;             // one line that names what is wrong and the mend
};
Spec read_spec(std::string_view text);

/// The policy of that spec, or nullptr when read_spec() finds a fault. The values in `options` are those of the spec.
std::unique_ptr<ReplacementPolicy> make(std::string_view spec, Options options);

}  // namespace garner::policy
