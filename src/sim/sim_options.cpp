#include "sim/sim_options.hpp"

#include <optional>

#include "policy/policies.hpp"
#include "sim/offline.hpp"
#include "sim/trace_reader.hpp"
#include "util/option_words.hpp"
#include "util/units.hpp"

namespace garner::sim {
namespace {

constexpr std::string_view default_sizes = "0.1%,1%,10%";
constexpr std::string_view default_plot_sizes = "0.1%,0.2%,0.5%,1%,2%,5%,10%,20%,50%";
constexpr unsigned threads_max = 256;
constexpr std::string_view sim_option_names[]{"--trace",   "--trace-format", "--policy", "--size",       "--format", "--plot",
                                          "--threads", "--sample",       "--seed",   "--object-max"};

/// "0.1" becomes 1 / 1000: of a hundred, and as many tens as there are decimals.
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
            auto spec = policy::read_spec(part);
            if (!spec.row) return "--policy: " + spec.fault + "; garner sim --help explains them, and the references";
        }
        policies.emplace_back(part);
    }
    return {};
}

std::string read_trace_format(std::string_view text, std::string& format) {
    format = text;
    if (is_trace_format(text)) return {};
    return "--trace-format: " + quoted_word(text) + " is none of " + trace_format_names();
}

std::string read_format(std::string_view text, bool& json) {
    json = text == "json";
    return json || text == "table" ? "" : "--format: " + quoted_word(text) + " is neither table nor json";
}

std::string read_sample(std::string_view text, double& sample) {
    if (read_whole_number(text, sample) && sample > 0 && sample <= 1) return {};
    return "--sample: " + quoted_word(text) + " is not a number above 0 and at most 1, like 0.01";
}

/// Takes one option into `options`; the fault, if any.
std::string take(std::string_view name, std::string_view value, SimOptions& options) {
    if (name == "--trace") return options.trace = value, std::string();
    if (name == "--trace-format") return read_trace_format(value, options.trace_format);
    if (name == "--plot") return options.plot = value, std::string();
    if (name == "--policy") return read_policies(value, options.policies);
    if (name == "--size") return read_sizes(value, options.sizes);
    if (name == "--format") return read_format(value, options.json);
    if (name == "--sample") return read_sample(value, options.sample);
    if (name == "--threads") {
        if (read_whole_number(value, options.threads) && options.threads > 0 && options.threads <= threads_max) return {};
        return "--threads: " + quoted_word(value) + " is not a number from 1 to " + std::to_string(threads_max);
    }
    if (name == "--seed") {
        if (read_whole_number(value, options.seed)) return {};
        return "--seed: " + quoted_word(value) + " is not a whole number";
    }
    auto size = parse_size(value);
    if (size) options.object_max = *size;
    return size ? "" : "--object-max: " + quoted_word(value) + " is no size; write 4MiB";
}

}  // namespace

ReadSimOptions read_sim_options(std::span<std::string const> arguments) {
    ReadSimOptions read;
    auto& options = read.options;
    OptionForm const form{.names = sim_option_names, .instead = "the trace is given with --trace FILE"};
    read.fault = read_option_words(arguments, form, options.help,
                                   [&](std::string_view name, std::string_view value) { return take(name, value, options); });
    if (options.help) return read;
    if (read.fault.empty() && options.trace.empty()) read.fault = "no trace; give one with --trace FILE";
    if (options.policies.empty()) read_policies("all", options.policies);
    if (options.sizes.empty()) read_sizes(options.plot.empty() ? default_sizes : default_plot_sizes, options.sizes);
    return read;
}

std::string sim_help() {
    std::string text =
        "Usage: garner sim --trace FILE [--policy NAME,...] [--size SIZE,...] [--format table|json] [--plot DIR]\n"
        "                  [--threads N] [--sample RATE] [--object-max SIZE] [--seed N] [--trace-format NAME]\n"
        "\n"
        "Replays a trace of requests, or an access log, through replacement policies and tells what each would miss.\n"
        "\n"
        "  --trace FILE         plain, or packed by zstd or gzip; - for standard input\n"
        "  --trace-format NAME  " + trace_format_names() + "; found out without it\n"
        "  --policy NAME,...    of those below; all: every policy, as without it\n"
        "  --size SIZE,...      64MiB, or 1% of the trace's unique bytes; " + std::string(default_sizes) + " without it,\n"
        "                       with --plot nine from 0.1% to 50%\n"
        "  --format NAME        table, or json: one object a line\n"
        "  --plot DIR           writes both miss ratios against the size there, as SVG\n"
        "  --threads N          replays at once; one a core without it\n"
        "  --sample RATE        keeps this share of the keys, and of the size: 0.01 is a hundred times faster\n"
        "  --object-max SIZE    larger objects are not stored\n"
        "  --seed N             of policies that draw lots; 1 without it\n"
        "\n"
        "Policies, with their settings as NAME:SETTING=VALUE:SETTING=VALUE:\n";
    for (auto const& row : policy::all()) {
        add_help_line(text, "  ", row.name, row.what);
        for (auto const& setting : row.settings) add_help_line(text, "      ", setting.name, setting.what);
    }
    text += "\nReferences, which see the whole trace beforehand:\n";
    for (auto const& reference : references()) add_help_line(text, "  ", reference.name, reference.what);
    return text + "\nExit codes: 0 done, 1 a trace that cannot be read or a picture that cannot be written, 2 wrong "
                  "command line.\n";
}

}  // namespace garner::sim
