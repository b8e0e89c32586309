#include "sim/seen_sim_options.hpp"

#include "crawl/seen_caches.hpp"
#include "util/option_words.hpp"

namespace garner::sim {
namespace {

constexpr std::string_view default_caches = "lru,clock,random,infinite";
constexpr std::string_view default_entries = "2^6,2^8,2^10,2^12,2^14,2^16";
constexpr std::string_view default_plot_entries = "2^0..2^20";
constexpr std::uint32_t model_threads_max = 1'000'000;
constexpr std::string_view seen_sim_option_names[]{"--stream", "--policy", "--entries", "--threads-model", "--page-links",
                                          "--format", "--plot",   "--seed"};

std::string entries_fault(std::string_view part) {
    return "--entries: " + quoted_word(part) + " is no number of entries from 1 to 2^31; write 2^16, 65536 or 2^6..2^16";
}

bool read_one(std::string_view text, std::uint64_t& entries) {
    if (!text.starts_with("2^"))
        return read_whole_number(text, entries) && entries >= 1 && entries <= crawl::cache_entries_max;
    unsigned power = 0;
    if (!read_whole_number(text.substr(2), power) || power > 31) return false;
    entries = std::uint64_t{1} << power;
    return true;
}

std::string read_entries(std::string_view list, std::vector<std::uint64_t>& entries) {
    entries.clear();
    for (auto part : comma_parts(list)) {
        auto const dots = part.find("..");
        std::uint64_t first = 0, last = 0;
        bool good = read_one(part.substr(0, dots), first);
        last = first;
        if (dots != std::string_view::npos) good = good && read_one(part.substr(dots + 2), last);
        if (!good || first > last) return entries_fault(part);
        for (auto number = first; number <= last; number *= 2) entries.push_back(number);
    }
    return {};
}

std::string read_caches(std::string_view list, std::vector<std::string>& caches, bool& all) {
    caches.clear();
    all = false;
    for (auto part : comma_parts(list)) {
        if (part == "all") {
            all = true;
            for (auto const& row : crawl::seen_caches()) caches.emplace_back(row.name);
            continue;
        }
        if (auto spec = crawl::read_cache_spec(part); !spec.row)
            return "--policy: " + spec.fault + "; garner seen sim --help explains them";
        caches.emplace_back(part);
    }
    return {};
}

std::string take_number(std::string_view name, std::string_view value, std::uint32_t& number) {
    if (read_whole_number(value, number) && number >= 1 && number <= model_threads_max) return {};
    return std::string(name) + ": " + quoted_word(value) + " is not a number from 1 to " + std::to_string(model_threads_max);
}

std::string take(std::string_view name, std::string_view value, SeenSimOptions& options) {
    if (name == "--stream") return options.stream = value, std::string();
    if (name == "--plot") return options.plot = value, std::string();
    if (name == "--policy") return read_caches(value, options.caches, options.all);
    if (name == "--entries") return read_entries(value, options.entries);
    if (name == "--threads-model") return take_number(name, value, options.threads_model);
    if (name == "--page-links") return take_number(name, value, options.page_links);
    if (name == "--seed")
        return read_whole_number(value, options.seed) ? "" : "--seed: " + quoted_word(value) + " is not a whole number";
    options.json = value == "json";
    return options.json || value == "table" ? "" : "--format: " + quoted_word(value) + " is neither table nor json";
}

/// Those that need to know the stream beforehand read it twice.
std::string fault_of_the_whole(SeenSimOptions const& options) {
    if (options.stream.empty()) return "no stream; give one with --stream FILE";
    if (options.all) return {};
    for (auto const& cache : options.caches)
        if (options.stream == "-" && crawl::read_cache_spec(cache).row->foresees)
            return cache + " reads the stream twice, which standard input does not allow: give a file";
    return {};
}

}  // namespace

ReadSeenSimOptions read_seen_sim_options(std::span<std::string const> arguments) {
    ReadSeenSimOptions read;
    auto& options = read.options;
    read.fault = read_option_words(arguments, {seen_sim_option_names}, options.help,
                                   [&](std::string_view name, std::string_view value) { return take(name, value, options); });
    if (options.caches.empty()) read_caches(default_caches, options.caches, options.all);
    if (options.entries.empty())
        read_entries(options.plot.empty() ? default_entries : default_plot_entries, options.entries);
    if (read.fault.empty() && !options.help) read.fault = fault_of_the_whole(options);
    return read;
}

std::string seen_sim_help() {
    std::string text =
        "Usage: garner seen sim --stream FILE [--policy NAME,...] [--entries N,...] [--format table|json]\n"
        "                       [--threads-model N] [--page-links N] [--plot DIR] [--seed N]\n"
        "\n"
        "Replays a crawl's links through caches of seen URLs and tells what each would miss.\n"
        "\n"
        "  --stream FILE        URL numbers, little-endian u32, plain or packed by zstd or gzip; - for standard input\n"
        "  --policy NAME,...    of those below; " + std::string(default_caches) + " without it; all: every one\n"
        "                       that can be had with these entries and this stream\n"
        "  --entries N,...      2^16, 65536, or 2^6..2^16 for every power between; " + std::string(default_entries) + "\n"
        "                       without it, with --plot " + std::string(default_plot_entries) + "\n"
        "  --threads-model N    a private cache of entries / N for each of N crawler threads, which take pages in turn,\n"
        "                       instead of one that all share\n"
        "  --page-links N       how many links such a page has; 62 without it\n"
        "  --format NAME        table, or json: one object a line\n"
        "  --plot DIR           writes the miss ratio against the entries there, as SVG and CSV; with min also relative\n"
        "  --seed N             of the fingerprints, and of caches that draw lots; 1 without it\n"
        "\n"
        "A miss is an answer \"new\". A false positive is \"seen\" for a URL that was not there before, a false negative\n"
        "\"new\" for one that was.\n"
        "\n"
        "Caches, with their settings as NAME:SETTING=VALUE:SETTING=VALUE:\n";
    for (auto const& row : crawl::seen_caches()) {
        add_help_line(text, "  ", row.name, row.what);
        for (auto const& setting : row.settings) add_help_line(text, "      ", setting.name, setting.what);
    }
    return text + "\nExit codes: 0 done, 1 a stream that cannot be read, a size that does not fit or a picture that "
                  "cannot be\nwritten, 2 wrong command line.\n";
}

}  // namespace garner::sim
