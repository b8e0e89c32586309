#include "catalog/seen_caches.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "crawl/stream.hpp"

namespace garner::catalog {
namespace {

using namespace crawl;

TEST(SeenCaches, each_answers_a_batch_as_one_by_one) {
    auto const stream = test::any_stream(20'000, 300);
    for (auto const& row : seen_caches()) {
        if (row.foresees) continue;
        auto const options = CacheOptions{.entries = row.name == "quotient" ? 100'000u : 64u};
        auto one_by_one = make_cache(row.name, options), batch = make_cache(row.name, options);
        ASSERT_TRUE(batch) << batch.fault_text();
        std::vector<std::uint8_t> expected, answers(stream.size());
        for (auto url : stream) expected.push_back((*one_by_one)->seen(url));
        for (std::size_t from = 0, size = 0; from < stream.size(); from += size, ++size) {
            auto const taken = std::min(size, stream.size() - from);
            (*batch)->seen_each(std::span(stream).subspan(from, taken), std::span(answers).subspan(from, taken));
        }
        EXPECT_EQ(answers, expected) << row.name;
        EXPECT_GT((*batch)->memory_bits(), 0u) << row.name;
    }
}

TEST(SeenCaches, each_says_whether_it_claims_what_it_cannot_know) {
    auto claims = [](std::string const& spec) {
        auto const made = make_cache(spec, {.entries = 1 << 17});
        EXPECT_TRUE(made) << spec << made.fault_text();
        return made && (*made)->claims();
    };
    for (auto const* spec : {"lru", "clock", "random", "chaining", "scatter", "line", "infinite"})
        EXPECT_FALSE(claims(spec)) << spec;
    for (auto const* spec : {"bloom", "cbf", "sbf", "sbfl", "lru-sbfl", "landmark", "sliding", "jumping", "line32",
                             "chaining:bits=40", "scatter:bits=40"})
        EXPECT_TRUE(claims(spec)) << spec;
    EXPECT_FALSE(claims("quotient"));
}

TEST(SeenCaches, a_wrong_spec_is_named_with_what_there_is) {
    EXPECT_TRUE(read_cache_spec("lru"));
    EXPECT_EQ(read_cache_spec("lur").fault_text().substr(0, 33), "no cache \"lur\"; valid caches: lru");
    EXPECT_EQ(read_cache_spec("lru:x=1").fault_text(), "lru: no setting \"x\"; this policy has no settings");
    EXPECT_EQ(make_cache("lru", {.entries = 0}).fault_text(), "0 entries: the limits are 1 and 2^31");
}

}   // namespace
}   // namespace garner::catalog
