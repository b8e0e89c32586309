// Layers: a file may include its own module and modules of lower layers, and pure modules never include Asio or Beast.
#pragma once

#include "house/source.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace garner::house {

/// All source files by their path below src/, such as "http/uri.hpp".
using Sources = std::map<std::string, std::string>;

inline std::map<std::string, int, std::less<>> const layers{
    {"main", 8},          {"app", 7},    {"control", 1}, {"takeover", 2}, {"config", 6},  {"admin", 6}, {"proxy", 5}, {"seen", 5},
    {"seen_commands", 5}, {"icp", 4},    {"group", 4},   {"bump", 4},     {"catalog", 4}, {"cache", 3}, {"sim", 3},   {"papers", 3},
    {"redis", 3},         {"client", 2}, {"h2", 2},      {"web", 2},      {"store", 2},   {"crawl", 2}, {"auth", 2},  {"share", 2},
    {"import", 2},        {"http", 1},   {"policy", 1},  {"net", 1},      {"io", 1},      {"util", 0},
};

inline std::set<std::string, std::less<>> const modules_without_asio{
    "http", "policy", "crawl", "papers", "redis", "sim", "catalog", "seen_commands", "bump", "h2", "auth", "import"};

/// "" for a file in no module; main.cpp has a layer of its own.
inline std::string_view module_of(std::string_view path) {
    if (path == "main.cpp") return "main";
    auto const slash = path.find('/');
    return slash == path.npos ? "" : path.substr(0, slash);
}

inline std::vector<Breach> breaches_of_layers(std::string const& file, std::string_view text) {
    auto const own = module_of(file);
    auto const own_layer = layers.find(own);
    if (own_layer == layers.end()) return {{file, 1, "no module: '" + std::string(own) + "'"}};

    std::vector<Breach> breaches;
    for (auto const& include : includes(text)) {
        if (!include.quoted) continue;
        auto const other = module_of(include.path);
        auto const layer = layers.find(other);
        if (layer == layers.end())
            breaches.push_back({file, include.line, "\"" + include.path + "\" names no module"});
        else if (other != own && layer->second > own_layer->second)
            breaches.push_back({file, include.line, "includes upwards: " + include.path});
        else if (other != own && layer->second == own_layer->second)
            breaches.push_back({file, include.line, "includes sideways: " + include.path});
    }
    return breaches;
}

/// True if the file includes Asio or Beast, directly or through other project files; `seen` stops cycles.
inline bool brings_in_asio(Sources const& sources, std::string const& file, std::set<std::string>& seen) {
    auto const source = sources.find(file);
    if (source == sources.end() || !seen.insert(file).second) return false;
    for (auto const& include : includes(source->second)) {
        std::string_view const path = include.path;
        if (path.starts_with("boost/asio") || path.starts_with("boost/beast")) return true;
        if (include.quoted && brings_in_asio(sources, include.path, seen)) return true;
    }
    return false;
}

inline std::vector<Breach> breaches_of_pure_modules(Sources const& sources) {
    std::vector<Breach> breaches;
    for (auto const& [file, text] : sources) {
        if (!modules_without_asio.contains(module_of(file))) continue;
        for (auto const& include : includes(text)) {
            std::set<std::string> seen;
            bool const direct = include.path.starts_with("boost/asio") || include.path.starts_with("boost/beast");
            if (direct || (include.quoted && brings_in_asio(sources, include.path, seen)))
                breaches.push_back({file, include.line, "brings Asio or Beast into a pure module: " + include.path});
        }
    }
    return breaches;
}

}   // namespace garner::house
