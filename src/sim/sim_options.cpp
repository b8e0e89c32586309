#include "sim/sim_options.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "policy/policies.hpp"
#include "sim/offline.hpp"
#include "sim/trace_reader.hpp"
#include "util/units.hpp"

namespace garner::sim {
namespace {

constexpr std::string_view default_sizes = "0.1%,1%,10%";
constexpr std::string_view default_plot_sizes = "0.1%,0.2%,0.5%,1%,2%,5%,10%,20%,50%";
constexpr unsigned threads_max = 256;
constexpr std::string_view option_names[]{"--trace",   "--trace-format", "--policy", "--size",       "--format", "--plot",
                                          "--threads", "--sample",       "--seed",   "--object-max"};

std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::vector<std::string_view> parts(std::string_view list) {
    std::vector<std::string_view> found;
    for (std::size_t from = 0; from <= list.size();) {
        auto to = std::min(list.find(',', from), list.size());
        found.push_back(list.substr(from, to - from));
        from = to + 1;
    }
    return found;
}

template <class Number>
bool read_number(std::string_view text, Number& number) {
    auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), number);
    return trouble == std::errc() && end == text.data() + text.size();
}

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
    for (auto part : parts(list)) {
        std::optional<SizeWish> wish;
        if (part.ends_with('%'))
            wish = read_percent(part.substr(0, part.size() - 1));
        else if (auto bytes = parse_size(part))
            wish = SizeWish{.bytes = *bytes};
        if (!wish) return "--size: " + quoted(part) + " is no size; write 64MiB, or 1% of the trace's unique bytes";
        sizes.push_back(*wish);
    }
    return {};
}

std::string read_policies(std::string_view list, std::vector<std::string>& policies) {
    policies.clear();
    for (auto part : parts(list)) {
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
    return "--trace-format: " + quoted(text) + " is none of " + trace_format_names();
}

std::string read_format(std::string_view text, bool& json) {
    json = text == "json";
    return json || text == "table" ? "" : "--format: " + quoted(text) + " is neither table nor json";
}

std::string read_sample(std::string_view text, double& sample) {
    if (read_number(text, sample) && sample > 0 && sample <= 1) return {};
    return "--sample: " + quoted(text) + " is not a number above 0 and at most 1, like 0.01";
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
        if (read_number(value, options.threads) && options.threads > 0 && options.threads <= threads_max) return {};
        return "--threads: " + quoted(value) + " is not a number from 1 to " + std::to_string(threads_max);
    }
    if (name == "--seed") {
        if (read_number(value, options.seed)) return {};
        return "--seed: " + quoted(value) + " is not a whole number";
    }
    auto size = parse_size(value);
    if (size) options.object_max = *size;
    return size ? "" : "--object-max: " + quoted(value) + " is no size; write 4MiB";
}

}  // namespace

ReadSimOptions read_sim_options(std::span<std::string const> arguments) {
    ReadSimOptions read;
    for (std::size_t i = 0; i < arguments.size() && read.fault.empty(); ++i) {
        std::string_view word = arguments[i];
        if (word == "--help" || word == "-h") return read.options.help = true, read;
        auto name = word.substr(0, word.find('='));
        auto value = word.substr(std::min(word.size(), name.size() + 1));
        if (!word.starts_with("--")) {
            read.fault = quoted(word) + " is no option; the trace is given with --trace FILE";
        } else if (std::ranges::find(option_names, name) == std::end(option_names)) {
            read.fault = "unknown option " + std::string(name);
        } else {
            if (name.size() == word.size() && i + 1 < arguments.size()) value = arguments[++i];
            read.fault = value.empty() ? std::string(name) + " needs a value" : take(name, value, read.options);
        }
    }
    auto& options = read.options;
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
    auto line = [&](std::string_view indent, std::string_view name, std::string_view what) {
        text += indent;
        text += name;
        text.append(name.size() < 12 ? 12 - name.size() : 1, ' ');
        text += what;
        text += '\n';
    };
    for (auto const& row : policy::all()) {
        line("  ", row.name, row.what);
        for (auto const& setting : row.settings) line("      ", setting.name, setting.what);
    }
    text += "\nReferences, which see the whole trace beforehand:\n";
    for (auto const& reference : references()) line("  ", reference.name, reference.what);
    return text + "\nExit codes: 0 done, 1 a trace that cannot be read or a picture that cannot be written, 2 wrong "
                  "command line.\n";
}

}  // namespace garner::sim
