#include "policy/options.hpp"

#include <algorithm>

#include "util/numbers.hpp"
#include "util/option_words.hpp"

namespace garner::policy {
namespace {

std::string joined(std::span<std::string_view const> names) {
    std::string text;
    for (auto name : names) text += (text.empty() ? "" : ", ") + std::string(name);
    return text;
}

Result<double> read_value(std::string_view text, Setting const& setting) {
    for (std::size_t i = 0; i < setting.choices.size(); ++i)
        if (setting.choices[i] == text) return static_cast<double>(i);
    auto const named = "\"" + std::string(setting.name) + "\": \"" + std::string(text) + "\"";
    if (!setting.choices.empty()) return Fault{named + " is not one of " + joined(setting.choices)};
    double value = 0;
    if (read_whole_number(text, value) && value >= setting.least && value <= setting.most) return value;
    return Fault{named + " is not a number from " + short_number(setting.least) + " to " + short_number(setting.most)};
}

std::string names_of(std::span<Setting const> declared) {
    if (declared.empty()) return "this policy has no settings";
    std::vector<std::string_view> names;
    for (auto const& setting : declared) names.push_back(setting.name);
    return "valid settings: " + joined(names);
}

}   // namespace

Result<std::vector<double>> read_settings(std::string_view text, std::span<Setting const> declared) {
    std::vector<double> values;
    for (auto const& setting : declared) values.push_back(setting.initial);
    while (!text.empty()) {
        auto one = text.substr(0, text.find(':'));
        text.remove_prefix(std::min(text.size(), one.size() + 1));
        auto name = one.substr(0, one.find('='));
        auto const setting = std::ranges::find(declared, name, &Setting::name);
        if (setting == declared.end()) return Fault{"no setting \"" + std::string(name) + "\"", names_of(declared)};
        auto const value = read_value(one.substr(std::min(one.size(), name.size() + 1)), *setting);
        if (!value) return value.fault();
        values[static_cast<std::size_t>(setting - declared.begin())] = *value;
    }
    return values;
}

}   // namespace garner::policy
