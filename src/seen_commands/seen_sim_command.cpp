#include <bit>
#include <new>
#include <ostream>

#include <nlohmann/json.hpp>

#include "catalog/seen_caches.hpp"
#include "seen_commands/seen_commands.hpp"
#include "seen_commands/seen_sim.hpp"
#include "sim/sim_options.hpp"
#include "sim/sim_report.hpp"
#include "sim/text_table.hpp"
#include "util/exit_code.hpp"
#include "util/interrupt.hpp"
#include "util/progress_line.hpp"

namespace garner::seen_commands {
namespace {

constexpr std::string_view default_caches = "lru,clock,random,infinite";
constexpr std::string_view default_entries = "2^6,2^8,2^10,2^12,2^14,2^16";
constexpr std::uint32_t model_threads_max = 1'000'000;

bool read_one(std::string_view text, std::uint64_t& entries) {
    if (!text.starts_with("2^")) return read_whole_number(text, entries) && entries >= 1 && entries <= crawl::cache_entries_max;
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
        if (!good || first > last)
            return "--entries: " + quoted_word(part) + " is no number of entries from 1 to 2^31; write 2^16, 65536 or 2^6..2^16";
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
        if (auto const spec = catalog::read_cache_spec(part); !spec)
            return "--policy: " + spec.fault().text() + "; garner help caches explains them";
        caches.emplace_back(part);
    }
    return {};
}

std::string check_stream(SeenSimOptions const& options) {
    if (options.all || options.stream != "-") return {};
    for (auto const& cache : options.caches)
        if (catalog::read_cache_spec(cache)->row->foresees) return needs_a_file(cache);
    return {};
}

constexpr char const* about_seen_sim = "Replays links through caches of seen URLs.\n"
                                       "Reads the links of a crawl and prints the misses of each cache at each number of entries.";

std::string caches_text() {
    return "Caches of garner seen sim --policy and of garner seen serve --cache\n\n" + help_rows(catalog::seen_caches()) +
           "\nSettings, written as NAME:SETTING=VALUE:SETTING=VALUE\n\n" + help_settings(catalog::seen_caches());
}

std::vector<std::string> cache_names() {
    auto names = row_names(catalog::seen_caches());
    names.emplace_back("all");
    return names;
}

void declare(CommandForm& form, SeenSimOptions& options) {
    form.group("simulate")
        .required("--stream FILE", "URL numbers, little-endian u32, plain or compressed with zstd or gzip; - for standard input",
                  options.stream)
        .option("--policy NAME,...",
                "caches to replay; default: " + std::string(default_caches) +
                    "; all: every cache that supports these entries and this stream",
                [&](auto, auto value) { return read_caches(value, options.caches, options.all); })
        .values(cache_names())
        .option(
            "--entries N,...",
            "entries of a cache, as 65536, 2^16, or 2^6..2^16 for every power between; default: " + std::string(default_entries),
            [&](auto, auto value) { return read_entries(value, options.entries); })
        .option("--threads-model N",
                "gives each of N crawler threads a private cache of entries / N; the threads take pages in turn; default: one "
                "cache that all threads share",
                number_into(options.threads_model, 1u, model_threads_max))
        .option("--page-links N", "links per page with --threads-model; default: 62",
                number_into(options.page_links, 1u, model_threads_max))
        .option("--format NAME", "table, or json with one object a line, which tools/chart draws; default: table",
                format_into(options.json))
        .values({"table", "json"})
        .option("--plot DIR", "", sim::plot_is_removed("garner seen sim"))
        .option("--seed N", "seed of the fingerprints and of randomized caches; default: 1",
                number_into<std::uint64_t>(options.seed, 0, UINT64_MAX))
        .check([&] { return check_stream(options); })
        .topic("caches", caches_text())
        .notes("A miss is the answer \"new\". A false positive is \"seen\" for a new URL. A false negative is \"new\" for a "
               "seen URL.\n"
               "\n"
               "Caches: " +
               names_of(catalog::seen_caches()) +
               ".\nA cache with settings is written as NAME:SETTING=VALUE. garner help caches explains all of them.")
        .exit_statuses(
            {{0, "done"}, {1, "the stream cannot be read or a size does not fit"}, {2, "wrong command line"}, {130, "interrupted"}})
        .examples({"garner seen sim --stream links.u32 --policy lru,line,bloom:k=7 --entries 2^10..2^16",
                   "zstd -dc links.u32.zst | garner seen sim --stream - --format json"});
}

SeenRuns run(SeenSimOptions const& options, std::ostream& err) {
    ProgressLine line(err, "garner seen sim");
    InterruptNote const interrupt;
    return run_seen_caches(options, [&](std::string const& run, Bytes read, Bytes in_file) {
        auto const far = in_file ? std::to_string(read * 100 / in_file) + " %" : sim::short_size(read);
        line.say(run + ": " + far + " of the stream read");
        return !interrupt.came();
    });
}

std::string entries_text(std::uint64_t entries) {
    if (entries < 2 || !std::has_single_bit(entries)) return std::to_string(entries);
    return "2^" + std::to_string(std::countr_zero(entries));
}

/// A block of lines for each number of entries.
std::string table(std::span<SeenResult const> results) {
    std::vector<std::vector<std::string>> rows{
        {"entries", "policy", "misses", "miss ratio", "false +", "false -", "ns/operation", "bits/entry"}};
    for (std::size_t i = 0; i < results.size(); ++i) {
        auto const& result = results[i];
        if (i > 0 && result.entries != results[i - 1].entries) rows.emplace_back();
        rows.push_back({entries_text(result.entries), result.cache, std::to_string(result.misses),
                        with_decimals(result.miss_ratio() * 100, 2) + " %", std::to_string(result.false_positives),
                        std::to_string(result.false_negatives), with_decimals(result.nanoseconds(), 1),
                        with_decimals(result.bits_per_entry, 1)});
    }
    return sim::text_table(rows);
}

std::string json_line(SeenResult const& result) {
    using Json = nlohmann::ordered_json;
    Json const line{
        {"policy", result.cache},
        {"entries", result.entries},
        {"requests", result.requests},
        {"misses", result.misses},
        {"miss_ratio", result.miss_ratio()},
        {"false_positives", result.false_positives},
        {"false_negatives", result.false_negatives},
        {"ns_per_operation", result.nanoseconds()},
        {"bits_per_entry", result.bits_per_entry},
    };
    return line.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

int simulate(SeenSimOptions const& options, std::ostream& out, std::ostream& err) {
    auto const runs = run(options, err);
    for (auto const& why : runs.left_out) err << "garner seen sim: left out: " << why << '\n';
    if (options.json)
        for (auto const& result : runs.results) out << json_line(result);
    else if (!runs.results.empty())
        out << table(runs.results);
    out.flush();
    if (!runs.fault.empty()) err << "garner seen sim: " << runs.fault << '\n';
    if (runs.interrupted) return exit_interrupted;
    if (!runs.fault.empty()) return exit_failed;
    if (!out) return err << "garner seen sim: the results cannot be written\n", exit_failed;
    return exit_done;
}

}   // namespace

int seen_sim_command(std::span<std::string const> arguments, std::istream&, std::ostream& out, std::ostream& err) {
    SeenSimOptions options;
    read_caches(default_caches, options.caches, options.all);
    read_entries(default_entries, options.entries);
    CommandForm form("garner seen sim", about_seen_sim);
    declare(form, options);
    if (auto const code = form.read(arguments).print(out, err)) return *code;
    try {
        return simulate(options, out, err);
    } catch (std::bad_alloc const&) {
        return err << "garner seen sim: out of memory; take fewer --entries\n", exit_failed;
    }
}

void use_seen_sim_form(CommandForm::Use const& use) {
    SeenSimOptions options;
    CommandForm form("garner seen sim", about_seen_sim);
    declare(form, options);
    use(form);
}

}   // namespace garner::seen_commands
