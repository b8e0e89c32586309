#include "redis/redis_set.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <unordered_set>

#include "catalog/url_sets.hpp"
#include "support/programs.hpp"
#include "support/redis.hpp"

namespace garner::redis {
namespace {

using namespace catalog;
using namespace crawl;

using test::is_installed;
using test::RedisServer;

std::vector<Fingerprint> any_urls(std::size_t count, std::uint64_t distinct, std::uint64_t seed = 7) {
    std::mt19937_64 random(seed);
    std::vector<Fingerprint> urls;
    for (std::size_t i = 0; i < count; ++i) urls.push_back((random() % distinct + 1) * 0x9e3779b97f4a7c15);
    return urls;
}

/// Distinct URLs, also across seeds.
std::vector<Fingerprint> different_urls(std::size_t count, std::uint64_t seed = 1) {
    std::vector<Fingerprint> urls;
    for (std::size_t i = 0; i < count; ++i) urls.push_back((seed << 32 | i) * 0x9e3779b97f4a7c15);
    return urls;
}

struct Answers {
    std::vector<std::uint8_t> is_new;
    UrlSet::Added added;
    std::size_t fresh() const { return static_cast<std::size_t>(std::ranges::count(is_new, 1)); }
};

Answers ask(UrlSet& set, std::vector<Fingerprint> const& batch) {
    Answers answers{std::vector<std::uint8_t>(batch.size(), 7), {}};
    answers.added = set.add(batch, answers.is_new);
    return answers;
}

std::unique_ptr<UrlSet> made(std::string const& address, std::uint64_t expected = 0) {
    auto set = make_url_set(address, {.expected = expected});
    EXPECT_EQ(set.fault_text(), "") << address;
    return *std::move(set);
}

/// One cluster for all scenes; each scene has its own key prefix.
class RedisScene : public testing::Test {
protected:
    static void SetUpTestSuite() {
        if (test::is_installed("redis-server")) cluster_ = std::make_unique<test::RedisCluster>();
    }
    static void TearDownTestSuite() { cluster_.reset(); }
    void SetUp() override{NEEDS("redis-server")}

    test::RedisCluster& cluster() {
        return *cluster_;
    }
    std::string address(std::string const& more = "") {
        auto const* scene = testing::UnitTest::GetInstance()->current_test_info();
        return cluster().address() + ",prefix=" + scene->name() + ":" + more;
    }
    std::unique_ptr<UrlSet> set(std::string const& more = "", std::uint64_t expected = 0) { return made(address(more), expected); }

private:
    static inline std::unique_ptr<test::RedisCluster> cluster_;
};

TEST_F(RedisScene, answers_in_order_what_is_new) {
    for (std::uint64_t expected : {0, 20'000}) {
        auto const set = this->set(expected ? "known:" : "", expected);
        ASSERT_TRUE(set);
        std::unordered_set<Fingerprint> model;
        auto const urls = any_urls(60'000, 20'000);
        std::size_t size = 0;
        for (std::size_t from = 0; from < urls.size(); from += size) {
            size = std::min(size * 3 / 2 + 1, urls.size() - from);
            std::vector<Fingerprint> const batch(urls.begin() + static_cast<std::ptrdiff_t>(from),
                                                 urls.begin() + static_cast<std::ptrdiff_t>(from + size));
            auto const answers = ask(*set, batch);
            ASSERT_EQ(answers.added.fault, "");
            for (std::size_t i = 0; i < size; ++i) ASSERT_EQ(answers.is_new[i] != 0, model.insert(batch[i]).second) << from + i;
            EXPECT_EQ(answers.added.fresh, answers.fresh());
            EXPECT_EQ(answers.added.doubtful, 0u);
            EXPECT_EQ(set->size(), model.size());
        }
        EXPECT_GT(set->bits_per_entry(), 0);
    }
}

TEST_F(RedisScene, takes_fingerprints_that_are_no_hashes_and_empty_batches) {
    std::vector<Fingerprint> urls;
    for (std::uint64_t i = 0; i < 2'000; ++i) urls.push_back(i), urls.push_back(UINT64_MAX - i), urls.push_back((i + 1) << 48);
    auto const set = this->set();
    EXPECT_EQ(ask(*set, {}).added.fault, "");
    EXPECT_EQ(set->size(), 0u);
    EXPECT_EQ(ask(*set, urls).added.fresh, urls.size());
    EXPECT_EQ(ask(*set, urls).added.fresh, 0u);
}

TEST_F(RedisScene, of_many_crawlers_one_is_told_of_each_url) {
    constexpr std::size_t crawlers = 4, distinct = 30'000;
    std::map<Fingerprint, int> told;
    std::mutex telling;
    std::vector<std::thread> threads;
    for (std::size_t c = 0; c < crawlers; ++c) {
        threads.emplace_back([&, c] {
            auto const set = this->set();
            for (std::size_t b = 0; b < 20; ++b) {
                auto const batch = any_urls(4'000, distinct, c * 100 + b);
                auto const answers = ask(*set, batch);
                EXPECT_EQ(answers.added.fault, "");
                EXPECT_EQ(answers.added.doubtful, 0u);
                std::lock_guard const lock(telling);
                for (std::size_t i = 0; i < batch.size(); ++i) told[batch[i]] += answers.is_new[i];
            }
        });
    }
    for (auto& thread : threads) thread.join();
    for (auto const& [url, times] : told) ASSERT_EQ(times, 1) << url;
    EXPECT_EQ(set()->size(), told.size());   // the URLs that were reported as new
}

TEST_F(RedisScene, who_joins_goes_on_with_the_buckets_that_there_are) {
    auto const urls = different_urls(3'000);
    EXPECT_EQ(ask(*set("", 100'000'000), urls).added.fresh, urls.size());
    auto const joined = set("", 10);
    EXPECT_EQ(ask(*joined, urls).added.fresh, 0u);
    EXPECT_EQ(joined->size(), urls.size());
}

TEST_F(RedisScene, slots_are_those_of_the_cluster) {
    for (std::string const key : {"seen:000000", "seen:form", "seen:3fffff", "x"})
        EXPECT_EQ(cluster().node(0).tell({"CLUSTER", "KEYSLOT", key}), std::to_string(redis_slot(key)));
}

TEST_F(RedisScene, a_slot_may_be_moving) {
    constexpr std::uint64_t expected = 1;   // few buckets, so that each holds many URLs
    auto const set = this->set("", expected);
    auto const before = different_urls(2'000, 1), after = different_urls(20'000, 2);
    ASSERT_EQ(ask(*set, before).added.fresh, before.size());
    // Slots in all three migration states: some keys moved, all keys moved, and ownership changed.
    std::vector<unsigned> moving;
    for (char const c : std::string("0123456789abcdef"))
        moving.push_back(redis_slot(std::string("a_slot_may_be_moving:0") + c + '0'));
    for (std::size_t i = 0; i < moving.size(); ++i) {
        auto const slot = std::to_string(moving[i]);
        auto const from = cluster().node_of(moving[i]), to = (from + 1) % 3;
        cluster().node(to).tell({"CLUSTER", "SETSLOT", slot, "IMPORTING", cluster().id(from)});
        cluster().node(from).tell({"CLUSTER", "SETSLOT", slot, "MIGRATING", cluster().id(to)});
        if (i % 3 == 0) continue;
        std::istringstream keys(cluster().node(from).tell({"CLUSTER", "GETKEYSINSLOT", slot, "100"}));
        for (std::string key; keys >> key;)
            cluster().node(from).tell({"MIGRATE", "127.0.0.1", std::to_string(cluster().node(to).port()), key, "0", "5000"});
        if (i % 3 == 1) continue;
        cluster().node(to).tell({"CLUSTER", "SETSLOT", slot, "NODE", cluster().id(to)});
        cluster().node(from).tell({"CLUSTER", "SETSLOT", slot, "NODE", cluster().id(to)});
    }
    auto const known = ask(*set, before);
    EXPECT_EQ(known.added.fault, "");
    EXPECT_EQ(known.added.fresh, 0u);
    auto const fresh = ask(*set, after);
    EXPECT_EQ(fresh.added.fresh, after.size());
    EXPECT_EQ(fresh.added.doubtful, 0u);
    EXPECT_EQ(ask(*set, after).added.fresh, 0u);
    for (auto const slot : moving)
        for (std::size_t i = 0; i < 3; ++i) cluster().node(i).tell({"CLUSTER", "SETSLOT", std::to_string(slot), "STABLE"});
}

TEST_F(RedisScene, lost_connections_lose_no_url) {
    constexpr std::size_t distinct = 30'000;
    std::atomic<bool> over{false};
    std::thread vandal([&] {
        for (std::size_t i = 0; !over; ++i) {
            cluster().node(i % 3).tell({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
            std::this_thread::sleep_for(milliseconds{2});
        }
    });
    std::map<Fingerprint, std::uint64_t> told;
    std::uint64_t doubtful = 0, fresh = 0;
    std::mutex telling;
    std::vector<std::thread> crawlers;
    for (std::size_t c = 0; c < 2; ++c) {
        crawlers.emplace_back([&, c] {
            auto const set = this->set();
            for (std::size_t b = 0; b < 12; ++b) {
                auto const batch = any_urls(4'000, distinct, c * 100 + b);
                auto const answers = ask(*set, batch);
                std::lock_guard const lock(telling);
                ASSERT_EQ(answers.added.fault, "");
                EXPECT_EQ(answers.added.fresh, answers.fresh());
                doubtful += answers.added.doubtful, fresh += answers.added.fresh;
                for (std::size_t i = 0; i < batch.size(); ++i) told[batch[i]] += answers.is_new[i];
            }
        });
    }
    for (auto& crawler : crawlers) crawler.join();
    over = true;
    vandal.join();
    for (auto const& [url, times] : told) ASSERT_GE(times, 1u) << url;
    EXPECT_LE(fresh - told.size(), doubtful);   // at most the number reported as doubtful
}

TEST_F(RedisScene, what_a_failed_batch_has_put_in_is_owed_to_who_asked) {
    auto const set = this->set(",patience=2s"), other = this->set(",patience=2s");
    auto const known = different_urls(5'000, 1);
    ASSERT_EQ(ask(*set, known).added.fresh, known.size());
    auto batch = different_urls(5'000, 2);
    batch.insert(batch.end(), known.begin(), known.end());
    cluster().node(1).child().signal(SIGSTOP);
    auto const failed = ask(*set, batch);
    cluster().node(1).child().signal(SIGCONT);
    EXPECT_NE(failed.added.fault.find("redis: 127.0.0.1:"), std::string::npos) << failed.added.fault;
    EXPECT_NE(failed.added.fault.find("no reply for 2s"), std::string::npos) << failed.added.fault;
    cluster().wait_until_sound();
    auto const again = ask(*set, batch);
    ASSERT_EQ(again.added.fault, "");
    for (std::size_t i = 0; i < 5'000; ++i) ASSERT_EQ(again.is_new[i], 1) << i;
    EXPECT_LE(again.added.fresh - 5'000, again.added.doubtful);
    EXPECT_EQ(ask(*set, batch).added.fresh, 0u);
    EXPECT_EQ(ask(*other, batch).added.fresh, 0u);
}

TEST_F(RedisScene, full_memory_is_told_and_nothing_lost) {
    auto const set = this->set(), late = this->set();
    auto const batch = different_urls(20'000);
    cluster().node(2).tell({"CONFIG", "SET", "maxmemory", "1mb"});
    auto const failed = ask(*set, batch);
    cluster().node(2).tell({"CONFIG", "SET", "maxmemory", "0"});
    EXPECT_NE(failed.added.fault.find(cluster().node(2).endpoint() + " has no memory for more URLs; raise its maxmemory"),
              std::string::npos)
        << failed.added.fault;
    EXPECT_GT(set->memory_bytes(), late->memory_bytes());
    // A repeated batch reports all URLs of the failed call; another client's
    // batch in between gets only those that had not been inserted.
    auto const between = ask(*late, batch), again = ask(*set, batch);
    EXPECT_EQ(again.added.doubtful, 0u);
    for (std::size_t i = 0; i < batch.size(); ++i) ASSERT_EQ(between.is_new[i] + again.is_new[i], 1) << i;
    EXPECT_EQ(set->memory_bytes(), late->memory_bytes());
}

TEST_F(RedisScene, a_cluster_that_would_forget_urls_is_refused) {
    cluster().node(1).tell({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru"});
    auto const refused = make_url_set(address(), {});
    cluster().node(1).tell({"CONFIG", "SET", "maxmemory-policy", "noeviction"});
    EXPECT_FALSE(refused);
    EXPECT_EQ(refused.fault_text(), "redis: " + cluster().node(1).endpoint() +
                                        ": its maxmemory-policy is allkeys-lru; set it to noeviction, or the set loses URLs");
}

TEST_F(RedisScene, other_keys_of_that_prefix_are_told) {
    RedisServer alone;
    auto const there = "redis:" + alone.endpoint();
    alone.tell({"SET", "seen:form", "a letter"});
    EXPECT_EQ(make_url_set(there, {}).fault_text(),
              "redis: the key seen:form belongs to another program or version; choose another prefix=");
    auto const set = made(there + ",prefix=mine:", 1);
    for (int i = 0; i < 1'024; ++i) {
        char key[16];
        std::snprintf(key, sizeof key, "mine:%03x", i);
        if (i % 256 == 0) alone.tell({"SET", key, "a letter"});
    }
    auto const failed = ask(*set, different_urls(10'000));
    EXPECT_NE(failed.added.fault.find("WRONGTYPE"), std::string::npos) << failed.added.fault;
}

TEST_F(RedisScene, one_server_alone_will_do_and_may_want_a_password) {
    RedisServer alone({"--requirepass", "sesame"});
    test::TempDir folder;
    auto const there = "redis:" + alone.endpoint();
    EXPECT_NE(make_url_set(there, {}).fault_text().find("NOAUTH"), std::string::npos) << make_url_set(there, {}).fault_text();
    auto const wrong = there + ",password-file=" + folder.write("wrong", "sesam\n");
    EXPECT_NE(make_url_set(wrong, {}).fault_text().find("WRONGPASS"), std::string::npos) << make_url_set(wrong, {}).fault_text();
    auto const set = made(there + ",password-file=" + folder.write("right", "sesame\n"));
    EXPECT_EQ(ask(*set, different_urls(10'000)).added.fresh, 10'000u);
}

TEST_F(RedisScene, sync_says_who_would_forget_when_the_power_fails) {
    auto const set = this->set();
    EXPECT_NE(set->sync().find("its appendonly is no, not yes"), std::string::npos) << set->sync();
    EXPECT_EQ(set->why_it_forgets(), set->sync());
    cluster().tell_all({"CONFIG", "SET", "appendonly", "yes"});
    EXPECT_NE(set->sync().find("its appendfsync is everysec, not always"), std::string::npos) << set->sync();
    cluster().tell_all({"CONFIG", "SET", "appendfsync", "always"});
    EXPECT_EQ(set->sync(), "");
    EXPECT_EQ(this->set()->why_it_forgets(), "");
    cluster().tell_all({"CONFIG", "SET", "appendfsync", "everysec"});
    cluster().tell_all({"CONFIG", "SET", "appendonly", "no"});
}

TEST_F(RedisScene, more_are_not_expected_than_it_was_begun_for) {
    ASSERT_TRUE(set("", 1'000));
    auto const larger = make_url_set(address(), {.expected = 10'000'000});
    EXPECT_FALSE(larger);
    EXPECT_NE(larger.fault_text().find("was created for 393216 entries at most, and 10000000 are expected; choose another prefix="),
              std::string::npos)
        << larger.fault_text();
    EXPECT_TRUE(set("", 2'000));
    EXPECT_TRUE(set());
}

TEST_F(RedisScene, where_nobody_is_that_is_told_at_once) {
    auto const nobody = "127.0.0.1:" + std::to_string(test::free_port());
    EXPECT_EQ(make_url_set("redis:" + nobody, {}).fault_text(), "redis: " + nobody + ": Connection refused");
    // One reachable address is enough.
    EXPECT_TRUE(make_url_set("redis:" + nobody + "," + address().substr(6), {}));
}

TEST_F(RedisScene, a_replica_goes_on_for_a_master_that_died) {
    test::RedisCluster own;
    auto const replica = own.add_replica(1);
    auto const set = made(own.address());
    auto const urls = different_urls(10'000, 1), more = different_urls(10'000, 2);
    ASSERT_EQ(ask(*set, urls).added.fresh, urls.size());
    ASSERT_TRUE(test::eventually([&] { return own.node(1).tell({"DBSIZE"}) == own.node(replica).tell({"DBSIZE"}); }));
    own.node(1).child().signal(SIGKILL);
    auto const answers = ask(*set, more);
    ASSERT_EQ(answers.added.fault, "");
    EXPECT_EQ(answers.added.fresh, more.size());
    EXPECT_EQ(ask(*set, urls).added.fresh, 0u);
    EXPECT_NE(own.node(replica).tell({"ROLE"}).find("master"), std::string::npos);
}

TEST(RedisLoss, of_a_server_that_restarts_empty_is_told_and_the_form_is_written_again) {
    NEEDS("redis-server");
    RedisServer server;
    auto const address = "redis:" + server.endpoint();
    auto const set = made(address, 100'000);
    auto const urls = different_urls(10'000);
    ASSERT_EQ(ask(*set, urls).added.fresh, urls.size());
    auto const form = server.tell({"GET", "seen:form"});
    server.restart_empty();
    auto const answers = ask(*set, urls);
    EXPECT_EQ(answers.added.fault, "");
    EXPECT_EQ(answers.added.fresh, urls.size()) << "they are lost";
    EXPECT_NE(answers.added.loss.find("has lost URLs of the set with prefix=seen:"), std::string::npos) << answers.added.loss;
    EXPECT_NE(answers.added.loss.find("10000 URLs were known"), std::string::npos) << answers.added.loss;
    EXPECT_EQ(server.tell({"GET", "seen:form"}), form);
    auto const again = ask(*set, urls);
    EXPECT_EQ(again.added.fresh, 0u);
    EXPECT_EQ(again.added.loss, "") << "told once";
    auto const joined = made(address, 1'000);
    EXPECT_EQ(ask(*joined, urls).added.fresh, 0u) << "the same buckets, although fewer entries are expected";
}

TEST(RedisLoss, after_which_another_crawler_has_chosen_other_buckets_is_refused) {
    NEEDS("redis-server");
    RedisServer server;
    auto const address = "redis:" + server.endpoint();
    auto const set = made(address, 100'000);
    auto const urls = different_urls(1'000);
    ask(*set, urls);
    server.restart_empty();
    auto const other = made(address, 10'000'000);
    ASSERT_EQ(ask(*other, urls).added.fresh, urls.size());
    for (int i = 0; i < 2; ++i) {
        auto const answers = ask(*set, urls);
        EXPECT_NE(answers.added.fault.find("another crawler has created the set"), std::string::npos) << answers.added.fault;
    }
    EXPECT_EQ(ask(*other, urls).added.fresh, 0u);
}

TEST(RedisLoss, of_one_node_of_several_is_told) {
    NEEDS("redis-server");
    test::RedisCluster own;
    auto const set = made(own.address(), 10'000);
    auto const urls = different_urls(10'000), more = different_urls(1, 2);
    ASSERT_EQ(ask(*set, urls).added.fresh, urls.size());
    auto const without_form = (own.node_of(redis_slot("seen:form")) + 1) % own.size();
    std::this_thread::sleep_for(std::chrono::milliseconds{1'100});
    EXPECT_EQ(ask(*set, more).added.loss, "");
    own.node(without_form).tell({"FLUSHALL"});
    std::this_thread::sleep_for(std::chrono::milliseconds{1'100});
    EXPECT_NE(ask(*set, more).added.loss.find("has lost URLs"), std::string::npos);
}

TEST(RedisAddress, what_is_wrong_with_one_is_told) {
    auto expect = [](std::string const& address, std::string const& fault) {
        RedisAddress to;
        EXPECT_EQ(read_redis_address(address, to), fault) << address;
    };
    expect("", "\"\" is not a node; write redis:HOST:PORT,HOST:PORT");
    expect("localhost", "\"localhost\" is not a node; write redis:HOST:PORT,HOST:PORT");
    expect("localhost:0", "\"localhost:0\" is not a node; write redis:HOST:PORT,HOST:PORT");
    expect("localhost:70000", "\"localhost:70000\" is not a node; write redis:HOST:PORT,HOST:PORT");
    expect(":7000", "\":7000\" is not a node; write redis:HOST:PORT,HOST:PORT");
    expect("prefix=a", "no node; write redis:HOST:PORT,HOST:PORT");
    expect("a:1,prefix={x}", "prefix={x} is not 1 to 64 letters, digits and signs other than braces");
    expect("a:1,patience=2", "patience=2 is not a time of at least 100ms; write it like 20s");
    expect("a:1,password-file=/none", "password-file=/none cannot be read, or contains no password");
    expect("a:1,speed=2", "no option \"speed\"; valid options: prefix, patience, password-file");
    expect("a:1,prefix=x,prefix=y", "prefix= is given twice; remove one");
    expect("a:1,patience=2s,b:1,patience=2s", "patience= is given twice; remove one");
    RedisAddress to;
    EXPECT_EQ(read_redis_address("a.example:7000,[::1]:7001,prefix=x/,patience=3s", to), "");
    ASSERT_EQ(to.nodes.size(), 2u);
    EXPECT_EQ(to.nodes[0].text(), "a.example:7000");
    EXPECT_EQ(to.nodes[1].host, "::1");
    EXPECT_EQ(to.nodes[1].text(), "[::1]:7001");
    EXPECT_EQ(to.prefix, "x/");
    EXPECT_EQ(to.patience, milliseconds{3'000});
}

}   // namespace
}   // namespace garner::redis
