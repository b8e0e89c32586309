// The table of replacement policies by name.
#pragma once
#include <memory>
#include <span>
#include <string_view>

#include "policy/policy.hpp"

namespace garner::policy {

struct Row {
    std::string_view name;                                                // as in the configuration: "lru", "gdsf"
    std::string_view what;                                                // one line for --help
    std::unique_ptr<ReplacementPolicy> (*make)(Options const&);
};

/// All registered policies; a new one is one file and one row.
std::span<Row const> all();

/// The policy of that name, or nullptr when there is none.
std::unique_ptr<ReplacementPolicy> make(std::string_view name, Options const&);

}  // namespace garner::policy
