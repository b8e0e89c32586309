// The experiments of Broder, Najork, Wiener 2003 done again: url_caching_experiments figure2|...|figure11|private|all
// [--out DIR] [--links N] [--stream FILE]. Each writes DIR/NAME.csv, which tools/chart draws. The paper's traces are not public:
// links drawn from a fixed seed by its conjecture (section 5.2), or a stream of URL numbers, replace them.
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "catalog/seen_caches.hpp"
#include "papers/foresight.hpp"
#include "papers/link_model.hpp"
#include "seen_commands/fingerprint_file.hpp"
#include "util/numbers.hpp"

namespace garner {
namespace {

constexpr std::uint32_t threads_of_the_paper = 500;
constexpr std::uint64_t processes = 4;   // crawling processes; the host of a link decides which one it belongs to

struct Options {
    std::string what, out = ".", stream;
    std::uint64_t links = 10'000'000;
};

struct Trace {
    std::string name;
    std::vector<Fingerprint> links = {};
    std::vector<std::uint32_t> threads = {};   // the thread that found each link, if known
};

Trace model(std::uint32_t threads, bool cross, std::uint64_t links) {
    Trace trace{.name = std::string(cross ? "cross sub-trace" : "full trace") + ", " + std::to_string(threads) + " threads"};
    papers::LinkModel model({.threads = threads});
    for (std::uint64_t made = 0; made < links;) {
        auto const thread = model.thread();
        for (auto url : model.next_page()) {
            ++made;
            auto const link = papers::Dice::mixed(std::uint64_t{url} + 1);
            if (cross && (model.of_a_host(url) || link % processes == 0)) continue;
            trace.links.push_back(link);
            trace.threads.push_back(thread);
        }
    }
    return trace;
}

Trace from_file(std::string const& path) {
    Trace trace{.name = std::filesystem::path(path).filename().string()};
    seen_commands::FingerprintFile file(path, seen_commands::FingerprintForm::u32);
    std::vector<std::uint32_t> ids(1 << 20);
    while (auto const count = file.read(ids))
        for (auto id : std::span(ids).first(count)) trace.links.push_back(papers::Dice::mixed(std::uint64_t{id} + 1));
    if (!file.fault().empty()) throw std::runtime_error(file.fault());
    return trace;
}

Trace full(Options const& options) {
    return options.stream.empty() ? model(threads_of_the_paper, false, options.links) : from_file(options.stream);
}
Trace cross(Options const& options) { return model(threads_of_the_paper, true, options.links); }

using Foresight = std::shared_ptr<papers::Foresight const>;

Foresight foresee(Trace const& trace) {
    auto foresight = std::make_shared<papers::Foresight>();
    if (!foresight->add(trace.links)) throw std::runtime_error("too many links");
    return foresight;
}

std::unique_ptr<crawl::SeenCache> cache_of(std::string const& spec, std::uint64_t entries, Foresight const& foresight) {
    auto made = catalog::make_cache(spec, {.entries = entries, .foresight = foresight});
    if (!made) throw std::runtime_error(spec + ": " + made.fault_text());
    return *std::move(made);
}

double miss_percent(crawl::SeenCache& cache, std::span<Fingerprint const> links) {
    std::vector<std::uint8_t> answers(links.size());
    cache.seen_each(links, answers);
    double misses = 0;
    for (auto answer : answers) misses += answer == 0;
    return links.empty() ? 0 : 100 * misses / static_cast<double>(links.size());
}

// Figures ------------------------------------------------------------------------------------------------------------

struct Series {
    std::string name;
    std::vector<std::pair<double, double>> points = {};
};

struct Figure {
    std::string name, title, x_name, y_name;
    std::vector<Series> series = {};
};

void write(Figure const& figure, Options const& options) {
    auto const file = (std::filesystem::path(options.out) / (figure.name + ".csv")).string();
    std::ofstream numbers(file);
    numbers << "# " << figure.title << "\nseries," << figure.x_name << ',' << figure.y_name << '\n';
    std::printf("%s: %s\n", figure.name.c_str(), figure.title.c_str());
    for (auto const& series : figure.series) {
        std::printf("  %-22s", series.name.c_str());
        for (auto const& [x, y] : series.points) {
            numbers << '"' << series.name << "\"," << with_decimals(x, 4) << ',' << with_decimals(y, 6) << '\n';
            std::printf(" %6.2f", y);
        }
        std::printf("\n");
    }
    if (!numbers.flush()) throw std::runtime_error("cannot write " + file);
}

std::vector<std::string> const specs{"lru", "clock", "random", "static", "infinite", "min"};
constexpr int powers = 21;   // sizes from 2^0 to 2^20

Figure by_size(std::string name, Trace const& trace, bool against_min) {
    Figure figure{std::move(name), trace.name + (against_min ? ": misses against MIN's" : ": misses") + " by cache size", "entries",
                  against_min ? "misses_of_min" : "miss_percent"};
    auto const foresight = foresee(trace);
    std::map<std::string, std::vector<double>> percent;
    for (auto const& spec : specs)
        for (int power = 0; power < powers; ++power)
            percent[spec].push_back(miss_percent(*cache_of(spec, std::uint64_t{1} << power, foresight), trace.links));
    for (auto const& spec : specs) {
        Series line{spec};
        for (std::size_t i = 0; i < powers; ++i)
            line.points.push_back({std::exp2(i), percent[spec][i] / (against_min ? percent["min"][i] : 1)});
        figure.series.push_back(std::move(line));
    }
    return figure;
}

Figure by_threads(std::string name, bool of_cross, bool a_thread, Options const& options) {
    Figure figure{std::move(name), std::string(of_cross ? "cross sub-trace" : "full trace") + ": CLOCK's misses by threads",
                  a_thread ? "entries_a_thread" : "entries", "miss_percent"};
    for (std::uint32_t threads : {20u, 100u, 500u}) {
        auto const trace = model(threads, of_cross, options.links);
        Series line{std::to_string(threads) + " threads"};
        for (int power = 0; power < powers; ++power) {
            double const entries = std::exp2(power);
            line.points.push_back({a_thread ? entries / threads : entries,
                                   miss_percent(*cache_of("clock", std::uint64_t{1} << power, nullptr), trace.links)});
        }
        figure.series.push_back(std::move(line));
    }
    return figure;
}

Figure over_time(std::string name, Trace const& trace) {
    constexpr std::uint64_t entries = 1 << 18, windows = 40;
    Figure figure{std::move(name), trace.name + ": misses over time, 2^18 entries", "links", "miss_percent"};
    auto const foresight = foresee(trace);
    auto const step = trace.links.size() / windows;
    for (auto const& spec : specs) {
        auto const cache = cache_of(spec, entries, foresight);
        Series line{spec};
        for (std::uint64_t i = 0; i < windows; ++i)
            line.points.push_back(
                {static_cast<double>((i + 1) * step), miss_percent(*cache, std::span(trace.links).subspan(i * step, step))});
        figure.series.push_back(std::move(line));
    }
    return figure;
}

/// The open question of section 7: private caches of threads against a shared one.
Figure private_caches(Options const& options) {
    auto const trace = model(threads_of_the_paper, false, options.links);
    Figure figure{"private",
                  trace.name + ": a private LRU for each against a shared one",
                  "entries",
                  "miss_percent",
                  {{"shared"}, {"private"}}};
    for (std::uint64_t each = 1; each <= 2048; each *= 2) {
        auto const entries = each * threads_of_the_paper;
        std::vector<std::unique_ptr<crawl::SeenCache>> caches;
        for (std::uint32_t i = 0; i < threads_of_the_paper; ++i) caches.push_back(cache_of("lru", each, nullptr));
        double misses = 0;
        for (std::size_t i = 0; i < trace.links.size(); ++i) misses += !caches[trace.threads[i]]->seen(trace.links[i]);
        auto const x = static_cast<double>(entries);
        figure.series[0].points.push_back({x, miss_percent(*cache_of("lru", entries, nullptr), trace.links)});
        figure.series[1].points.push_back({x, 100 * misses / static_cast<double>(trace.links.size())});
    }
    return figure;
}

Options read(int count, char** words) {
    Options options;
    for (int i = 1; i < count; ++i) {
        std::string const word = words[i];
        bool const has_value = i + 1 < count;
        if (word == "--out" && has_value)
            options.out = words[++i];
        else if (word == "--stream" && has_value)
            options.stream = words[++i];
        else if (word == "--links" && has_value)
            options.links = std::strtoull(words[++i], nullptr, 10);
        else
            options.what = options.what.empty() ? word : "?";
    }
    return options;
}

int run(int count, char** words) {
    auto const options = read(count, words);
    std::map<std::string, std::function<Figure()>> const figures{
        {"figure2", [&] { return by_size("figure2", full(options), false); }},
        {"figure3", [&] { return by_size("figure3", full(options), true); }},
        {"figure4", [&] { return by_size("figure4", cross(options), false); }},
        {"figure5", [&] { return by_size("figure5", cross(options), true); }},
        {"figure6", [&] { return by_threads("figure6", false, false, options); }},
        {"figure7", [&] { return by_threads("figure7", true, false, options); }},
        {"figure8", [&] { return by_threads("figure8", false, true, options); }},
        {"figure9", [&] { return by_threads("figure9", true, true, options); }},
        {"figure10", [&] { return over_time("figure10", full(options)); }},
        {"figure11", [&] { return over_time("figure11", cross(options)); }},
        {"private", [&] { return private_caches(options); }},
    };
    bool const known = options.what == "all" || figures.count(options.what) > 0;
    if (!known || options.links < 1'000)
        return std::fprintf(stderr, "usage: url_caching_experiments figure2|...|figure11|private|all [--out DIR] "
                                    "[--links N, at least 1000] [--stream FILE]\n"),
               2;
    std::filesystem::create_directories(options.out);
    for (auto const& [name, make] : figures)
        if (options.what == "all" || options.what == name) write(make(), options);
    return 0;
}

}   // namespace
}   // namespace garner

int main(int count, char** words) try { return garner::run(count, words); } catch (std::exception const& trouble) {
    std::fprintf(stderr, "url_caching_experiments: %s\n", trouble.what());
    return 1;
}
