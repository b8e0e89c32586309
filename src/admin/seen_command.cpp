#include "admin/seen_command.hpp"

#include <algorithm>
#include <ostream>
#include <string_view>
#include <vector>

#include "crawl/canon_command.hpp"
#include "seen/serve_command.hpp"
#include "sim/seen_set_command.hpp"
#include "sim/seen_model_command.hpp"
#include "sim/seen_sim_command.hpp"
#include "util/exit_code.hpp"

namespace garner::admin {

namespace {

struct Row {
    std::string_view name;
    std::string_view what;   // one line
    int (*run)(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);
};

/// A new command: its file, and a line here.
std::vector<Row> const& rows() {
    static std::vector<Row> const rows{
        {"canon", "the canonical form of URLs, and their fingerprints", crawl::canon_command},
        {"set", "an exact set of URLs, in memory or on disk, and what it takes", sim::seen_set_command},
        {"sim", "a stream of links through caches of seen URLs: what each misses", sim::seen_sim_command},
        {"serve", "tells crawlers over HTTP which URLs they have seen", seen::serve_command},
        {"model", "makes a stream of links as a crawl of many threads sees it", sim::seen_model_command},
    };
    return rows;
}

void usage(std::ostream& to) {
    to << "Usage: garner seen WHAT ...\n\n";
    for (Row const& row : rows()) to << "  " << row.name << std::string(10 - row.name.size(), ' ') << row.what << "\n";
    to << "\nSee garner seen WHAT --help.\n";
}

}  // namespace

int seen_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err) {
    if (arguments.empty()) {
        usage(err);
        return exit_usage;
    }
    auto const& name = arguments.front();
    if (name == "--help") {
        usage(out);
        return 0;
    }
    auto const row = std::ranges::find(rows(), name, &Row::name);
    if (row != rows().end()) return row->run(arguments.subspan(1), in, out, err);
    err << "garner: seen knows no \"" << name << "\"\nTry: garner seen --help\n";
    return exit_usage;
}

}  // namespace garner::admin
