// The experiments of Li, He, Fang 2012 (CPBAD) done again: cpbad_experiments figure4|figure5|figure6|figure7|table2|all
// [--csv DIR]. Prints tables; --csv also writes DIR/figure5.csv to figure7.csv. The paper's gateway log is not public:
// Zipf streams of its sizes, drawn from fixed seeds, replace it. If the paper allows several readings, all are measured.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "policy/policies.hpp"
#include "support/trace.hpp"
#include "util/bytes.hpp"

namespace garner {
namespace {

/// Requests for URLs numbered from 0 without gaps. Without sizes each URL counts as 1.
struct Stream {
    std::string name;
    std::vector<std::uint32_t> urls;
    std::uint32_t population = 0;
    std::vector<Bytes> sizes = {};   // by URL

    Bytes size(std::uint32_t url) const { return sizes.empty() ? 1 : sizes[url]; }
};

/// One point of a curve.
struct Point {
    std::string stream, series;
    double x = 0, percent = 0;
};

struct Hits {
    std::uint64_t requests = 0, hits = 0, misses = 0;
    Bytes bytes = 0, hit_bytes = 0;

    double percent() const { return 100 * static_cast<double>(hits) / static_cast<double>(requests); }
    double byte_percent() const { return 100 * static_cast<double>(hit_bytes) / static_cast<double>(bytes); }
};

/// A cache of `budget` bytes, or objects where each counts as 1. URLs are so dense that they are the slots.
class Cache {
public:
    Cache(std::string const& spec, Stream const& stream, Bytes budget)
        : stream_(stream), budget_(budget), policy_(policy::make(spec, {.capacity = budget})), held_(stream.population) {
        if (!policy_) throw std::invalid_argument(policy::read_spec(spec).fault_text());
    }

    void request(std::uint32_t url) {
        Bytes const size = stream_.size(url);
        ++counted.requests, counted.bytes += size;
        policy_->requested(url);
        if (held_[url]) {
            ++counted.hits, counted.hit_bytes += size;
            return policy_->hit(url, size);
        }
        ++counted.misses;
        if (size > budget_) return;
        while (occupied_ + size > budget_) leave(policy_->victim());
        held_[url] = true, occupied_ += size;
        policy_->inserted(url, url, size);
    }

    std::string contents() const {
        std::string text;
        for (std::size_t url = 0; url < held_.size(); ++url)
            if (held_[url]) text += (text.empty() ? "" : " ") + std::to_string(url);
        return text;
    }

    Hits counted;

private:
    void leave(policy::Slot victim) {
        policy_->removed(victim, policy::Left::evicted);
        held_[victim] = false, occupied_ -= stream_.size(victim);
    }

    Stream const& stream_;
    Bytes budget_, occupied_ = 0;
    std::unique_ptr<policy::ReplacementPolicy> policy_;
    std::vector<bool> held_;
};

Hits replay(std::string const& spec, Stream const& stream, Bytes budget) {
    Cache cache(spec, stream, budget);
    for (auto url : stream.urls) cache.request(url);
    return cache.counted;
}

// Streams ------------------------------------------------------------------------------------------------------------

/// Independent draws; the URL of rank r is asked for with probability in proportion to r^-alpha.
Stream zipf(std::string name, double alpha, std::uint32_t population, std::size_t requests, std::uint64_t seed) {
    std::vector<double> below(population);
    double sum = 0;
    for (std::uint32_t url = 0; url < population; ++url) below[url] = sum += std::pow(url + 1.0, -alpha);
    std::mt19937_64 random(seed);
    Stream stream{.name = std::move(name), .urls = {}, .population = population};
    for (std::size_t i = 0; i < requests; ++i) {
        double const drawn = static_cast<double>(random() >> 11) * 0x1p-53 * sum;
        auto const url = std::upper_bound(below.begin(), below.end() - 1, drawn) - below.begin();
        stream.urls.push_back(static_cast<std::uint32_t>(url));
    }
    return stream;
}

double expected_distinct(double alpha, std::uint32_t population, double requests) {
    double sum = 0, distinct = 0;
    for (std::uint32_t url = 0; url < population; ++url) sum += std::pow(url + 1.0, -alpha);
    for (std::uint32_t url = 0; url < population; ++url)
        distinct -= std::expm1(requests * std::log1p(-std::pow(url + 1.0, -alpha) / sum));
    return distinct;
}

/// The number of URLs of which `requests` draws are expected to give `distinct` different ones.
std::uint32_t population_for(double alpha, std::uint32_t distinct, std::size_t requests) {
    std::uint32_t low = distinct, high = 16 * distinct;
    while (low < high) {
        auto const middle = low + (high - low) / 2;
        bool const enough = expected_distinct(alpha, middle, static_cast<double>(requests)) >= distinct;
        (enough ? high : low) = enough ? middle : middle + 1;
    }
    return low;
}

std::size_t distinct_in(Stream const& stream) {
    std::vector<bool> seen(stream.population);
    for (auto url : stream.urls) seen[url] = true;
    return static_cast<std::size_t>(std::count(seen.begin(), seen.end(), true));
}

/// Table 2 of the paper.
struct Dataset {
    char const* name;
    std::size_t requests;
    std::uint32_t distinct;
};
constexpr Dataset datasets[] = {{"dataset1", 110'745, 41'619}, {"dataset2", 167'397, 73'868}, {"dataset3", 149'494, 52'494}};
constexpr Dataset whole{"all", 427'636, 167'981};

std::string with_alpha(std::string const& name, double alpha) {
    char text[80];
    std::snprintf(text, sizeof text, "%s, alpha %.1f", name.c_str(), alpha);
    return text;
}

Stream stream_of(Dataset const& dataset, double alpha, std::uint64_t seed) {
    auto const population = population_for(alpha, dataset.distinct, dataset.requests);
    return zipf(with_alpha(dataset.name, alpha), alpha, population, dataset.requests, seed);
}

/// The three datasets one after the other, each with URLs of its own: in table 2 the distinct URLs of all are the sum.
Stream three_days(double alpha) {
    Stream days{.name = with_alpha("all, new URLs each day", alpha), .urls = {}};
    std::uint64_t seed = 1;
    for (auto const& dataset : datasets) {
        auto const day = stream_of(dataset, alpha, seed++);
        for (auto url : day.urls) days.urls.push_back(days.population + url);
        days.population += day.population;
    }
    return days;
}

/// A real trace in which all URLs have one size, as in the paper's experiments on hits.
Stream real(std::string const& trace) {
    Stream stream{.name = trace + ", a real trace", .urls = {}};
    for (auto const& request : test::read_trace(test::trace_path(trace))) {
        stream.urls.push_back(static_cast<std::uint32_t>(request.key));
        stream.population = std::max(stream.population, stream.urls.back() + 1);
    }
    return stream;
}

void draw_sizes(Stream& stream) {
    std::mt19937_64 random(2012);
    for (std::uint32_t url = 0; url < stream.population; ++url)
        stream.sizes.push_back(1 * KiB + random() % (1 * MiB - 1 * KiB + 1));
}

// Tables -------------------------------------------------------------------------------------------------------------

/// The values of a member, for the points of stream `of`, or of all streams.
template <class T>
std::vector<T> in_order_of_appearance(std::vector<Point> const& points, T Point::*member, std::string const& of = {}) {
    std::vector<T> seen;
    for (auto const& point : points) {
        if (!of.empty() && point.stream != of) continue;
        if (std::find(seen.begin(), seen.end(), point.*member) == seen.end()) seen.push_back(point.*member);
    }
    return seen;
}

/// A table for each stream, a row for each series, a column for each x.
void print(std::vector<Point> const& points, char const* x_name) {
    std::map<std::tuple<std::string, std::string, double>, double> cells;
    for (auto const& point : points) cells[{point.stream, point.series, point.x}] = point.percent;
    for (auto const& stream : in_order_of_appearance(points, &Point::stream)) {
        auto const columns = in_order_of_appearance(points, &Point::x, stream);
        std::printf("\n%s\n%-40s", stream.c_str(), x_name);
        for (double x : columns) std::printf(" %6g", x);
        std::printf("\n");
        for (auto const& series : in_order_of_appearance(points, &Point::series, stream)) {
            std::printf("%-40s", series.c_str());
            for (double x : columns) std::printf(" %6.2f", cells[{stream, series, x}]);
            std::printf("\n");
        }
    }
}

void write_csv(std::string const& directory, char const* figure, std::vector<Point> const& points) {
    if (directory.empty()) return;
    auto const path = directory + "/" + figure + ".csv";
    std::ofstream file(path);
    file << "stream,policy,x,percent\n";
    for (auto const& point : points)
        file << '"' << point.stream << "\"," << point.series << ',' << point.x << ',' << point.percent << '\n';
    if (!file.flush()) throw std::runtime_error("cannot write " + path);
}

// The experiments ----------------------------------------------------------------------------------------------------

std::vector<std::string> readings_of_f_and_boost() {
    std::vector<std::string> specs;
    for (char const* f : {"1/x", "M/x", "total/x"})
        for (char const* boost : {"printed", "corrected"}) specs.push_back(std::string("cpbad:f=") + f + ":boost=" + boost);
    return specs;
}

void figure4() {
    std::printf("Figure 4: content of a cache of 3 objects after each request\n\n");
    Stream const stream{.name = "", .urls = {1, 2, 3, 4, 4, 2, 3, 5, 1, 4, 1}, .population = 6};
    std::vector<std::string> const specs{"lfu", "lru", "cpbad:f=1/x", "cpbad:f=M/x", "cpbad:initial=2", "cpbad"};
    std::vector<Cache> caches;
    for (auto const& spec : specs) caches.emplace_back(spec, stream, 3);
    std::printf("%-8s", "request");
    for (auto const& spec : specs) std::printf(" %-16s", spec.c_str());
    for (auto url : stream.urls) {
        std::printf("\n%-8u", url);
        for (auto& cache : caches) cache.request(url), std::printf(" %-16s", cache.contents().c_str());
    }
    std::printf("\n%-8s", "misses");
    for (auto& cache : caches) std::printf(" %-16llu", static_cast<unsigned long long>(cache.counted.misses));
    std::printf("\n");
}

void figure5(std::string const& csv) {
    constexpr std::size_t requests = 400'000;
    std::printf("Figure 5: hit %% by lambda; 10,000 URLs, 500 objects held, %zu requests\n", requests);
    std::vector<Point> points;
    for (double alpha : {0.6, 0.7, 0.8}) {
        auto const stream = zipf(with_alpha("Zipf", alpha), alpha, 10'000, requests, 1);
        for (auto const& spec : readings_of_f_and_boost())
            for (int tenths = 1; tenths <= 9; ++tenths) {
                auto const with_lambda = spec + ":lambda=0." + std::to_string(tenths);
                points.push_back({stream.name, spec, tenths / 10.0, replay(with_lambda, stream, 500).percent()});
            }
        // These policies have no lambda: one result for all values.
        for (char const* spec : {"lru", "lfu"}) {
            double const percent = replay(spec, stream, 500).percent();
            for (int tenths = 1; tenths <= 9; ++tenths) points.push_back({stream.name, spec, tenths / 10.0, percent});
        }
    }
    print(points, "lambda");
    write_csv(csv, "figure5", points);
}

void table2() {
    std::printf("Table 2: streams of the log's sizes. Drawn from as many URLs as it has distinct ones, fewer are\n"
                "seen; the streams of figures 6 and 7 are drawn from as many as it takes.\n\n");
    std::printf("%-10s %9s %9s %6s %18s %12s %9s\n", "dataset", "requests", "distinct", "alpha", "seen of as many", "drawn from",
                "seen");
    for (auto const& dataset : {datasets[0], datasets[1], datasets[2], whole})
        for (double alpha : {0.6, 0.7, 0.8}) {
            auto const few = zipf("", alpha, dataset.distinct, dataset.requests, 1);
            auto const fit = stream_of(dataset, alpha, 1);
            std::printf("%-10s %9zu %9u %6.1f %18zu %12u %9zu\n", dataset.name, dataset.requests, dataset.distinct, alpha,
                        distinct_in(few), fit.population, distinct_in(fit));
        }
}

void figure6(std::string const& csv) {
    std::printf("Figure 6: hit %% by objects held\n");
    std::vector<std::string> specs{"lru", "lfu"};
    for (auto const& spec : readings_of_f_and_boost()) specs.push_back(spec);
    specs.insert(specs.end(), {"cpbad:initial=2", "cpbad:f=1/x:initial=1e-9", "cpbad:equal=stays", "cpbad:first=twice"});
    std::vector<Point> points;
    auto run = [&](Stream const& stream, std::initializer_list<Bytes> held) {
        for (auto const& spec : specs)
            for (Bytes objects : held) {
                double const percent = replay(spec, stream, objects).percent();
                points.push_back({stream.name, spec, static_cast<double>(objects), percent});
            }
    };
    for (auto const& dataset : datasets) run(stream_of(dataset, 0.7, 1), {500, 1000, 2000, 4000, 8000});
    // The paper says that this dataset has the largest alpha of the three.
    run(stream_of(datasets[2], 0.8, 1), {500, 1000, 2000, 4000, 8000});
    run(stream_of(whole, 0.7, 1), {500, 1000, 2000, 4000, 8000});
    run(three_days(0.7), {500, 1000, 2000, 4000, 8000});
    run(real("nasa_19950801"), {50, 100, 200, 400, 800});
    run(real("wc98_day6_sample"), {50, 100, 200, 400, 800});
    print(points, "objects");
    write_csv(csv, "figure6", points);
}

void figure7(std::string const& csv) {
    std::printf("Figure 7: byte hit %% by MiB; sizes drawn evenly from 1 KiB to 1 MiB\n");
    std::vector<std::string> specs{"lru", "lfu", "gdsf"};
    for (auto const& spec : readings_of_f_and_boost())
        for (char const* size : {"", ":size=plus", ":size=minus"}) specs.push_back(spec + size);
    for (char const* size : {":size=plus", ":size=minus"})
        for (char const* log : {":log=2", ":log=10"}) specs.push_back(std::string("cpbad") + size + log);
    std::vector<Point> points;
    for (auto stream : {stream_of(whole, 0.7, 1), stream_of(whole, 0.8, 1), three_days(0.7)}) {
        draw_sizes(stream);
        for (auto const& spec : specs)
            for (Bytes mib : {256, 512, 1024, 2048}) {
                double const percent = replay(spec, stream, mib * MiB).byte_percent();
                points.push_back({stream.name, spec, static_cast<double>(mib), percent});
            }
    }
    print(points, "MiB");
    write_csv(csv, "figure7", points);
}

int run(int count, char** words) {
    std::string what, csv;
    for (int i = 1; i < count; ++i) {
        if (!std::strcmp(words[i], "--csv") && i + 1 < count)
            csv = words[++i];
        else
            what = what.empty() ? words[i] : "?";
    }
    if (!csv.empty()) std::filesystem::create_directories(csv);
    bool known = false;
    auto when = [&](char const* name, auto experiment) {
        if (what != name && what != "all") return;
        if (known) std::printf("\n");
        known = true;
        experiment();
    };
    when("figure4", figure4);
    when("figure5", [&] { figure5(csv); });
    when("table2", table2);
    when("figure6", [&] { figure6(csv); });
    when("figure7", [&] { figure7(csv); });
    if (known) return 0;
    std::fprintf(stderr, "usage: cpbad_experiments figure4|figure5|figure6|figure7|table2|all [--csv DIR]\n");
    return 2;
}

}   // namespace
}   // namespace garner

int main(int count, char** words) try { return garner::run(count, words); } catch (std::exception const& trouble) {
    std::fprintf(stderr, "cpbad_experiments: %s\n", trouble.what());
    return 1;
}
