#include "seen_commands/seen_sim_options.hpp"

#include "catalog/seen_caches.hpp"
#include "sim/sim_options.hpp"

namespace garner::seen_commands {
namespace {

constexpr std::string_view default_caches = "lru,clock,random,infinite";
constexpr std::string_view default_entries = "2^6,2^8,2^10,2^12,2^14,2^16";
constexpr std::uint32_t model_threads_max = 1'000'000;

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
            for (auto const& row : catalog::seen_caches()) caches.emplace_back(row.name);
            continue;
        }
        if (auto spec = catalog::read_cache_spec(part); !spec.row)
            return "--policy: " + spec.fault + "; garner seen sim --help explains them";
        caches.emplace_back(part);
    }
    return {};
}

/// Caches that must know the stream in advance read it twice.
std::string check_stream(SeenSimOptions const& options) {
    if (options.all) return {};
    for (auto const& cache : options.caches)
        if (options.stream == "-" && catalog::read_cache_spec(cache).row->foresees)
            return cache + " reads the stream twice, which standard input does not allow: give a file";
    return {};
}

}  // namespace

ReadSeenSimOptions read_seen_sim_options(std::span<std::string const> arguments) {
    ReadSeenSimOptions read;
    auto& options = read.options;
    read_caches(default_caches, options.caches, options.all);
    CommandForm form("garner seen sim", "Replays a crawl's links through caches of seen URLs and reports the misses of each.");
    form.required("--stream FILE", "URL numbers, little-endian u32, plain or packed by zstd or gzip; - for standard input",
                  options.stream)
        .option("--policy NAME,...",
                "caches listed below; default: " + std::string(default_caches) +
                    ";\nall: every cache that fits these entries and this stream",
                [&](auto, auto value) { return read_caches(value, options.caches, options.all); })
        .option("--entries N,...",
                "2^16, 65536, or 2^6..2^16 for every power between; default:\n" + std::string(default_entries),
                [&](auto, auto value) { return read_entries(value, options.entries); })
        .option("--threads-model N",
                "a private cache of entries / N for each of N crawler threads, which take pages in\n"
                "turn; default: one cache that all threads share",
                number_into(options.threads_model, 1u, model_threads_max))
        .option("--page-links N", "links of such a page; default: 62", number_into(options.page_links, 1u, model_threads_max))
        .option("--format NAME", "table, or json: one object a line, from which tools/chart draws charts", format_into(options.json))
        .option("--plot DIR", "removed; see --format", sim::plot_is_removed("garner seen sim"))
        .option("--seed N", "of the fingerprints, and of randomized caches; default: 1",
                number_into<std::uint64_t>(options.seed, 0, UINT64_MAX))
        .check([&] { return check_stream(options); })
        .notes("A miss is an answer \"new\". A false positive is \"seen\" for a new URL, a false negative \"new\" for a seen one.\n"
               "\n"
               "Caches, with their settings as NAME:SETTING=VALUE:SETTING=VALUE:\n" + help_rows(catalog::seen_caches()) +
               "\nExit codes: 0 done, 1 the stream cannot be read or a size does not fit, 2 wrong command line.");
    static_cast<CommandForm::Reading&>(read) = form.read(arguments);
    if (options.entries.empty()) read_entries(default_entries, options.entries);
    return read;
}

}  // namespace garner::seen_commands
