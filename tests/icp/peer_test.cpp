#include "icp/peer.hpp"

#include "icp/digest.hpp"

#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <atomic>
#include <sstream>
#include <thread>

#include "icp/digest.hpp"
#include "icp/neighbours.hpp"
#include "io/log.hpp"
#include "support/made.hpp"

namespace garner::icp {
namespace {

using std::chrono::operator""ms;
using std::chrono::operator""us;

/// Collects log messages during its lifetime, one per line: "warning: text".
class Logged {
public:
    Logged() : before_(spdlog::default_logger()) {
        auto logger = std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_));
        logger->set_pattern("%l: %v");
        spdlog::set_default_logger(logger);
    }
    ~Logged() { spdlog::set_default_logger(before_); }
    std::string take() {
        auto const text = text_.str();
        text_.str({});
        return text;
    }

private:
    std::shared_ptr<spdlog::logger> before_;
    std::ostringstream text_;
};

Reply answer(ReplyKind said) {
    Reply answer;
    answer.kind = said;
    return answer;
}

constexpr SteadyTime start{seconds{1'000}};

TEST(APeer, is_logged_once_when_it_is_dead_and_once_when_it_is_back) {
    Logged log;
    auto options = parent("campus");
    Peer peer(options);
    auto now = start;
    for (int i = 0; i < 100; ++i) {
        peer.asked(now);
        now += 1ms;
        peer.expired(now);
    }
    EXPECT_EQ(log.take(), "warning: parent \"campus\" (10.0.0.3:3128) does not reply: unused until it replies again\n");
    for (int i = 0; i < 3; ++i) peer.answered(answer(ReplyKind::miss), 1ms, now);
    EXPECT_EQ(log.take(), "info: parent \"campus\" (10.0.0.3:3128) is available again\n");
    for (int i = 0; i < 3; ++i) peer.connect_failed("connection refused", now);
    EXPECT_EQ(log.take(), "warning: parent \"campus\" (10.0.0.3:3128) cannot be used: connection refused; retrying\n");
    for (int i = 0; i < 3; ++i) peer.connected(1ms, now);
    EXPECT_EQ(log.take(), "info: parent \"campus\" (10.0.0.3:3128) is available again\n");
}

TEST(APeer, that_is_only_watched_for_PAC_files_is_logged_as_a_proxy_of_them) {
    Logged log;
    auto options = parent("");
    options.no_query = true;
    Peer peer(options);
    for (int i = 0; i < 3; ++i) peer.connect_failed("connection refused", start);
    EXPECT_EQ(log.take(), "warning: proxy 10.0.0.3:3128 of pac.proxies cannot be used: connection refused; retrying\n");
}

TEST(APeer, is_named_as_it_was_given) {
    Logged log;
    auto options = sibling("six");
    options.host = "2001:db8::1";
    Peer(options).connect_failed("x", start);
    options.host = "cache.example";
    Peer(options).connect_failed("x", start);
    EXPECT_EQ(log.take(), "warning: sibling \"six\" ([2001:db8::1]:3128) cannot be used: x; retrying\n"
                          "warning: sibling \"six\" (cache.example:3128) cannot be used: x; retrying\n");
}

TEST(APeer, has_its_view_and_its_figures) {
    Logged log;
    auto const peer = std::make_shared<Peer>(sibling("s"));
    auto view = peer->view(start);
    EXPECT_EQ(view.peer, peer);
    EXPECT_EQ(view.options, &peer->options);
    EXPECT_EQ(view.health, Health::alive);
    EXPECT_FALSE(view.full);
    EXPECT_FALSE(view.query_rtt || view.connect_rtt || view.throughput);

    for (int i = 0; i < 7; ++i) peer->asked(start);
    peer->answered(answer(ReplyKind::hit), 800us, start);
    peer->answered(answer(ReplyKind::miss), 1'600us, start);
    peer->answered(answer(ReplyKind::miss_nofetch), std::nullopt, start);
    peer->answered(answer(ReplyKind::denied), std::nullopt, start);
    peer->answered(answer(ReplyKind::error), std::nullopt, start);
    peer->expired(start);
    peer->connected(300us, start);
    peer->connected(std::nullopt, start);
    for (auto const bytes : {60'000, 40'000, 1'000}) peer->received(static_cast<Bytes>(bytes));
    peer->fetched({peer, Hierarchy::sibling_hit}, 100'000, 100ms);
    peer->fetched({peer, Hierarchy::first_parent_miss}, 1'000, 1ms);
    peer->false_hit();
    peer->connect_failed("x", start);

    view = peer->view(start);
    EXPECT_EQ(view.health, Health::dead);
    EXPECT_EQ(view.query_rtt, 900us) << "late answers do not count";
    EXPECT_EQ(view.connect_rtt, 300us);
    EXPECT_DOUBLE_EQ(*view.throughput, 1e6) << "small bodies do not count for the throughput";
    auto const stats = peer->stats(start);
    EXPECT_EQ(stats.queries, 7u);
    EXPECT_EQ(stats.answers, 5u);
    EXPECT_EQ(stats.hits, 1u);
    EXPECT_EQ(stats.misses, 1u);
    EXPECT_EQ(stats.nofetch, 1u);
    EXPECT_EQ(stats.denied, 1u);
    EXPECT_EQ(stats.errors, 1u);
    EXPECT_EQ(stats.late, 3u);
    EXPECT_EQ(stats.expired, 1u);
    EXPECT_EQ(stats.fetches, 2u);
    EXPECT_EQ(stats.bytes, 101'000u);
    EXPECT_EQ(stats.saved, 100'000u);
    EXPECT_EQ(stats.false_hits, 1u);
    EXPECT_EQ(stats.connect_failures, 1u);
    EXPECT_EQ(stats.address, "10.0.0.3");
    EXPECT_EQ(stats.health, Health::dead);
    EXPECT_FALSE(stats.has_digest);
}

TEST(APeer, is_known_by_its_addresses_and_its_port_for_the_protocol) {
    auto options = parent("p");
    options.host = "cache.example";
    options.htcp = 4827;
    Peer peer(options);
    IpEndpoint const icp{IpAddress::v4(10, 0, 0, 3), 3130}, htcp{IpAddress::v4(10, 0, 0, 3), 4827};
    EXPECT_FALSE(peer.is_at(icp, Protocol::icp)) << "its host has not been resolved";
    EXPECT_FALSE(peer.endpoint(Protocol::icp));
    EXPECT_FALSE(peer.view(start).askable);
    peer.set_addresses({IpAddress::v4(10, 0, 0, 9), IpAddress::v4(10, 0, 0, 3)});
    EXPECT_TRUE(peer.view(start).askable);
    EXPECT_TRUE(peer.is_at(icp, Protocol::icp));
    EXPECT_TRUE(peer.is_at(htcp, Protocol::htcp));
    EXPECT_FALSE(peer.is_at(icp, Protocol::htcp));
    EXPECT_FALSE(peer.is_at(htcp, Protocol::icp));
    EXPECT_FALSE(peer.is_at({IpAddress::v4(10, 0, 0, 4), 3130}, Protocol::icp));
    EXPECT_FALSE(peer.is_at({icp.address, 0}, Protocol::digest));
    EXPECT_EQ(peer.endpoint(Protocol::icp), (IpEndpoint{IpAddress::v4(10, 0, 0, 9), 3130}));
    EXPECT_EQ(peer.endpoint(Protocol::htcp)->port, 4827);
    EXPECT_FALSE(peer.endpoint(Protocol::digest));
    EXPECT_EQ(peer.addresses().size(), 2u);
}

TEST(APeer, whose_late_answers_count_for_the_mean_with_twice_that_at_the_most) {
    Peer peer(parent("p"));
    peer.answered(answer(ReplyKind::miss), 1'000us, start);
    peer.answered(answer(ReplyKind::miss), 9'000'000us, start, true);
    EXPECT_EQ(peer.view(start).query_rtt, 1'125us);
    EXPECT_EQ(peer.stats(start).late, 1u);
}

TEST(APeer, that_is_not_to_be_queried_is_asked_by_its_digest_only) {
    auto options = parent("p");
    options.no_query = true;
    Peer peer(options);
    EXPECT_FALSE(peer.view(start).askable);
    peer.set_digest(test::made(Digest::read(DigestBuilder(1).finish())));
    EXPECT_FALSE(peer.view(start).askable);
    EXPECT_TRUE(peer.view(start).has_digest);
    EXPECT_TRUE(peer.stats(start).has_digest);
    peer.set_digest(nullptr);
    EXPECT_FALSE(peer.view(start).has_digest);
}

TEST(APeer, without_ports_is_not_asked) {
    auto options = parent("p");
    options.icp = 0;
    Peer peer(options);
    EXPECT_FALSE(peer.view(start).askable);
    EXPECT_FALSE(peer.endpoint(Protocol::icp));
    EXPECT_FALSE(peer.is_at({IpAddress::v4(10, 0, 0, 3), 0}, Protocol::icp));
}

TEST(APeer, has_no_more_connections_than_it_may_have) {
    auto options = parent("p");
    options.max_connections = 3;
    auto const peer = std::make_shared<Peer>(options);
    std::atomic<int> inside{0}, most{0}, refused{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < 5'000; ++i) {
                if (!peer->enter()) {
                    ++refused;
                    continue;
                }
                int const now = ++inside;
                int seen = most;
                while (seen < now && !most.compare_exchange_weak(seen, now)) {
                }
                --inside;
                peer->leave();
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_LE(most, 3);
    EXPECT_EQ(peer->stats(start).connections, 0u);
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(peer->enter());
    EXPECT_TRUE(peer->view(start).full);
    EXPECT_FALSE(peer->enter());
    peer->leave();
    EXPECT_FALSE(peer->view(start).full);
}

TEST(APeer, without_a_bound_has_as_many_connections_as_are_wanted) {
    Peer peer(parent("p"));
    for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(peer.enter());
    EXPECT_FALSE(peer.view(start).full);
    EXPECT_EQ(peer.stats(start).connections, 10'000u);
}

TEST(APeer, tells_how_many_entries_its_digest_has) {
    Peer peer(parent("campus"));
    EXPECT_FALSE(peer.stats(start).has_digest);
    DigestBuilder builder(10);
    for (auto const* url : {"http://a/", "http://b/", "http://c/"}) builder.add(digest_key(url));
    peer.set_digest(test::made(Digest::read(std::move(builder).finish())));
    EXPECT_TRUE(peer.stats(start).has_digest);
    EXPECT_EQ(peer.stats(start).digest_entries, 3u);
}

}   // namespace
}   // namespace garner::icp
