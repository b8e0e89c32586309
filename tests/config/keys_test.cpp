#include "config/keys.hpp"

#include <gtest/gtest.h>

#include <tuple>

#include "describe.hpp"
#include "support.hpp"

namespace garner::config {
namespace {

TEST(Keys, the_schema_is_made_from_the_table) { expect_made("etc/garner.schema.json", schema_text(), "Keys.*"); }

TEST(Keys, the_documentation_is_made_from_the_table) {
    expect_made("docs/reference/configuration.md", documentation_text(), "Keys.*");
}

TEST(Keys, every_default_in_the_documentation_is_accepted_and_changes_nothing) {
    Config const fresh;
    for (auto const& note : configuration().describe().notes) {
        if (note.preset.empty() || note.path.find("[]") != note.path.npos) continue;
        auto const loaded = load("{}", {note.path + "=" + note.preset});
        EXPECT_EQ(told(loaded), "") << note.path;
        EXPECT_EQ(loaded.config.memory.size, fresh.memory.size);
        EXPECT_EQ(loaded.config.proxy.deadlines.fill, fresh.proxy.deadlines.fill);
    }
}

struct FormerKey {
    char const* was;
    char const* value;
    char const* now;   // nullptr: removed
};

constexpr FormerKey former_keys[]{
    {"caching.follow_patience", "2s", "caching.follow_timeout"},
    {"caching.rules[0].max_ttl", "2s", "caching.rules[0].ttl_max"},
    {"caching.rules[0].min_ttl", "2s", "caching.rules[0].ttl_min"},
    {"digest.rebuild", "9s", "digest.rebuild_interval"},
    {"disk.patience", "1s", "disk.timeout"},
    {"disk.rate", "1MB", "disk.rate_max"},
    {"disk.readers", "3", "disk.threads"},
    {"disk.sync", "1s", "disk.sync_interval"},
    {"dns.positive_max", "9s", "dns.positive_ttl"},
    {"icp.queries_per_second", "7", "icp.queries_per_second_max"},
    {"limits.connections", "50", "limits.connections_max"},
    {"limits.fields", "50", "limits.fields_max"},
    {"limits.head_bytes", "32KiB", "limits.head_max"},
    {"limits.heads", "1MiB", "limits.heads_max"},
    {"limits.max_hops", "9", "limits.hops_max"},
    {"limits.min_rate", "900", "limits.rate_min"},
    {"limits.min_rate_after", "9s", "limits.rate_min_after"},
    {"limits.target_bytes", "4KiB", "limits.target_max"},
    {"memory.fill_share", "0.5", "memory.fill_share_max"},
    {"peers[0].htcp", "4827", "peers[0].htcp_port"},
    {"peers[0].http", "3129", "peers[0].http_port"},
    {"peers[0].icp", "3131", "peers[0].icp_port"},
    {"peers[0].max_connections", "3", "peers[0].connections_max"},
    {"pool.idle_per_origin", "3", "pool.idle_per_origin_max"},
    {"pool.idle_total", "30", "pool.idle_max"},
    {"seen.batch_links", "30", "seen.batch_links_max"},
    {"seen.body", "3MiB", "seen.body_max"},
    {"seen.cache_entries", "300", "seen.cache_entries_max"},
    {"seen.peer_answer", "3s", "seen.peer_timeout"},
    {"seen.waiting_links", "300", "seen.waiting_links_max"},
    {"dns.positive_min", "1s", nullptr},
    {"icp.source_echo", "7", nullptr},
    {"limits.interim_responses", "16", nullptr},
    {"limits.pipelined_per_turn", "16", nullptr},
    {"memory.shards", "64", nullptr},
    {"memory.variants_per_url", "64", nullptr},
};

/// All numbers among the members that former and current keys set.
auto values(Config const& config) {
    auto const& limits = config.proxy.limits;
    auto const& disk = config.disk;
    auto const peer = config.mesh.peers.empty() ? icp::PeerOptions() : config.mesh.peers[0];
    auto const rule = config.proxy.caching.rules.empty() ? http::CachingRule() : config.proxy.caching.rules[0];
    return std::tuple(config.proxy.caching.follow_patience, rule.ttl_max, rule.ttl_min, config.mesh.digest.rebuild, disk.patience,
                      disk.rate, disk.readers, disk.sync, config.dns.positive_ttl, config.mesh.queries_per_second,
                      limits.connections, limits.connections_per_client, limits.head.fields, limits.head.bytes, limits.heads,
                      limits.max_hops, limits.min_rate.per_second, limits.min_rate.after, limits.head.target,
                      config.memory.fill_share, peer.htcp, peer.http, peer.icp, peer.max_connections, config.pool.idle_per_origin,
                      config.pool.idle_total, config.seen.batch_links, config.seen.body_bytes, config.seen.cache_entries,
                      config.seen.peer_answer, config.seen.waiting_links);
}

std::vector<std::string> assigned(char const* key, char const* value) {
    std::vector<std::string> sets{std::string(key) + "=" + value};
    if (sets[0].starts_with("peers")) sets.insert(sets.end(), {"peers[0].name=a", "peers[0].host=10.0.0.3"});
    return sets;
}

TEST(Keys, a_former_name_is_read_as_the_present_one_and_told) {
    for (auto const& [was, value, now] : former_keys) {
        auto const loaded = load("{}", assigned(was, value));
        EXPECT_EQ(told(loaded), "") << was;
        ASSERT_EQ(loaded.notices.size(), 1u) << was;
        EXPECT_EQ(loaded.notices[0].key, was);
        auto const text = now ? std::string("was renamed to ") + now : "this key no longer has an effect";
        EXPECT_EQ(loaded.notices[0].text, text);
        if (!now) continue;
        auto const same = load("{}", assigned(now, value));
        EXPECT_EQ(told(same), "") << now;
        EXPECT_TRUE(same.notices.empty()) << now;
        EXPECT_EQ(values(loaded.config), values(same.config)) << was;
        EXPECT_NE(values(loaded.config), values(load("{}", assigned("peers[0].weight", "1")).config)) << now;
    }
}

TEST(Keys, a_former_name_beside_the_present_one_is_a_fault) {
    for (auto const& [was, value, now] : former_keys) {
        if (!now) continue;
        auto sets = assigned(was, value);
        sets.push_back(std::string(now) + "=" + value);
        EXPECT_EQ(told(load("{}", sets)), std::string("--set ") + was + ": is the former name of " + now +
                                              ", which is also given (keep only " + now + ")\n");
    }
}

TEST(Keys, notices_and_faults_name_a_key_as_it_is_written) {
    auto const loaded = load(R"({
  "memory": { "shards": [] },
  "limits": {
    "head_bytes": "64 KiB",
    "target_bytes": "1 MiB"
  },
  "disk": { "patience": "1m" } })");
    ASSERT_EQ(loaded.notices.size(), 4u);
    EXPECT_EQ(text_of(loaded.notices[0]), "test.json:2: memory.shards: this key no longer has an effect (remove it)");
    EXPECT_EQ(text_of(loaded.notices[1]), "test.json:4: limits.head_bytes: was renamed to limits.head_max (write head_max)");
    EXPECT_EQ(told(loaded),
              "test.json:5: limits.target_bytes: is not below limits.head_max, which includes the target (lower it, or raise "
              "head_max)\n"
              "test.json:7: disk.patience: 1m is out of range (write a time between 10ms and 10s)\n");
}

}   // namespace
}   // namespace garner::config
