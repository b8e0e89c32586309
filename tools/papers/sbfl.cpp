// The experiments of Kubota, Ueda, Yamana (Stable Bloom Filter Light) done again: sbfl_experiments
// table5.1|figure5.1|...|figure5.6|all [--stream FILE] [--out DIR]. Prints tables; --out also writes CSV files, which tools/chart
// draws. The paper's graph of 538 million hosts is not public: a model or any stream of URL numbers replaces it. All sizes
// are those of the paper divided by 256 (LRU 2^12 for 2^20, counters 2^16 to 2^22 for 2^24 to 2^30).
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "crawl/line_set.hpp"
#include "papers/lru_light.hpp"
#include "papers/stable_bloom.hpp"
#include "seen_commands/fingerprint_file.hpp"

namespace garner {
namespace {

constexpr unsigned lru_bits = 12;   // size of the LRU before a filter
constexpr unsigned least_counters = 16, most_counters = 22;
constexpr double lru_bytes = 20;   // bytes of an element, as in the paper

struct Stream {
    std::string name;
    std::vector<Fingerprint> urls;
    std::vector<std::uint8_t> is_new;   // never asked for before
};

/// Half of the requests follow Zipf's law, three in ten repeat one of the latest 2^16, and the rest are for new URLs.
Stream model() {
    constexpr std::uint32_t hosts = 1 << 21;
    constexpr std::size_t requests = 12'000'000, latest = 1 << 16;
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> share(0, 1);
    Stream stream{"a model of a crawl over hosts", {}, {}};
    std::uint64_t fresh = hosts;
    for (std::size_t i = 0; i < requests; ++i) {
        auto const kind = share(random);
        std::uint64_t url;
        if (kind < 0.5)
            url = static_cast<std::uint64_t>(std::pow(double{hosts}, share(random)));
        else if (kind < 0.8 && i >= latest) {
            stream.urls.push_back(stream.urls[i - 1 - random() % latest]);
            continue;
        } else
            url = fresh++;
        stream.urls.push_back(crawl::mixed(url + 1));
    }
    return stream;
}

Stream read(std::string const& path) {
    Stream stream{std::filesystem::path(path).filename().string(), {}, {}};
    seen_commands::FingerprintFile file(path, seen_commands::form_of(path));
    std::vector<Fingerprint> block(1 << 16);
    while (auto const count = file.read(block))
        stream.urls.insert(stream.urls.end(), block.begin(), block.begin() + static_cast<std::ptrdiff_t>(count));
    if (!file.fault().empty()) std::fprintf(stderr, "%s\n", file.fault().c_str()), std::exit(1);
    return stream;
}

struct Counted {
    double hits = 0;   // share of the requests
    std::uint64_t false_positives = 0, false_negatives = 0;
};

Counted replay(Stream const& stream, crawl::SeenCache& cache) {
    std::vector<std::uint8_t> seen(stream.urls.size());
    cache.seen_each(stream.urls, seen);
    Counted counted;
    for (std::size_t i = 0; i < seen.size(); ++i) {
        counted.hits += seen[i];
        counted.false_positives += seen[i] && stream.is_new[i];
        counted.false_negatives += !seen[i] && !stream.is_new[i];
    }
    counted.hits /= static_cast<double>(std::max<std::size_t>(seen.size(), 1));
    return counted;
}

struct Parameters {
    unsigned hashes;
    double false_positives;
    papers::StableShape shape(std::uint64_t counters) const {
        auto const p = papers::stable_decrements(false_positives, hashes, 3, static_cast<double>(counters));
        return {counters, hashes, static_cast<unsigned>(std::ceil(p))};
    }
    std::string name() const {
        char text[64];
        std::snprintf(text, sizeof text, "k=%u, FPR=%g %%", hashes, false_positives * 100);
        return text;
    }
};
constexpr Parameters strict{8, 1e-5}, loose{4, 0.01};

/// The points of a figure, by the names of their lines.
class Figure {
public:
    Figure(std::string number, std::string const& title, std::string const& x_name, std::string const& y_name)
        : number_(std::move(number)) {
        std::printf("\n%s: %s\n%-28s %14s %14s\n", number_.c_str(), title.c_str(), "", x_name.c_str(), y_name.c_str());
        csv_ << "# " << title << "\nline," << x_name << ',' << y_name << '\n';
    }
    void add(std::string const& line, double x, double y) {
        std::printf("%-28s %14.6g %14.6g\n", line.c_str(), x, y);
        csv_ << '"' << line << "\"," << x << ',' << y << '\n';
    }
    void write(std::filesystem::path const& folder) const {
        if (folder.empty()) return;
        std::filesystem::create_directories(folder);
        std::ofstream(folder / (number_ + ".csv")) << csv_.str();
    }

private:
    std::string number_;
    std::ostringstream csv_;
};

class Experiments {
public:
    Experiments(Stream stream, std::filesystem::path folder) : stream_(std::move(stream)), folder_(std::move(folder)) {
        crawl::LineSet all({});
        stream_.is_new.resize(stream_.urls.size());
        all.add(stream_.urls, stream_.is_new);
        std::printf("%s: %zu requests, %llu URLs\n", stream_.name.c_str(), stream_.urls.size(),
                    static_cast<unsigned long long>(all.size()));
    }

    void hits_of_lru() {
        auto figure = new_figure("figure5.1", "hits of LRU alone", "entries", "hits (%)");
        for (auto const& [entries, hits] : lru()) figure.add("LRU", entries, hits * 100);
        figure.write(folder_);
    }
    void false_positives() {
        wrong("figure5.2", "false positives", [](Counted const& counted) { return counted.false_positives; });
    }
    void false_negatives() {
        wrong("figure5.3", "false negatives", [](Counted const& counted) { return counted.false_negatives; });
    }
    void hits_of_the_chain() {
        auto figure = new_figure("figure5.4", "hits of LRU 2^12 before the Light filter", "counters", "hits (%)");
        for (auto const& parameters : {strict, loose})
            for (unsigned bits = least_counters; bits <= most_counters; ++bits)
                figure.add(parameters.name(), std::exp2(bits), chain(parameters, bits).hits * 100);
        figure.write(folder_);
    }
    void memory(std::string const& number, Parameters const& parameters) {
        auto figure = new_figure(number, "memory at equal hits, " + parameters.name(), "hits (%)", "memory (KiB)");
        double most_saved = 0;
        for (unsigned bits = least_counters; bits <= most_counters; ++bits) {
            auto const hits = chain(parameters, bits).hits;
            auto const ours = lru_bytes * std::exp2(lru_bits) + std::exp2(bits) / 4;
            auto const alone = lru_bytes * entries_for(hits);
            figure.add("LRU before SBFL", hits * 100, ours / 1024);
            if (alone > 0) figure.add("LRU alone", hits * 100, alone / 1024), most_saved = std::max(most_saved, 1 - ours / alone);
        }
        std::printf("saved at most %.0f %%\n", most_saved * 100);
        figure.write(folder_);
    }

private:
    Figure new_figure(std::string number, std::string const& what, std::string const& x, std::string const& y) const {
        return {std::move(number), what + " (" + stream_.name + ")", x, y};
    }
    std::vector<std::pair<double, double>> const& lru() {
        if (!lru_.empty()) return lru_;
        for (unsigned bits = lru_bits - 2; bits <= lru_bits + 8; ++bits) {
            crawl::Lru cache({.entries = std::uint64_t{1} << bits});
            lru_.emplace_back(std::exp2(bits), replay(stream_, cache).hits);
        }
        return lru_;
    }
    /// Interpolates linearly between the measured sizes; 0 if LRU alone never has so many hits.
    double entries_for(double hits) {
        auto const& measured = lru();
        for (std::size_t i = 1; i < measured.size(); ++i) {
            auto const [less, low] = measured[i - 1];
            auto const [more, high] = measured[i];
            if (hits >= low && hits <= high && high > low) return less + (more - less) * (hits - low) / (high - low);
        }
        return 0;
    }
    Counted chain(Parameters const& parameters, unsigned bits) {
        papers::LruLight cache(std::uint64_t{1} << lru_bits, parameters.shape(std::uint64_t{1} << bits), 1, 1);
        return replay(stream_, cache);
    }
    template <class Count>
    void wrong(std::string const& number, std::string const& what, Count count) {
        auto figure = new_figure(number, what + ", " + loose.name(), "counters", what);
        for (unsigned bits = least_counters; bits <= most_counters; ++bits) {
            auto const shape = loose.shape(std::uint64_t{1} << bits);
            papers::StableBloom stable(shape, 1, 1);
            papers::StableBloomLight light(shape, 1, 1);
            figure.add("SBF", std::exp2(bits), static_cast<double>(count(replay(stream_, stable))));
            figure.add("SBFL", std::exp2(bits), static_cast<double>(count(replay(stream_, light))));
        }
        figure.write(folder_);
    }

    Stream stream_;
    std::filesystem::path folder_;
    std::vector<std::pair<double, double>> lru_;
};

double seconds_of(std::function<void()> const& work) {
    auto const begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// The paper decrements 2e9 of 2^30 counters. This number shows the same.
void decrement_times(std::filesystem::path const& folder) {
    constexpr std::uint64_t counters = std::uint64_t{1} << 28, decrements = 200'000'000;
    papers::SmallCounters all(counters);
    for (std::uint64_t i = 0; i < counters; i += 7) all.set(i, 3);
    papers::RandomDecrement random(1);
    auto const chunk = 1'000'000u;
    auto const at_random = seconds_of([&] {
                               for (std::uint64_t i = 0; i < decrements / 10; i += chunk) random.decrement(all, chunk);
                           }) *
                           10;
    auto const one_by_one = seconds_of([&] {
        for (std::uint64_t i = 0; i < decrements; ++i)
            if (auto const now = all.value(i); now > 0) all.set(i, now - 1);
    });
    auto const together = seconds_of([&] { papers::CyclicDecrement().decrement(all, decrements); });
    std::printf("\ntable5.1: seconds for 2e9 decrements of 2^28 counters\n");
    std::ofstream csv;
    if (!folder.empty()) std::filesystem::create_directories(folder), csv.open(folder / "table5.1.csv");
    csv << "method,seconds,ratio\n";
    for (auto const& [name, seconds] : {std::pair{"SBF", at_random}, {"SBFL", one_by_one}, {"SBFL (32 at once)", together}}) {
        std::printf("%-20s %10.4f   1/%.1f\n", name, seconds * 10, at_random / seconds);
        csv << name << ',' << seconds * 10 << ',' << at_random / seconds << '\n';
    }
}

int run(std::vector<std::string> const& words) {
    std::string path;
    std::filesystem::path folder;
    for (std::size_t i = 1; i + 1 < words.size(); i += 2) {
        if (words[i] == "--stream")
            path = words[i + 1];
        else
            folder = words[i + 1];
    }
    auto const& what = words[0];
    auto const wants = [&](char const* name) { return what == "all" || what == name; };
    if (wants("table5.1")) decrement_times(folder);
    if (what == "table5.1") return 0;
    Experiments experiments(path.empty() ? model() : read(path), folder);
    if (wants("figure5.1")) experiments.hits_of_lru();
    if (wants("figure5.2")) experiments.false_positives();
    if (wants("figure5.3")) experiments.false_negatives();
    if (wants("figure5.4")) experiments.hits_of_the_chain();
    if (wants("figure5.5")) experiments.memory("figure5.5", strict);
    if (wants("figure5.6")) experiments.memory("figure5.6", loose);
    return 0;
}

}   // namespace
}   // namespace garner

int main(int count, char** arguments) {
    std::vector<std::string> const words(arguments + 1, arguments + count);
    bool wrong = words.empty() || words.size() % 2 == 0;
    for (std::size_t i = 1; i < words.size(); i += 2) wrong |= words[i] != "--stream" && words[i] != "--out";
    if (wrong) {
        std::fprintf(stderr, "sbfl_experiments table5.1|figure5.1|...|figure5.6|all [--stream FILE] [--out DIR]\n");
        return 2;
    }
    return garner::run(words);
}
