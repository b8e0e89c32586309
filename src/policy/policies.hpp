// The table of replacement policies by name.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/options.hpp"
#include "policy/policy.hpp"
#include "util/result.hpp"

namespace garner::policy {

struct Row {
    std::string_view name;   // the name in the configuration: "lru", "gdsf"
    std::string_view what;   // one line for --help
    std::unique_ptr<ReplacementPolicy> (*make)(Options const&);
    std::span<Setting const> settings = {};
};

/// All registered policies; a new one is one file and one row.
std::span<Row const> all();

/// A parsed policy spec: "NAME" or "NAME:setting=value:setting=value". The texts in `row` are static.
struct Spec {
    Row const* row;
    std::vector<double> values;
};
/// A fault if there is no such policy or setting.
Result<Spec> read_spec(std::string_view text);

/// The policy of a spec, or nullptr when read_spec() reports an error. The spec's values replace `options.values`.
std::unique_ptr<ReplacementPolicy> make(std::string_view spec, Options options);

}   // namespace garner::policy
