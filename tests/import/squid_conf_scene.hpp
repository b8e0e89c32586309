// Imports a squid.conf, and finds parts of the configuration that it becomes.
#pragma once
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/context.hpp"
#include "import/squid_conf.hpp"

namespace garner::importing {

/// Files beside squid.conf, by name.
struct Scene {
    std::map<std::string, std::string> files = {};

    Imported import(std::string const& text) const {
        Files const beside{.read = [this](std::string const& path) -> Result<std::string> {
                               auto const file = files.find(path);
                               if (file == files.end()) return Fault{"No such file or directory"};
                               return file->second;
                           },
                           .find =
                               [this](std::string const& pattern) {
                                   std::vector<std::string> found;
                                   for (auto const& [name, content] : files)
                                       if (name == pattern || (pattern == "conf.d/*.conf" && name.starts_with("conf.d/")))
                                           found.push_back(name);
                                   return found;
                               },
                           .locate = [](std::string const& path) { return "/etc/squid/" + path; }};
        auto imported = import_squid("squid.conf", text, beside);
        EXPECT_TRUE(imported) << imported.fault_text();
        return *imported;
    }
};

inline std::string without_space(std::string_view text) {
    std::string out;
    for (char c : text)
        if (c != ' ' && c != '\n') out += c;
    return out;
}

/// The value of a key, on one line without spaces.
inline std::string part(Imported const& imported, std::string const& key) {
    auto const text = without_space(imported.configuration);
    auto const at = text.find("\"" + key + "\":");
    if (at == text.npos) return "";
    auto const begin = at + key.size() + 3;
    int depth = 0;
    auto end = begin;
    do {
        depth += text[end] == '{' || text[end] == '[' ? 1 : text[end] == '}' || text[end] == ']' ? -1 : 0;
        ++end;
    } while (depth > 0 || (text[end] != ',' && text[end] != '}'));
    return text.substr(begin, end - begin);
}

/// The rules without their names.
inline std::string access(std::string const& text, std::string const& key = "access") {
    auto rules = part(Scene{}.import(text), key);
    for (auto at = rules.find("\"name\":"); at != rules.npos; at = rules.find("\"name\":"))
        rules.erase(at, rules.find(',', at) + 1 - at);
    return rules;
}
inline std::string matchers(std::string const& text) { return part(Scene{}.import(text), "matchers"); }
inline std::string report(std::string const& text) { return Scene{}.import(text).report; }

inline std::string const has_auth = "auth_param basic program /usr/lib/squid/basic_ncsa_auth /etc/squid/passwd\n";
inline std::string const any_port = R"("port":"1-65535")";

}   // namespace garner::importing
