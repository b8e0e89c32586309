// Assigns URLs to partitions by host, and collects links for other partitions.
#include "crawl/host_splitter.hpp"

#include <gtest/gtest.h>

#include <map>

#include "crawl/fingerprint.hpp"

namespace garner::crawl {
namespace {

using namespace std::chrono_literals;

CanonicalUrl url_of(std::string const& text) {
    CanonicalUrl url;
    EXPECT_EQ(canonicalise(text, url), UrlFault::none) << text;
    return url;
}

TEST(HostSplitter, keeps_a_host_together) {
    HostSplitter const splitter(7);
    auto const home = splitter.partition_of(url_of("http://a.example/"));
    for (auto const* other : {"https://a.example/b", "http://A.example:8080/?c", "ftp://me@a.example/"})
        EXPECT_EQ(splitter.partition_of(url_of(other)), home) << other;
}

TEST(HostSplitter, spreads_hosts_evenly_and_each_hosts_fingerprints_too) {
    constexpr int hosts = 40'000;
    HostSplitter const splitter(4);
    std::map<std::uint32_t, int> shares, halves;
    for (int i = 0; i < hosts; ++i) {
        auto const url = url_of("http://h" + std::to_string(i) + ".example/");
        auto const partition = splitter.partition_of(url);
        ++shares[partition];
        if (partition == 0) ++halves[fingerprint64(url.text) >> 63];
    }
    ASSERT_EQ(shares.size(), 4u);
    for (auto const& [partition, count] : shares) EXPECT_NEAR(count, hosts / 4, 400) << partition;
    EXPECT_NEAR(halves[0], halves[1], 500);
}

TEST(HostSplitter, says_the_same_tomorrow) {
    // Stored sets depend on these values, so they must not change.
    EXPECT_EQ(host_hash(url_of("http://www.example.org/a")), host_hash(url_of("ws://www.example.org")));
    EXPECT_EQ(HostSplitter(4).partition_of(std::uint64_t{0}), 0u);
    EXPECT_EQ(HostSplitter(4).partition_of(UINT64_MAX), 3u);
    EXPECT_EQ(HostSplitter(1).partition_of(UINT64_MAX), 0u);
    EXPECT_EQ(host_hash(url_of("http://www.example.org/")), 0xdc7ba2bb01a624e4u);
    EXPECT_EQ(fingerprint64("http://www.example.org/"), 0xe1be71dcc715f803u);
    EXPECT_EQ(fingerprint128("http://www.example.org/"), (Fingerprint128{0xbb01052c60144b47u, 0xa87b9088d73f163du}));
}

}   // namespace
}   // namespace garner::crawl
