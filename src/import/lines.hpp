// Reads squid.conf into directives: continued lines, comments, included files, conditions and macros.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "import/import_report.hpp"
#include "util/result.hpp"

namespace garner::importing {

/// The files beside squid.conf, as the caller finds them.
struct Files {
    std::function<Result<std::string>(std::string const& path)> read;
    /// The files that match a pattern of glob(7), in their order; none if there is none.
    std::function<std::vector<std::string>(std::string const& pattern)> find;
    /// The absolute path by which Garner can open a file that `read` reads.
    std::function<std::string(std::string const& path)> locate;
    /// Why `garner check` would reject this value (JSON) of a key on this machine, such as "auth.sources"; empty: it would not.
    std::function<std::string(std::string const& key, std::string const& value)> why_not = {};
};

struct Directives {
    std::vector<Line> lines;   // those in a condition that is false are reported and left out
    std::size_t count = 0;     // all lines, including these
};

/// A fault: too many or too large files, or included files that are too deep.
Result<Directives> read_directives(std::string const& name, std::string_view text, Files const& files, Report& report);

}   // namespace garner::importing
