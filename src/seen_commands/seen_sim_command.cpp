#include "seen_commands/seen_sim_command.hpp"

#include <new>
#include <ostream>

#include "sim/report.hpp"
#include "seen_commands/seen_sim.hpp"
#include "seen_commands/seen_sim_report.hpp"
#include "util/exit_code.hpp"
#include "util/interrupt.hpp"
#include "util/progress_line.hpp"

namespace garner::seen_commands {
namespace {

SeenRuns run(SeenSimOptions const& options, std::ostream& err) {
    ProgressLine line(err, "garner seen sim");
    InterruptNote const interrupt;
    return run_seen_caches(options, [&](std::string const& run, Bytes read, Bytes in_file) {
        auto const far = in_file ? std::to_string(read * 100 / in_file) + " %" : sim::short_size(read);
        line.say(run + ": " + far + " of the stream read");
        return !interrupt.came();
    });
}

int simulate(SeenSimOptions const& options, std::ostream& out, std::ostream& err) {
    auto const runs = run(options, err);
    for (auto const& why : runs.left_out) err << "garner seen sim: left out: " << why << '\n';
    if (options.json)
        for (auto const& result : runs.results) out << seen_json_line(result);
    else if (!runs.results.empty())
        out << seen_table(runs.results);
    out.flush();
    if (!runs.fault.empty()) return err << "garner seen sim: " << runs.fault << '\n', exit_failed;
    if (!out) return err << "garner seen sim: the results cannot be written\n", exit_failed;
    return exit_done;
}

}  // namespace

int seen_sim_command(std::span<std::string const> arguments, std::istream&, std::ostream& out, std::ostream& err) {
    auto const read = read_seen_sim_options(arguments);
    if (auto const code = read.print(out, err)) return *code;
    try {
        return simulate(read.options, out, err);
    } catch (std::bad_alloc const&) {
        return err << "garner seen sim: out of memory; take fewer --entries\n", exit_failed;
    }
}

}  // namespace garner::seen_commands
