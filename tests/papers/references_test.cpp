#include "papers/references.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "crawl/stream.hpp"

namespace garner::papers {
namespace {

using namespace crawl;

std::shared_ptr<Foresight const> foresight_of(std::vector<Fingerprint> const& stream) {
    auto foresight = std::make_shared<Foresight>();
    EXPECT_TRUE(foresight->add(std::span(stream).first(stream.size() / 2)));
    EXPECT_TRUE(foresight->add(std::span(stream).subspan(stream.size() / 2)));
    return foresight;
}

std::uint64_t misses(SeenCache& cache, std::vector<Fingerprint> const& stream) {
    std::uint64_t misses = 0;
    for (auto url : stream) misses += !cache.seen(url);
    return misses;
}

/// Belady's algorithm, which scans ahead at each eviction.
std::uint64_t misses_of_belady(std::vector<Fingerprint> const& stream, std::size_t entries) {
    std::set<Fingerprint> held;
    std::uint64_t misses = 0;
    for (std::size_t now = 0; now < stream.size(); ++now) {
        if (held.count(stream[now])) continue;
        ++misses;
        auto next = [&](Fingerprint url) {
            return std::find(stream.begin() + static_cast<std::ptrdiff_t>(now), stream.end(), url) - stream.begin();
        };
        if (held.size() == entries)
            held.erase(*std::max_element(held.begin(), held.end(), [&](auto a, auto b) { return next(a) < next(b); }));
        held.insert(stream[now]);
    }
    return misses;
}

TEST(Foresight, tells_when_each_comes_next_and_who_is_popular) {
    auto const foresight = foresight_of({7, 8, 7, 9, 9, 7});
    constexpr auto never = Foresight::never;
    EXPECT_EQ(foresight->next_uses(), (std::vector<Foresight::Time>{2, never, 5, 4, never, never}));
    EXPECT_EQ(foresight->most_popular(2), (std::vector<Fingerprint>{7, 9}));
    EXPECT_EQ(foresight->most_popular(9), (std::vector<Fingerprint>{7, 9, 8}));
}

TEST(Min, misses_as_little_as_who_looks_ahead) {
    auto const stream = test::any_stream(2'000, 60);
    for (std::uint64_t entries : {1, 2, 7, 20, 40, 100}) {
        Min min({.entries = entries, .foresight = foresight_of(stream)});
        EXPECT_EQ(misses(min, stream), misses_of_belady(stream, entries)) << entries;
    }
}

TEST(Infinite, misses_each_once) {
    auto const stream = test::any_stream(50'000, 3'000);
    Infinite infinite({});
    EXPECT_EQ(misses(infinite, stream), std::set(stream.begin(), stream.end()).size());
}

TEST(Static, holds_the_most_popular_and_nothing_else) {
    std::vector<Fingerprint> const stream{1, 2, 2, 3, 3, 3, 1, 4};
    Static two({.entries = 2, .foresight = foresight_of(stream)});
    EXPECT_EQ(misses(two, stream), 3u);
    Static all({.entries = 9, .foresight = foresight_of(stream)});
    EXPECT_EQ(misses(all, stream), 0u);
}

}   // namespace
}   // namespace garner::papers
