#include "sim/sim_command.hpp"

#include <new>
#include <ostream>

#include "sim/runs.hpp"
#include "sim/sim_options.hpp"
#include "sim/sim_report.hpp"
#include "sim/trace_reader.hpp"
#include "util/exit_code.hpp"
#include "util/interrupt.hpp"
#include "util/progress_line.hpp"

namespace garner::sim {
namespace {

std::string whole_percent(double share) { return std::to_string(static_cast<int>(share * 100)) + " %"; }

TraceRead read(SimOptions const& options, std::ostream& err) {
    ProgressLine line(err, "garner sim");
    ReadOptions how{.format = options.trace_format, .sample = options.sample, .progress = {}};
    how.progress = [&](Bytes read, Bytes in_file, std::uint64_t requests) {
        auto far = in_file ? whole_percent(static_cast<double>(read) / static_cast<double>(in_file)) : short_size(read);
        line.say("reading " + options.trace + ": " + far + ", " + std::to_string(requests) + " requests");
    };
    return read_trace(options.trace, how);
}

void say_what_was_left_out(TraceRead const& read, std::ostream& err) {
    auto of_lines = " of " + std::to_string(read.lines) + " lines ";
    if (read.skipped) err << "garner sim: " << read.skipped << of_lines << "are no requests for whole objects and were skipped\n";
    if (!read.broken) return;
    err << "garner sim: " << read.broken << of_lines << "are broken and were left out, such as:\n";
    for (auto const& example : read.examples) err << "  " << example << '\n';
}

std::vector<Result> replay_all(Trace const& trace, SimOptions const& options, std::ostream& err) {
    ProgressLine line(err, "garner sim");
    InterruptNote const interrupt;
    return run_all(trace, options, [&](Progress const& progress) {
        line.say(std::to_string(progress.done) + " of " + std::to_string(progress.of) + " replays done, " +
                 whole_percent(progress.share) + " of all requests");
        return !interrupt.came();
    });
}

int simulate(SimOptions const& options, std::ostream& out, std::ostream& err) {
    auto const read = sim::read(options, err);
    if (!read.fault.empty()) return err << "garner sim: " << read.fault << '\n', exit_failed;
    say_what_was_left_out(read, err);

    auto const results = replay_all(read.trace, options, err);
    auto const all = options.sizes.size() * options.policies.size();
    bool const interrupted = results.size() < all;
    if (interrupted) err << "garner sim: interrupted: " << results.size() << " of " << all << " replays were finished\n";
    if (options.json)
        for (auto const& result : results) out << json_line(result);
    else
        out << table(results);
    out.flush();
    if (!out) return err << "garner sim: the results cannot be written\n", exit_failed;
    return interrupted ? exit_interrupted : exit_done;
}

}   // namespace

int sim_command(std::span<std::string const> arguments, std::ostream& out, std::ostream& err) {
    auto const read = read_sim_options(arguments);
    if (auto const code = read.print(out, err)) return *code;
    try {
        return simulate(read.options, out, err);
    } catch (std::bad_alloc const&) {
        return err << "garner sim: out of memory; --sample 0.1 takes a tenth, fewer --threads too\n", exit_failed;
    }
}

}   // namespace garner::sim
