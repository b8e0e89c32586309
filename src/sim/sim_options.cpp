#include "sim/sim_options.hpp"

#include <optional>

#include "policy/policies.hpp"
#include "sim/offline.hpp"
#include "sim/trace_formats.hpp"
#include "util/command_form.hpp"
#include "util/units.hpp"

namespace garner::sim {
namespace {

constexpr std::string_view default_sizes = "0.1%,1%,10%";
constexpr unsigned threads_max = 256;

/// "0.1" becomes 1 / 1000: the denominator is 100 times ten for each decimal.
std::optional<SizeWish> read_percent(std::string_view text) {
    SizeWish wish{.of = 100};
    bool decimals = false;
    if (text.empty() || text.size() > 15) return std::nullopt;
    for (char c : text) {
        if (c == '.' && !decimals) {
            decimals = true;
            continue;
        }
        if (c < '0' || c > '9') return std::nullopt;
        wish.share = wish.share * 10 + static_cast<std::uint64_t>(c - '0');
        if (decimals) wish.of *= 10;
    }
    return wish;
}

std::string read_sizes(std::string_view list, std::vector<SizeWish>& sizes) {
    sizes.clear();
    for (auto part : comma_parts(list)) {
        std::optional<SizeWish> wish;
        if (part.ends_with('%'))
            wish = read_percent(part.substr(0, part.size() - 1));
        else if (auto bytes = parse_size(part))
            wish = SizeWish{.bytes = *bytes};
        if (!wish) return "--size: " + quoted_word(part) + " is no size; write 64MiB, or 1% of the trace's unique bytes";
        sizes.push_back(*wish);
    }
    return {};
}

std::string read_policies(std::string_view list, std::vector<std::string>& policies) {
    policies.clear();
    for (auto part : comma_parts(list)) {
        if (part == "all") {
            for (auto const& row : policy::all()) policies.emplace_back(row.name);
            continue;
        }
        if (!find_reference(part)) {
            auto const spec = policy::read_spec(part);
            if (!spec) return "--policy: " + spec.fault().text() + "; garner sim --help explains them, and the references";
        }
        policies.emplace_back(part);
    }
    return {};
}

std::string read_trace_format(std::string_view text, std::string& format) {
    format = text;
    if (trace_format(text)) return {};
    return "--trace-format: " + quoted_word(text) + " is not one of " + trace_format_names();
}

std::string read_sample(std::string_view text, double& sample) {
    if (read_whole_number(text, sample) && sample > 0 && sample <= 1) return {};
    return "--sample: " + quoted_word(text) + " is not a number above 0 and at most 1, like 0.01";
}

std::string policies_help() {
    return "Policies, with their settings as NAME:SETTING=VALUE:SETTING=VALUE:\n" + help_rows(policy::all()) +
           "\nReferences, which know the whole trace in advance:\n" + help_rows(references()) +
           "\nExit codes: 0 done, 1 the trace cannot be read, 2 wrong command line,\n130 interrupted.";
}

}  // namespace

CommandForm::Take plot_is_removed(std::string command) {
    return [command](auto, auto) { return "--plot is removed; draw with " + command + " --format json ... | tools/chart DIR"; };
}

ReadSimOptions read_sim_options(std::span<std::string const> arguments) {
    ReadSimOptions read;
    auto& options = read.options;
    CommandForm form("garner sim",
                     "Replays a trace of requests, or an access log, through replacement policies and reports the misses of each.");
    form.required("--trace FILE", "plain, or packed by zstd or gzip; - for standard input", options.trace)
        .option("--trace-format NAME", trace_format_names() + "; default: detected",
                [&](auto, auto value) { return read_trace_format(value, options.trace_format); })
        .option("--policy NAME,...", "policies listed below; default: all",
                [&](auto, auto value) { return read_policies(value, options.policies); })
        .option("--size SIZE,...",
                "64MiB, or 1% of the trace's unique bytes; default: " + std::string(default_sizes),
                [&](auto, auto value) { return read_sizes(value, options.sizes); })
        .option("--format NAME", "table, or json: one object a line, which tools/chart draws", format_into(options.json))
        .option("--plot DIR", "removed; see --format", plot_is_removed("garner sim"))
        .option("--threads N", "concurrent replays; default: one per core", number_into(options.threads, 1u, threads_max))
        .option("--sample RATE", "keeps this share of the keys, and of the size: 0.01 is a hundred times faster",
                [&](auto, auto value) { return read_sample(value, options.sample); })
        .option("--object-max SIZE", "larger objects are not stored", size_into(options.object_max))
        .option("--seed N", "of randomized policies; default: 1", number_into<std::uint64_t>(options.seed, 0, UINT64_MAX))
        .notes(policies_help());
    static_cast<CommandForm::Reading&>(read) = form.read(arguments);
    if (options.policies.empty()) read_policies("all", options.policies);
    if (options.sizes.empty()) read_sizes(default_sizes, options.sizes);
    return read;
}

}  // namespace garner::sim
