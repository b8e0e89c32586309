#include "catalog/url_sets.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <unordered_set>
#include <vector>

#include "crawl/folder.hpp"

namespace garner::catalog {
namespace {

using namespace crawl;

std::vector<Fingerprint> any_urls(std::size_t count, std::uint64_t distinct, std::uint64_t seed = 7) {
    std::mt19937_64 random(seed);
    std::vector<Fingerprint> urls;
    for (std::size_t i = 0; i < count; ++i) urls.push_back((random() % distinct + 1) * 0x9e3779b97f4a7c15);
    return urls;
}

/// Calls `look` for each set that needs no others, and for one with a known number of URLs.
template <class Look>
void with_each_set(Look look) {
    for (auto const& row : url_sets()) {
        if (row.elsewhere) continue;
        for (std::uint64_t expected : {0, 20'000}) {
            Folder folder;
            auto made = make_url_set(row.name, {.expected = expected, .memory = 256 * MiB, .directory = folder.path("set")});
            ASSERT_TRUE(made) << row.name << ": " << made.fault_text();
            look(std::string(row.name), **made);
        }
    }
}

TEST(UrlSets, each_answers_in_order_what_is_new) {
    with_each_set([](std::string const& name, UrlSet& set) {
        std::unordered_set<Fingerprint> model;
        auto const urls = any_urls(60'000, 20'000);
        std::vector<std::uint8_t> is_new(urls.size(), 7);
        std::size_t size = 0;
        for (std::size_t from = 0; from < urls.size(); from += size) {
            size = std::min(size * 3 / 2 + 1, urls.size() - from);
            auto const added = set.add(std::span(urls).subspan(from, size), std::span(is_new).subspan(from, size));
            ASSERT_EQ(added.fault, "") << name;
            std::uint64_t fresh = 0;
            for (auto i = from; i < from + size; ++i) {
                bool const expected = model.insert(urls[i]).second;
                ASSERT_EQ(is_new[i] != 0, expected) << name << " at " << i;
                fresh += expected;
            }
            EXPECT_EQ(added.fresh, fresh) << name;
            EXPECT_EQ(set.size(), model.size()) << name;
        }
        EXPECT_GT(set.bits_per_entry(), 0) << name;
    });
}

TEST(UrlSets, each_takes_fingerprints_that_are_no_hashes) {
    with_each_set([](std::string const& name, UrlSet& set) {
        std::vector<Fingerprint> urls;
        for (std::uint64_t i = 0; i < 20'000; ++i) urls.push_back(i);
        for (std::uint64_t i = 0; i < 1'000; ++i) urls.push_back(UINT64_MAX - i), urls.push_back(i << 48);
        std::vector<std::uint8_t> is_new(urls.size());
        EXPECT_EQ(set.add(urls, is_new).fresh, urls.size() - 1) << name;   // 0 occurs twice
        EXPECT_EQ(set.add(urls, is_new).fresh, 0u) << name;
        EXPECT_EQ(set.size(), urls.size() - 1) << name;
    });
}

TEST(UrlSets, an_empty_batch_and_an_empty_set_are_nothing_special) {
    with_each_set([](std::string const& name, UrlSet& set) {
        EXPECT_EQ(set.add({}, {}).fault, "") << name;
        EXPECT_EQ(set.size(), 0u) << name;
        EXPECT_EQ(set.bits_per_entry(), 0) << name;
        EXPECT_EQ(set.sync(), "") << name;
        EXPECT_EQ(set.why_it_forgets().empty(), find_url_set(name)->on_disk) << name;
    });
}

TEST(UrlSets, what_cannot_fit_is_refused_before_anything_is_taken) {
    auto const lines = make_url_set("lines", {.expected = 100'000'000'000, .memory = 1 * GiB});
    EXPECT_FALSE(lines);
    EXPECT_NE(
        lines.fault_text().find("for 100000000000 entries, more than the memory of 1 GiB; raise the memory, or give a directory"),
        std::string::npos)
        << lines.fault_text();
    EXPECT_NE(make_url_set("mercator", {.memory = 16 * MiB}).fault_text().find("needs 128 MiB when empty"), std::string::npos);
    // bytes_for() announces the used memory to within a tenth.
    auto const small = make_url_set("lines", {.expected = 1'000'000, .memory = 16 * MiB});
    ASSERT_TRUE(small) << small.fault_text();
    EXPECT_GE((*small)->memory_bytes(), find_url_set("lines")->bytes_for(1'000'000));
    EXPECT_LE((*small)->memory_bytes(), find_url_set("lines")->bytes_for(1'000'000) * 11 / 10);
}

TEST(UrlSets, a_directory_is_that_of_one_kind_and_one_process) {
    Folder folder;
    for (std::string const name : {"runs", "mercator-file"}) {
        SetOptions const options{.directory = folder.path("missing") / name / "deep", .layers = "query-sort"};
        {
            auto const first = make_url_set(name, options), second = make_url_set(name, options);
            ASSERT_TRUE(first) << first.fault_text();
            EXPECT_NE(second.fault_text().find("in use by another process"), std::string::npos) << second.fault_text();
        }
        auto const other = name == "runs" ? "mercator-file" : "runs";
        EXPECT_NE(make_url_set(other, options).fault_text().find("holds a set " + name + ", not " + other), std::string::npos);
        auto others = options;
        others.layers = "surt";
        EXPECT_NE(make_url_set(name, others).fault_text().find("holds URLs with the layers query-sort, not with the layers surt"),
                  std::string::npos)
            << make_url_set(name, others).fault_text();
        others.layers = "";
        EXPECT_NE(make_url_set(name, others).fault_text().find("not with no layers"), std::string::npos);
        others.layers.reset();
        EXPECT_EQ(make_url_set(name, others).fault_text(), "")
            << "without layers in the options, those of the set are not compared";
        EXPECT_EQ(make_url_set(name, options).fault_text(), "");
    }
}

TEST(UrlSets, an_unknown_name_is_told_with_what_there_is) {
    EXPECT_EQ(make_url_set("line", {}).fault_text().substr(0, 33), "no set \"line\"; valid sets: lines,");
    EXPECT_EQ(make_url_set("lines:there", {}).fault_text().substr(0, 21), "no set \"lines:there\";");
    EXPECT_EQ(make_url_set("redis", {}).fault_text(), "redis: \"\" is not a node; write redis:HOST:PORT,HOST:PORT");
}

}   // namespace
}   // namespace garner::catalog
