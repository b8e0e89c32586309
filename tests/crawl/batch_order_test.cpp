#include "crawl/batch_order.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace garner::crawl {
namespace {

using Urls = std::vector<Fingerprint>;

/// Takes all slices, reports odd fingerprints as new, and checks the answers.
void expect_ordered(Urls const& earlier, Urls const& batch) {
    std::map<Fingerprint, bool> firsts;   // in order; true if the first occurrence is in the batch
    for (auto url : earlier) firsts.try_emplace(url, false);
    for (auto url : batch) firsts.try_emplace(url, true);

    BatchOrder order(earlier, batch);
    Urls urls, all;
    std::vector<std::uint32_t> places;
    for (unsigned part = 0; part < 256; ++part) {
        order.open_part(part);
        for (unsigned slice = part * 256; slice < (part + 1) * 256; ++slice) {
            urls.clear(), places.clear();
            order.read_slice(slice, urls, places);
            ASSERT_EQ(urls.size(), places.size());
            for (std::size_t i = 0; i < urls.size(); ++i)
                if (urls[i] % 2 == 1) order.found_new(places[i]);
            all.insert(all.end(), urls.begin(), urls.end());
        }
        order.close_part();
    }
    ASSERT_EQ(all.size(), firsts.size());
    std::size_t at = 0;
    for (auto const& [url, ours] : firsts) ASSERT_EQ(all[at++], url);

    std::vector<std::uint8_t> is_new(batch.size(), 7);
    order.answer(is_new);
    for (std::size_t i = 0; i < batch.size(); ++i) {
        auto& first = firsts[batch[i]];
        ASSERT_EQ(is_new[i], first && batch[i] % 2 == 1 ? 1 : 0) << i;
        first = false;
    }
}

Urls shuffled_urls(std::size_t count, std::uint64_t distinct) {
    std::mt19937_64 random(count);
    Urls urls;
    for (std::size_t i = 0; i < count; ++i) urls.push_back((random() % distinct + 1) * 0x9e3779b97f4a7c15);
    return urls;
}

TEST(BatchOrder, gives_each_once_in_order_and_the_answers_as_they_came) {
    expect_ordered({}, {});
    expect_ordered({}, shuffled_urls(20'000, 9'000));
    expect_ordered(shuffled_urls(3'000, 9'000), shuffled_urls(20'000, 9'000));
    expect_ordered(shuffled_urls(3'000, 9'000), {});
}

TEST(BatchOrder, takes_many_that_begin_alike) {
    Urls urls;
    for (std::uint64_t i = 0; i < 80'000; ++i) urls.push_back(0xabcd000000000000 | (i * 7919 % 50'000));   // one slice
    expect_ordered({}, urls);
    urls.resize(3'000);   // few enough to be numbered
    expect_ordered(urls, {UINT64_MAX, 0, UINT64_MAX, urls[5]});
}

}   // namespace
}   // namespace garner::crawl
