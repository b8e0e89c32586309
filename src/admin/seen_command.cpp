#include "admin/seen_command.hpp"

#include <array>
#include <string_view>
#include <vector>

#include "seen/serve_command.hpp"
#include "seen_commands/seen_commands.hpp"
#include "util/command_form.hpp"

namespace garner::admin {

namespace {

struct Row {
    std::string_view name;
    char const* what;   // one line for --help
    int (*run)(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err);
};

/// A new command needs its own file and a row here.
constexpr std::array rows{
    Row{"canon", "prints the canonical form of URLs, and their fingerprints", seen_commands::canon_command},
    Row{"set", "puts URLs into an exact set, in memory or on disk, and reports what it takes", seen_commands::seen_set_command},
    Row{"sim", "replays a stream of links through caches of seen URLs and reports the misses of each", seen_commands::seen_sim_command},
    Row{"serve", "answers crawlers over HTTP which URLs they have seen", seen::serve_command},
    Row{"model", "makes a stream of links like that of a crawl of many threads", seen_commands::seen_model_command},
};

}  // namespace

int seen_command(std::span<std::string const> arguments, std::istream& in, std::ostream& out, std::ostream& err) {
    Row const* chosen = nullptr;
    std::vector<std::string> rest;
    CommandForm form("garner seen", "Commands for crawlers: which URLs have been seen.");
    for (Row const& row : rows) form.subcommand(row.name, row.what, [&] { chosen = &row; }, &rest);
    if (auto const code = form.read(arguments).print(out, err)) return *code;
    return chosen->run(rest, in, out, err);
}

}  // namespace garner::admin
