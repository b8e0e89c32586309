// Cost per operation of each cache of seen URLs, and of the usual sets: seen_caches [LOG2_ENTRIES [STREAM.u32 [CACHE...]]]
// Without a stream, or with -, it uses the links of garner seen model.
#include <absl/container/flat_hash_set.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <list>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "catalog/seen_caches.hpp"
#include "papers/dice.hpp"
#include "papers/link_model.hpp"

using namespace garner;

namespace {

constexpr std::size_t links_wanted = 10'000'000;
constexpr int runs = 5;   // the best run is reported

using Stream = std::vector<Fingerprint>;

double processor_time() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

Stream model_stream() {
    Stream stream;
    papers::LinkModel model({});
    while (stream.size() < links_wanted)
        for (auto url : model.next_page()) stream.push_back(papers::Dice::mixed(url + 1));
    return stream;
}

Stream stream_of(char const* path) {
    Stream stream;
    std::ifstream file(path, std::ios::binary);
    for (std::uint32_t url; stream.size() < links_wanted && file.read(reinterpret_cast<char*>(&url), sizeof url);)
        stream.push_back(papers::Dice::mixed(std::uint64_t{url} + 1));
    return stream;
}

struct ListLru {
    explicit ListLru(std::size_t entries) : entries(entries) {}
    bool seen(Fingerprint url) {
        auto const found = places.find(url);
        if (found != places.end()) {
            order.splice(order.begin(), order, found->second);
            return true;
        }
        order.push_front(url);
        places[url] = order.begin();
        if (places.size() > entries) {
            places.erase(order.back());
            order.pop_back();
        }
        return false;
    }
    std::size_t entries;
    std::list<Fingerprint> order;
    std::unordered_map<Fingerprint, std::list<Fingerprint>::iterator> places;
};

struct Measured {
    std::string name;
    double nanoseconds = 1e9;
    std::uint64_t misses = 0;
};

/// `make_pass()` returns a function that processes the whole stream and returns the misses.
template <class MakePass>
void measure(Measured& measured, Stream const& stream, MakePass make_pass) {
    auto pass = make_pass();
    auto const start = processor_time();
    measured.misses = pass(stream);
    auto const each = (processor_time() - start) * 1e9 / static_cast<double>(stream.size());
    measured.nanoseconds = std::min(measured.nanoseconds, each);
}

auto pass_of(std::string const& spec, std::uint64_t entries) {
    auto made = catalog::make_cache(spec, {.entries = entries});
    if (!made) std::fprintf(stderr, "%s: %s\n", spec.c_str(), made.fault_text().c_str()), std::exit(1);
    return [cache = *std::move(made)](Stream const& stream) {
        constexpr std::size_t batch = 4'096;
        std::vector<std::uint8_t> answers(batch);
        std::uint64_t misses = 0;
        for (std::size_t from = 0; from < stream.size(); from += batch) {
            auto const taken = std::min(batch, stream.size() - from);
            cache->seen_each(std::span(stream).subspan(from, taken), std::span(answers).first(taken));
            for (std::size_t i = 0; i < taken; ++i) misses += answers[i] == 0;
        }
        return misses;
    };
}

}   // namespace

int main(int count, char** words) {
    auto const power = count > 1 ? std::atoi(words[1]) : 16;
    if (power < 1 || power > 28) return std::fprintf(stderr, "usage: %s [LOG2_ENTRIES [STREAM.u32 [CACHE...]]]\n", words[0]), 2;
    auto const entries = std::uint64_t{1} << power;
    auto const stream = count > 2 && std::string(words[2]) != "-" ? stream_of(words[2]) : model_stream();
    if (stream.empty()) return std::fprintf(stderr, "no links\n"), 1;

    // clang-format off
    std::vector<std::string> specs{"line", "line:isa=avx2", "line:isa=plain", "line32", "lru", "clock",
                                   "scatter", "scatter:policy=random", "chaining", "infinite"};
    // clang-format on
    if (count > 3)
        specs.assign(words + 3, words + count);
    else if (entries > 81'930)
        specs.insert(specs.begin() + 5, "quotient");
    std::vector<Measured> all{{"absl::flat_hash_set"}, {"std::unordered_set"}, {"LRU of list and map"}};
    for (auto const& spec : specs) all.push_back({spec});

    for (int run = 0; run < runs; ++run) {
        auto insert_all = [](auto set) {
            return [set = std::move(set)](Stream const& stream) mutable {
                std::uint64_t misses = 0;
                for (auto url : stream) misses += set.insert(url).second;
                return misses;
            };
        };
        measure(all[0], stream, [&] { return insert_all(absl::flat_hash_set<Fingerprint>()); });
        measure(all[1], stream, [&] { return insert_all(std::unordered_set<Fingerprint>()); });
        measure(all[2], stream, [&] {
            return [lru = ListLru(entries)](Stream const& stream) mutable {
                std::uint64_t misses = 0;
                for (auto url : stream) misses += !lru.seen(url);
                return misses;
            };
        });
        for (std::size_t i = 0; i < specs.size(); ++i) measure(all[3 + i], stream, [&] { return pass_of(specs[i], entries); });
    }

    std::printf("%zu links, 2^%d entries; processor time, the best of %d runs\n", stream.size(), power, runs);
    std::printf("%-24s %8s %14s %9s\n", "", "ns", "of flat_hash", "misses");
    for (auto const& one : all)
        std::printf("%-24s %8.2f %13.3fx %8.2f%%\n", one.name.c_str(), one.nanoseconds, one.nanoseconds / all[0].nanoseconds,
                    100.0 * static_cast<double>(one.misses) / static_cast<double>(stream.size()));
}
