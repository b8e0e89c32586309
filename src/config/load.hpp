// From a configuration file and overrides to a Config, with every fault found on the way.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "config/fault.hpp"

namespace garner::config {

struct Loaded {
    Config config;                   // complete only when there are no faults
    std::vector<Fault> faults;       // in the order of their lines, those of overrides last
    std::vector<Fault> notices;      // nothing wrong, but the operator should know
};

/// Whether the files that a configuration names are looked at, too: for who starts by it, not who asks one that runs.
enum class NamedFiles : std::uint8_t { believed, tried };

/// Reads the file (JSON with // and /* */ comments, at most 1 MiB), applies `sets` ("memory.size=64MiB") in order, and
/// checks everything. Never throws for what the file or the overrides contain.
Loaded load_file(std::string const& path, std::span<std::string const> sets, NamedFiles = NamedFiles::believed);

/// The embedded defaults with overrides.
Loaded load_defaults(std::span<std::string const> sets, NamedFiles = NamedFiles::believed);

/// As load_file, for text that has been read already; `name` stands for the file in faults.
Loaded load_text(std::string const& name, std::string_view text, std::span<std::string const> sets,
                 NamedFiles = NamedFiles::believed);

}  // namespace garner::config
