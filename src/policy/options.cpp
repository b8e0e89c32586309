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

/// Empty on success.
std::string read_value(std::string_view text, Setting const& setting, double& value) {
    for (std::size_t i = 0; i < setting.choices.size(); ++i)
        if (setting.choices[i] == text) return value = static_cast<double>(i), std::string();
    auto named = "\"" + std::string(setting.name) + "\": \"" + std::string(text) + "\"";
    if (!setting.choices.empty()) return named + " is none of " + joined(setting.choices);
    if (read_whole_number(text, value) && value >= setting.least && value <= setting.most) return {};
    return named + " is not a number from " + short_number(setting.least) + " to " + short_number(setting.most);
}

std::string names_of(std::span<Setting const> declared) {
    if (declared.empty()) return "this policy has no settings";
    std::vector<std::string_view> names;
    for (auto const& setting : declared) names.push_back(setting.name);
    return "there are " + joined(names);
}

}  // namespace

ReadSettings read_settings(std::string_view text, std::span<Setting const> declared) {
    ReadSettings read;
    for (auto const& setting : declared) read.values.push_back(setting.initial);
    while (!text.empty() && read.fault.empty()) {
        auto one = text.substr(0, text.find(':'));
        text.remove_prefix(std::min(text.size(), one.size() + 1));
        auto name = one.substr(0, one.find('='));
        auto value = one.substr(std::min(one.size(), name.size() + 1));
        std::size_t index = 0;
        while (index < declared.size() && declared[index].name != name) ++index;
        if (index == declared.size())
            read.fault = "no setting \"" + std::string(name) + "\"; " + names_of(declared);
        else
            read.fault = read_value(value, declared[index], read.values[index]);
    }
    return read;
}

}  // namespace garner::policy
