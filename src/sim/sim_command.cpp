#include "sim/sim_command.hpp"

#include <new>
#include <ostream>

#include "sim/sim_report.hpp"
#include "sim/runs.hpp"
#include "sim/sim_options.hpp"
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
    if (read.skipped)
        err << "garner sim: " << read.skipped << of_lines << "are no requests for whole objects and were skipped\n";
    if (!read.broken) return;
    err << "garner sim: " << read.broken << of_lines << "are broken and were left out, such as:\n";
    for (auto const& example : read.examples) err << "  " << example << '\n';
}

struct Replays {
    std::vector<Result> finished;
    std::string interrupted;         // how many are missing, in words; empty when none is
};

Replays replay_all(Trace const& trace, SimOptions const& options, std::ostream& err) {
    ProgressLine line(err, "garner sim");
    InterruptNote const interrupt;
    std::size_t all = 0;
    Replays replays;
    replays.finished = run_all(trace, options, [&](Progress const& progress) {
        line.say(std::to_string(progress.done) + " of " + std::to_string(progress.of) + " replays done, " +
                 whole_percent(progress.share) + " of all requests");
        all = progress.of;
        return !interrupt.came();
    });
    if (interrupt.came() && replays.finished.size() < all)
        replays.interrupted = std::to_string(replays.finished.size()) + " of " + std::to_string(all) + " replays were finished";
    return replays;
}

int simulate(SimOptions const& options, std::ostream& out, std::ostream& err) {
    auto const read = sim::read(options, err);
    if (!read.fault.empty()) return err << "garner sim: " << read.fault << '\n', exit_failed;
    say_what_was_left_out(read, err);
    if (read.trace.requests() == 0)
        return err << "garner sim: " << options.trace << " holds no requests; nothing to replay\n", exit_failed;

    auto const [results, interrupted] = replay_all(read.trace, options, err);
    if (!interrupted.empty()) err << "garner sim: interrupted: " << interrupted << '\n';
    auto const done = interrupted.empty() ? exit_done : exit_interrupted;
    if (options.json)
        for (auto const& result : results) out << json_line(result);
    else
        out << table(results);
    out.flush();
    if (!out) return err << "garner sim: the results cannot be written\n", exit_failed;
    return done;
}

}  // namespace

int sim_command(std::span<std::string const> arguments, std::ostream& out, std::ostream& err) {
    auto const read = read_sim_options(arguments);
    if (auto const code = read.print(out, err)) return *code;
    try {
        return simulate(read.options, out, err);
    } catch (std::bad_alloc const&) {
        return err << "garner sim: out of memory; --sample 0.1 takes a tenth, fewer --threads too\n", exit_failed;
    }
}

}  // namespace garner::sim
