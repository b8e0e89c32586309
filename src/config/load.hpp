// Loads a configuration file and overrides into a Config, and collects all faults.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/document.hpp"
#include "config/fault.hpp"
#include "util/result.hpp"

namespace garner::config {

struct Loaded {
    Config config;                  // complete only without faults
    Json root;                      // the keys that are given, by their present names, with the overrides
    std::vector<Fault> faults;      // in the order of their lines, those of overrides last
    std::vector<Fault> notices;     // valid, but worth the operator's attention
    bool only_tests_fail = false;   // `faults` has failed `tests` only, and config is complete
    std::shared_ptr<Document const> document;

    /// An error that came when the configuration was applied, with its line. Its `where` begins with the key: "listen[1].address:
    /// cannot listen on 127.0.0.1:80".
    Fault fault_at(garner::Fault const&) const;
};

/// The treatment of files that a configuration names.
enum class NamedFiles : std::uint8_t {
    left,       // nothing: for a command to a running proxy. Lists from files match nothing
    believed,   // lists are read, other files are not: for a reload
    reloaded,   // lists are read, and the files that a reload reads are checked, too: for the errors of a reload
    tried       // lists are read, and other files are checked, too: for a start
};

/// Reads the file (JSON with // and /* */ comments, at most 1 MiB), applies `sets` ("memory.size=64MiB") in order, and
/// checks everything. Never throws because of the content of the file or the overrides.
Loaded load_file(std::string const& path, std::span<std::string const> sets, NamedFiles = NamedFiles::believed);

/// The embedded defaults with overrides.
Loaded load_defaults(std::span<std::string const> sets, NamedFiles = NamedFiles::believed);

/// Like load_file, for text that has been read already; `name` is the file name in faults.
Loaded load_text(std::string const& name, std::string_view text, std::span<std::string const> sets,
                 NamedFiles = NamedFiles::believed);

}   // namespace garner::config
