#include "util/fingerprint_map.hpp"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace garner {
namespace {

TEST(FingerprintMap, agrees_with_a_map_while_it_grows_and_shrinks) {
    FingerprintMap map;
    std::unordered_map<Fingerprint, std::uint32_t> model;
    std::mt19937_64 random(1);
    for (std::uint32_t i = 0; i < 200'000; ++i) {
        Fingerprint const url = (random() % 30'000) * 0x9e3779b97f4a7c15;
        auto const known = model.find(url);
        ASSERT_EQ(map.find(url), known == model.end() ? FingerprintMap::none : known->second);
        if (known != model.end() && i % 3 == 0) {
            map.erase(url);
            model.erase(known);
        } else {
            map.at(url) = model[url] = i;
        }
        ASSERT_EQ(map.size(), model.size());
    }
    for (auto const& [url, number] : model) ASSERT_EQ(map.find(url), number);
    std::size_t visited = 0;
    map.each([&](Fingerprint url, std::uint32_t number) { visited += model.at(url) == number; });
    EXPECT_EQ(visited, model.size());
}

TEST(FingerprintMap, tells_apart_what_begins_or_ends_alike) {
    FingerprintMap map;
    for (int shift : {0, 40})
        for (std::uint32_t i = 1; i < 100; ++i) map.at(std::uint64_t{i} << shift) = i;
    for (int shift : {0, 40})
        for (std::uint32_t i = 1; i < 100; ++i) EXPECT_EQ(map.find(std::uint64_t{i} << shift), i);
    EXPECT_EQ(map.find(UINT64_MAX), FingerprintMap::none);
}

}   // namespace
}   // namespace garner
