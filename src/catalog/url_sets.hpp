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
    std::uint64_t expected = 0;               // entries that it will hold; 0: unknown, the set grows
    Bytes memory = 1 * GiB;                   // maximum memory of a set on disk, without the batch
    std::filesystem::path directory = {};     // for a set on disk; created if it does not exist
    std::uint64_t seed = 1;                   // for randomized hashes
    std::optional<std::string> layers = {};   // applied to the URLs, for a set on disk; nothing: unknown
    std::string address = {};                 // for a set on other machines: the text after its name and a colon
};

using MadeSet = Result<std::unique_ptr<crawl::UrlSet>>;

struct SetRow {
    std::string_view name;
    std::string_view what;   // one line for --help
    bool on_disk;            // it needs a directory
    MadeSet (*make)(SetOptions const&);
    bool elsewhere = false;                                // the set is on other machines and needs an address
    Bytes (*bytes_for)(std::uint64_t entries) = nullptr;   // minimum memory of a set in memory
};

/// All of them; a new one is one file and one row.
std::span<SetRow const> url_sets();

/// The row of a name, or of NAME:ADDRESS; none: nullptr.
SetRow const* find_url_set(std::string_view name);
/// "lines, runs, ..."
std::string url_set_names();

/// The set of that name, if it fits. A set in memory has room for the expected entries; one on disk continues the set in its
/// directory, one elsewhere the set at NAME:ADDRESS.
MadeSet make_url_set(std::string_view name, SetOptions const&);

}   // namespace garner::catalog
