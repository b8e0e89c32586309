#include "sim/sim_options.hpp"

#include <optional>

#include "policy/policies.hpp"
#include "sim/offline.hpp"
#include "sim/trace_formats.hpp"
#include "util/command_form.hpp"
#include "util/option_words.hpp"
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
            if (!spec) return "--policy: " + spec.fault().text() + "; garner help policies explains them, and the references";
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

std::string policies_text() {
    return "Replacement policies of garner sim --policy and of the key memory.policy\n\n" + help_rows(policy::all()) +
           "\nSettings, written as NAME:SETTING=VALUE:SETTING=VALUE\n\n" + help_settings(policy::all()) +
           "\nReferences of garner sim --policy, which know the whole trace in advance\n\n" + help_rows(references());
}

std::vector<std::string> policy_names() {
    auto names = row_names(policy::all());
    for (auto const& row : references()) names.emplace_back(row.name);
    names.emplace_back("all");
    return names;
}

void declare(CommandForm& form, SimOptions& options) {
    form.group("simulate")
        .required("--trace FILE", "the trace or log, plain or compressed with zstd or gzip; - for standard input", options.trace)
        .option("--trace-format NAME", "format of the trace: " + trace_format_names() + "; default: detected",
                [&](auto, auto value) { return read_trace_format(value, options.trace_format); })
        .values(row_names(trace_formats()))
        .option("--policy NAME,...", "policies and references to replay; default: all policies",
                [&](auto, auto value) { return read_policies(value, options.policies); })
        .values(policy_names())
        .option("--size SIZE,...",
                "cache sizes, as 64MiB or as 1% of the trace's unique bytes; default: " + std::string(default_sizes),
                [&](auto, auto value) { return read_sizes(value, options.sizes); })
        .option("--format NAME", "table, or json with one object a line, which tools/chart draws; default: table",
                format_into(options.json))
        .values({"table", "json"})
        .option("--plot DIR", "", plot_is_removed("garner sim"))
        .option("--threads N", "replays at a time; default: one per core", number_into(options.threads, 1u, threads_max))
        .option("--sample RATE", "replays this share of the keys at this share of the size; 0.01 is about 100 times faster",
                [&](auto, auto value) { return read_sample(value, options.sample); })
        .option("--object-max SIZE", "does not store larger objects; default: no limit", size_into(options.object_max))
        .option("--seed N", "seed of randomized policies; default: 1", number_into<std::uint64_t>(options.seed, 0, UINT64_MAX))
        .topic("policies", policies_text())
        .notes("Policies: " + names_of(policy::all()) + ".\nReferences: " + names_of(references()) +
               ".\nA policy with settings is written as NAME:SETTING=VALUE. garner help policies explains all of them.")
        .exit_statuses({{0, "done"}, {1, "the trace cannot be read"}, {2, "wrong command line"}, {130, "interrupted"}})
        .examples({"garner sim --trace access.log --size 64MiB,256MiB",
                   "garner sim --trace trace.csv.zst --policy lru,garner,belady --size 1% --format json"});
}

constexpr char const* about_sim = "Replays a trace through replacement policies.\n"
                                  "Reads a trace of requests or an access log, and prints the misses of each policy at each size.";

}   // namespace

CommandForm::Take plot_is_removed(std::string command) {
    return [command](auto, auto) { return "--plot is removed; draw with " + command + " --format json ... | tools/chart DIR"; };
}

ReadSimOptions read_sim_options(std::span<std::string const> arguments) {
    ReadSimOptions read;
    auto& options = read.options;
    CommandForm form("garner sim", about_sim);
    declare(form, options);
    static_cast<CommandForm::Reading&>(read) = form.read(arguments);
    if (options.policies.empty()) read_policies("all", options.policies);
    if (options.sizes.empty()) read_sizes(default_sizes, options.sizes);
    return read;
}

void use_sim_form(CommandForm::Use const& use) {
    SimOptions options;
    CommandForm form("garner sim", about_sim);
    declare(form, options);
    use(form);
}

}   // namespace garner::sim
