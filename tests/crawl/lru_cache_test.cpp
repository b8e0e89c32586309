#include "crawl/lru_cache.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <map>
#include <random>

namespace garner::crawl {
namespace {

/// LRU, written naively.
struct ListModel {
    std::size_t entries;
    std::list<Fingerprint> newest_first = {};

    Lru::Use use(Fingerprint url) {
        auto const found = std::find(newest_first.begin(), newest_first.end(), url);
        Lru::Use use{.held = found != newest_first.end()};
        if (use.held) newest_first.erase(found);
        newest_first.push_front(url);
        if (newest_first.size() > entries) use.left = newest_first.back(), newest_first.pop_back();
        return use;
    }
};

TEST(Lru, is_the_list_of_what_came_last) {
    for (std::uint64_t entries : {1, 2, 3, 17, 64}) {
        Lru lru({.entries = entries});
        ListModel model{entries};
        std::mt19937_64 random(entries);
        for (int i = 0; i < 50'000; ++i) {
            auto const url = random() % (entries * 2 + 1);
            auto const got = lru.use(url), expected = model.use(url);
            ASSERT_EQ(got.held, expected.held);
            ASSERT_EQ(got.left, expected.left);
        }
    }
}

TEST(FingerprintMap, finds_what_was_put_and_not_erased) {
    FingerprintMap map;
    std::map<Fingerprint, std::uint32_t> model;
    std::mt19937_64 random(3);
    for (std::uint32_t i = 0; i < 200'000; ++i) {
        auto const url = random() % 500;
        if (random() % 2) {
            map.at(url) = model[url] = i;
        } else if (model.erase(url)) {
            map.erase(url);
        }
        ASSERT_EQ(map.size(), model.size());
        auto const other = random() % 500;
        auto const found = model.find(other);
        ASSERT_EQ(map.find(other), found == model.end() ? FingerprintMap::none : found->second);
    }
    std::map<Fingerprint, std::uint32_t> all;
    map.each([&](Fingerprint url, std::uint32_t number) { all[url] = number; });
    EXPECT_EQ(all, model);
}

}   // namespace
}   // namespace garner::crawl
