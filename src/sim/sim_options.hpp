// The options of `garner sim`.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace.hpp"
#include "util/bytes.hpp"
#include "util/command_form.hpp"

namespace garner::sim {

/// "64 MiB", or a share of the trace's unique bytes, "1.5%", stored exactly.
struct SizeWish {
    Bytes bytes = 0;                   // when `of` is 0
    std::uint64_t share = 0, of = 0;   // share / of is the fraction of the unique bytes

    /// Rounded down.
    Bytes of_trace(Trace const& trace) const {
        if (of == 0) return bytes;
        return static_cast<Bytes>(static_cast<unsigned __int128>(trace.unique_bytes) * share / of);
    }
};

struct SimOptions {
    std::string trace;                   // a file, "-" for standard input
    std::string trace_format;            // empty: detected
    std::vector<std::string> policies;   // specs of policies, and names of offline references
    std::vector<SizeWish> sizes;
    bool json = false;
    unsigned threads = 0;   // 0: one per core
    double sample = 1;      // in (0, 1]
    Bytes object_max = UINT64_MAX;
    std::uint64_t seed = 1;
};

struct ReadSimOptions : CommandForm::Reading {
    SimOptions options;
};
/// Refuses --plot and names the script that draws the charts.
CommandForm::Take plot_is_removed(std::string command);

/// `arguments` after "sim".
ReadSimOptions read_sim_options(std::span<std::string const> arguments);
/// The form of `garner sim`, for its description.
void use_sim_form(CommandForm::Use const& use);

}   // namespace garner::sim
