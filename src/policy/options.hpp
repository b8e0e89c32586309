// Options of a replacement policy, and its declared settings.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/bytes.hpp"
#include "util/result.hpp"

namespace garner::policy {

/// One setting of a policy, as in "cpbad:f=total/x:lambda=0.7". A choice if `choices` are given, otherwise a number.
struct Setting {
    std::string_view name;
    std::string_view what;        // one line for documentation
    double initial = 0;           // for a choice: the index
    double least = 0, most = 0;   // for a number
    std::span<std::string_view const> choices = {};
};

struct Options {
    Bytes capacity = 0;   // the tier's budget; 0 when unknown
    std::uint64_t seed = 1;
    bool lean = false;                 // saves memory at the cost of precision; slots below 2^23
    std::vector<double> values = {};   // the policy's settings, in their order; empty: all defaults

    /// The value of declared setting number `index`; for a choice, its index.
    double value(std::span<Setting const> declared, std::size_t index) const {
        return index < values.size() ? values[index] : declared[index].initial;
    }
};

/// The values of "name=value:name=value", in the order in which the settings are declared.
Result<std::vector<double>> read_settings(std::string_view text, std::span<Setting const> declared);

}   // namespace garner::policy
