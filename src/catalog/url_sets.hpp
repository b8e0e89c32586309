// The table of exact sets by name.
#pragma once
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "crawl/url_set.hpp"

namespace garner::catalog {

struct SetOptions {
    std::uint64_t expected = 0;           // entries that it will hold; 0: not known, it grows as they come
    Bytes memory = 1 * GiB;               // of a set on disk: what it may take beside the batch
    std::filesystem::path directory = {}; // of a set on disk; made where it is not there
    std::uint64_t seed = 1;               // of hashes inside, where any are drawn
    std::optional<std::string> layers = {};   // of the URLs that come, for a set on disk; nothing: not known
    std::string address = {};             // of a set on other machines: what stands behind its name and a colon
};

using MadeSet = crawl::Opened<crawl::UrlSet>;

struct SetRow {
    std::string_view name;
    std::string_view what;   // one line for --help
    bool on_disk;            // it needs a directory
    MadeSet (*make)(SetOptions const&);
    bool elsewhere = false;  // it lies on other machines and needs an address
    Bytes (*bytes_for)(std::uint64_t entries) = nullptr;   // of a set in memory, that it takes at least
};

/// All of them; a new one is one file and one row.
std::span<SetRow const> url_sets();

/// The row of a name, or of NAME:ADDRESS; none: nullptr.
SetRow const* find_url_set(std::string_view name);
/// "lines, runs, ..."
std::string url_set_names();

/// The set of that name, if it fits. One in memory has room for those that are expected; one on disk continues what its directory holds, one elsewhere what is at NAME:ADDRESS.
MadeSet make_url_set(std::string_view name, SetOptions const&);

}  // namespace garner::catalog
