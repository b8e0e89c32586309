// Values of lists that are read from files: "file:PATH".
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "http/host_list.hpp"
#include "util/result.hpp"

namespace garner::config {

/// The path of "file:PATH"; nothing for another text.
std::optional<std::string> path_of_file(std::string_view value);

/// The text of a file of at most 1 GiB. Waits for the disk.
Result<std::string> read_values(std::string const& path);

/// Calls take(line, value) for each line with a value. Lines are counted from 1. Spaces at the ends,
/// empty lines, and comments (# at the start of the line or after a space) are left out.
void each_value(std::string_view text, std::function<void(unsigned line, std::string_view value)> const& take);

/// The hosts of a line: one host or domain; or in the format of a hosts file, where an address comes first, the names after it,
/// without localhost and similar names of the machine itself.
void each_host(std::string_view value, std::function<void(std::string_view host)> const& take);

/// Called for each text that is no host.
using TakeBadHost = std::function<void(unsigned line, std::string_view)>;

/// The hosts of a file. Unchanged files (by path, inode, size and times) are read once: later calls return the same list while
/// anyone uses it. A list with bad lines is not kept. Thread-safe; waits for the disk.
Result<std::shared_ptr<http::HostList const>> read_host_list(std::string const& path, TakeBadHost const& bad);

}   // namespace garner::config
