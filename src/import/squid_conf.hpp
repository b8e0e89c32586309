// Translates squid.conf into a configuration of Garner.
#pragma once
#include <string>
#include <string_view>

#include "import/lines.hpp"
#include "util/result.hpp"

namespace garner::importing {

struct Imported {
    std::string configuration;   // JSON
    std::string report;          // a line for each directive that was dropped or needs the operator, then the totals
    bool needs_you = false;
};

/// Reads the text of the file `name`, and other files through `files`. The configuration refuses each request that Squid would
/// refuse: an ACL without a certain translation denies. A fault if the text cannot be read as a whole (see read_directives).
Result<Imported> import_squid(std::string const& name, std::string_view text, Files const& files);

}   // namespace garner::importing
