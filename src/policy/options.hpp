// What a replacement policy is told, and the settings of its own that it declares.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "util/bytes.hpp"

namespace garner::policy {

/// One setting of a policy, as in "cpbad:f=total/x:lambda=0.7". A choice where `choices` are given, else a number.
struct Setting {
    std::string_view name;
    std::string_view what;                            // one line for people
    double initial = 0;                               // of a choice: the index
    double least = 0, most = 0;                       // of a number
    std::span<std::string_view const> choices = {};
};

struct Options {
    Bytes capacity = 0;               // the tier's budget; 0 when unknown
    std::uint64_t seed = 1;
    bool lean = false;                // less memory counts for more than the last bits of what it remembers; slots below 2^23
    std::vector<double> values = {};  // of the policy's settings, in their order; empty: all initial

    /// The value of setting number `index` of those declared; of a choice, which one.
    double value(std::span<Setting const> declared, std::size_t index) const {
        return index < values.size() ? values[index] : declared[index].initial;
    }
};

/// Reads "name=value:name=value" by what is declared. Empty `fault`, or one line that names what is wrong and the mend.
struct ReadSettings {
    std::vector<double> values;
    std::string fault;
};
ReadSettings read_settings(std::string_view text, std::span<Setting const> declared);

}  // namespace garner::policy
