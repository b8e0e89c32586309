// Resolving host names with a DNS server whose answers the scene sets.
#include "net/resolver.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "net/dns_channel.hpp"
#include "net/ip_text.hpp"
#include "net/loop.hpp"
#include "net/waiter.hpp"
#include "support/fake_dns.hpp"

namespace garner::net {
namespace {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

struct ResolverScene {
    ResolverScene() { options.hosts_file = ""; }

    Resolver& resolver() {
        if (options.servers.empty()) options.servers = {dns.server()};
        if (!cache) cache = std::make_unique<NameCache>(options);
        if (!resolver_) resolver_ = std::make_unique<Resolver>(loop.io, loop.wheel, *cache, options);
        return *resolver_;
    }
    NamesPtr resolve(std::string_view host) { return loop.run(resolver().resolve(host)); }
    int asked(std::string const& host) {
        auto count = dns.queries(host);
        return count.udp + count.tcp;
    }

    test::FakeDns dns;
    Loop loop;
    ResolverOptions options;
    std::unique_ptr<NameCache> cache;
    std::unique_ptr<Resolver> resolver_;
};

TEST(Resolver, literals_and_localhost_need_no_dns) {
    ResolverScene scene;
    EXPECT_THAT(scene.resolve("192.0.2.7")->addresses, ElementsAre(ip("192.0.2.7")));
    EXPECT_THAT(scene.resolve("2001:db8::7")->addresses, ElementsAre(ip("2001:db8::7")));
    for (auto host : {"localhost", "LocalHost", "localhost.", "app.localhost", "a.b.LOCALHOST"})
        EXPECT_THAT(scene.resolve(host)->addresses, ElementsAre(ip("::1"), ip("127.0.0.1"))) << host;
    EXPECT_EQ(scene.asked("app.localhost"), 0);
}

TEST(Resolver, a_and_aaaa_come_together_and_are_kept) {
    ResolverScene scene;
    scene.dns.set("both.test", {.v4 = {"192.0.2.1", "192.0.2.2"}, .v6 = {"2001:db8::1"}});
    auto names = scene.resolve("Both.Test");
    EXPECT_THAT(names->addresses, UnorderedElementsAre(ip("192.0.2.1"), ip("192.0.2.2"), ip("2001:db8::1")));
    EXPECT_EQ(names->failure, "");
    EXPECT_EQ(scene.resolve("both.test."), names);
    EXPECT_EQ(scene.asked("both.test"), 2);
}

TEST(Resolver, one_family_is_enough) {
    ResolverScene scene;
    scene.dns.set("v4.test", {.v4 = {"192.0.2.1"}});
    scene.dns.set("v6.test", {.v6 = {"2001:db8::1"}});
    EXPECT_THAT(scene.resolve("v4.test")->addresses, ElementsAre(ip("192.0.2.1")));
    EXPECT_THAT(scene.resolve("v6.test")->addresses, ElementsAre(ip("2001:db8::1")));
}

TEST(Resolver, failures_are_said_in_words_and_remembered) {
    ResolverScene scene;
    scene.dns.set("empty.test", {});
    scene.dns.set("broken.test", {.kind = test::FakeDns::Name::servfail});
    EXPECT_EQ(scene.resolve("gone.test")->failure, "no such host");
    EXPECT_EQ(scene.resolve("empty.test")->failure, "the name has no address");
    EXPECT_EQ(scene.resolve("broken.test")->failure, "DNS server failed or is unreachable");
    EXPECT_EQ(scene.resolve("")->failure, "the host name is not valid");
    EXPECT_EQ(scene.resolve(std::string(300, 'a'))->failure, "the host name is not valid");
    auto asked = scene.asked("gone.test");
    EXPECT_TRUE(scene.resolve("gone.test")->addresses.empty());
    EXPECT_EQ(scene.asked("gone.test"), asked);
    scene.cache->forget("gone.test");
    scene.dns.set("gone.test", {.v4 = {"192.0.2.1"}});
    EXPECT_THAT(scene.resolve("gone.test")->addresses, ElementsAre(ip("192.0.2.1")));
}

TEST(Resolver, a_failure_can_be_forgotten_but_not_an_address) {
    ResolverScene scene;
    scene.dns.set("found.test", {.v4 = {"192.0.2.1"}});
    EXPECT_NE(scene.resolve("gone.test")->failure, "");
    auto const found = scene.resolve("found.test");
    int const before = scene.asked("gone.test");
    for (auto host : {"Gone.Test.", "found.test", "never-seen.test", "192.0.2.1", ""}) scene.resolver().forget_failure(host);
    EXPECT_EQ(scene.resolve("found.test"), found);
    scene.dns.set("gone.test", {.v4 = {"192.0.2.2"}});
    EXPECT_THAT(scene.resolve("gone.test")->addresses, ElementsAre(ip("192.0.2.2")));
    EXPECT_GT(scene.asked("gone.test"), before);
}

TEST(Resolver, a_port_without_a_server_is_given_up_early) {
    ResolverScene scene;
    scene.options.servers = {"127.0.0.1:1"};
    auto begun = steady_now();
    EXPECT_THAT(scene.resolve("any.test")->failure, testing::StartsWith("DNS server"));
    EXPECT_LT(steady_now() - begun, seconds{3});
}

TEST(Resolver, a_silent_server_is_given_up_within_five_seconds) {
    ResolverScene scene;
    scene.dns.set("silent.test", {.kind = test::FakeDns::Name::silent});
    auto begun = steady_now();
    EXPECT_EQ(scene.resolve("silent.test")->failure, "DNS server did not respond");
    auto took = steady_now() - begun;
    EXPECT_GE(took, seconds{3});
    EXPECT_LE(took, milliseconds{5'500});
    EXPECT_GE(scene.asked("silent.test"), 4);   // including repeated queries
}

TEST(Resolver, a_lost_query_is_repeated) {
    ResolverScene scene;
    scene.dns.set("lossy.test", {.v4 = {"192.0.2.1"}, .udp_queries_lost = 2});
    auto begun = steady_now();
    EXPECT_THAT(scene.resolve("lossy.test")->addresses, ElementsAre(ip("192.0.2.1")));
    EXPECT_LE(steady_now() - begun, seconds{2});
}

TEST(Resolver, the_second_server_is_asked_when_the_first_is_silent) {
    ResolverScene scene;
    test::FakeDns dead;
    dead.set("a.test", {.kind = test::FakeDns::Name::silent});
    scene.dns.set("a.test", {.v4 = {"192.0.2.1"}});
    scene.options.servers = {dead.server(), scene.dns.server()};
    auto begun = steady_now();
    EXPECT_THAT(scene.resolve("a.test")->addresses, ElementsAre(ip("192.0.2.1")));
    EXPECT_LE(steady_now() - begun, seconds{3});
}

TEST(Resolver, a_server_that_loses_every_aaaa_query_does_not_cost_the_a_record) {
    ResolverScene scene;
    scene.dns.set("half.test", {.v4 = {"192.0.2.1"}, .aaaa_lost = true});
    auto const begun = steady_now();
    EXPECT_THAT(scene.resolve("half.test")->addresses, ElementsAre(ip("192.0.2.1")));
    EXPECT_LT(steady_now() - begun, milliseconds{500});
}

TEST(Resolver, addresses_of_the_other_family_that_come_later_are_kept_too) {
    ResolverScene scene;
    scene.dns.set("late.test", {.v4 = {"192.0.2.1"}, .v6 = {"2001:db8::1"}, .aaaa_losses = 1});
    EXPECT_THAT(scene.resolve("late.test")->addresses, ElementsAre(ip("192.0.2.1")));
    scene.loop.run_for(milliseconds{1'500});   // c-ares repeats the lost query
    EXPECT_THAT(scene.resolve("late.test")->addresses, UnorderedElementsAre(ip("192.0.2.1"), ip("2001:db8::1")));
}

TEST(Resolver, an_absent_name_is_asked_for_again_after_the_time_of_its_soa_record) {
    using Name = test::FakeDns::Name;
    ResolverScene scene;
    scene.dns.set("new.test", {.kind = Name::nxdomain, .soa_minimum = 1});
    scene.dns.set("ttl.test", {.kind = Name::nxdomain, .soa_minimum = 900, .soa_ttl = 1});
    scene.dns.set("empty.test", {.soa_minimum = 1});
    scene.dns.set("long.test", {.kind = Name::nxdomain, .soa_minimum = 900});
    EXPECT_EQ(scene.resolve("new.test")->failure, "no such host");
    EXPECT_EQ(scene.resolve("ttl.test")->failure, "no such host");
    EXPECT_EQ(scene.resolve("empty.test")->failure, "the name has no address");
    EXPECT_EQ(scene.resolve("long.test")->failure, "no such host");
    auto const asked = scene.asked("new.test");
    EXPECT_EQ(scene.resolve("new.test")->failure, "no such host");
    EXPECT_EQ(scene.asked("new.test"), asked) << "remembered for a second";
    for (auto* host : {"new.test", "ttl.test", "empty.test", "long.test"}) scene.dns.set(host, {.v4 = {"192.0.2.1"}});
    scene.loop.run_for(milliseconds{1'100});
    for (auto* host : {"new.test", "ttl.test", "empty.test"})
        EXPECT_THAT(scene.resolve(host)->addresses, ElementsAre(ip("192.0.2.1"))) << host;
    EXPECT_EQ(scene.resolve("long.test")->failure, "no such host");
}

TEST(Resolver, an_absent_name_without_a_soa_record_is_not_remembered_longer_each_time) {
    ResolverScene scene;
    scene.options.negative_first = milliseconds{300};
    scene.dns.set("new.test", {.kind = test::FakeDns::Name::nxdomain});
    for (int round = 0; round < 3; ++round) {
        EXPECT_EQ(scene.resolve("new.test")->failure, "no such host");
        scene.loop.run_for(milliseconds{350});
    }
    scene.dns.set("new.test", {.v4 = {"192.0.2.1"}});
    EXPECT_THAT(scene.resolve("new.test")->addresses, ElementsAre(ip("192.0.2.1")));
}

TEST(Resolver, a_name_without_a_dot_is_looked_up_below_the_search_domains_first) {
    ResolverScene scene;
    scene.options.search = {"corp.test", "lab.test"};
    scene.dns.set("wiki.corp.test", {.v4 = {"192.0.2.1"}});
    scene.dns.set("wiki", {.v4 = {"192.0.2.9"}});
    scene.dns.set("plotter.lab.test", {.v4 = {"192.0.2.2"}});
    scene.dns.set("host", {.v4 = {"192.0.2.3"}});
    EXPECT_THAT(scene.resolve("wiki")->addresses, ElementsAre(ip("192.0.2.1")));
    EXPECT_EQ(scene.asked("wiki"), 0);
    EXPECT_THAT(scene.resolve("plotter")->addresses, ElementsAre(ip("192.0.2.2")));
    EXPECT_THAT(scene.resolve("host")->addresses, ElementsAre(ip("192.0.2.3")));
    EXPECT_EQ(scene.resolve("nobody")->failure, "no such host");
    EXPECT_EQ(scene.resolve("a.wiki")->failure, "no such host");
    EXPECT_EQ(scene.asked("a.wiki.corp.test"), 0);
    ResolverScene plain;
    plain.dns.set("wiki.corp.test", {.v4 = {"192.0.2.1"}});
    EXPECT_EQ(plain.resolve("wiki")->failure, "no such host") << "by default";
}

class ServersFile {
public:
    explicit ServersFile(std::string const& server)
        : path_(std::filesystem::temp_directory_path() / ("garner-resolv-" + std::to_string(::getpid()))) {
        write(server);
    }
    ~ServersFile() { remove(); }
    ServersFile(ServersFile const&) = delete;
    void write(std::string const& server) { std::ofstream(path_) << "# " << ++writes_ << "\nnameserver " << server << "\n"; }
    void remove() { std::filesystem::remove(path_); }
    std::string path() const { return path_.string(); }

private:
    std::filesystem::path path_;
    int writes_ = 0;
};

/// A port of 127.0.0.77 that never answers.
class SilentServer {
public:
    explicit SilentServer(std::uint16_t port) {
        sockaddr_in address{};
        address.sin_family = AF_INET;
        address.sin_port = htons(port);
        address.sin_addr.s_addr = htonl(0x7f00004d);
        EXPECT_EQ(::bind(socket_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    ~SilentServer() { ::close(socket_); }
    SilentServer(SilentServer const&) = delete;

private:
    int const socket_ = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
};

TEST(Resolver, follows_the_file_of_its_servers) {
    ResolverScene scene;
    auto const server = scene.dns.server();
    scene.options.servers_port = static_cast<std::uint16_t>(std::stoi(server.substr(server.find(':') + 1)));
    SilentServer const silent(scene.options.servers_port);
    scene.dns.set("vpn.test", {.v4 = {"192.0.2.1"}});
    ServersFile file("127.0.0.77");
    scene.options.servers_file = file.path();
    NameCache cache(scene.options);
    Resolver resolver(scene.loop.io, scene.loop.wheel, cache, scene.options);
    NamesPtr waiting;
    asio::co_spawn(scene.loop.io, resolver.resolve("vpn.test"),
                   [&](std::exception_ptr, NamesPtr names) { waiting = std::move(names); });
    scene.loop.run_for(milliseconds{50});
    resolver.follow_servers_file();
    EXPECT_EQ(scene.asked("vpn.test"), 0) << "the file is unchanged";
    file.write("127.0.0.1");
    resolver.follow_servers_file();
    EXPECT_THAT(scene.loop.run(resolver.resolve("vpn.test"))->addresses, ElementsAre(ip("192.0.2.1")))
        << "it does not wait for the former server";
    file.remove();
    resolver.follow_servers_file();
    scene.loop.run_until([&] { return waiting != nullptr; });
    EXPECT_NE(waiting->failure, "");
    EXPECT_THAT(scene.loop.run(resolver.resolve("vpn.test"))->addresses, ElementsAre(ip("192.0.2.1")))
        << "the failure of the former server is not remembered";
}

TEST(Resolver, a_truncated_answer_is_fetched_over_tcp) {
    ResolverScene scene;
    test::FakeDns::Name big{.truncated_on_udp = true};
    for (int i = 1; i <= 60; ++i) big.v4.push_back("192.0.2." + std::to_string(i));
    scene.dns.set("big.test", big);
    for (int round = 0; round < 3; ++round) {   // the descriptor number is reused
        EXPECT_EQ(scene.resolve("big.test")->addresses.size(), NameCache::addresses_max);
        scene.cache->forget("big.test");
    }
    EXPECT_GE(scene.dns.queries("big.test").tcp, 3);
}

TEST(Resolver, the_shortest_ttl_counts) {
    ResolverScene scene;
    scene.dns.set("www.test", {.v4 = {"192.0.2.1"}, .ttl = 3'600, .alias = "cdn.test", .alias_ttl = 2});
    scene.resolve("www.test");
    EXPECT_TRUE(scene.cache->find("www.test", steady_now() + milliseconds{1'500}));
    EXPECT_FALSE(scene.cache->find("www.test", steady_now() + seconds{3}));
}

TEST(Resolver, many_who_ask_for_one_name_cost_one_question) {
    ResolverScene scene;
    scene.dns.set("popular.test", {.v4 = {"192.0.2.1"}, .delay = milliseconds{50}});
    auto& resolver = scene.resolver();
    int answered = 0;
    auto ask = [&]() -> awaitable<void> {
        auto names = co_await resolver.resolve("popular.test");
        if (names->addresses.size() == 1) ++answered;
    };
    auto ignore = [](std::exception_ptr) {};
    for (int i = 0; i < 50; ++i) asio::co_spawn(scene.loop.io, ask(), ignore);
    scene.loop.run_until([&] { return answered == 50; });
    EXPECT_EQ(scene.asked("popular.test"), 2);
}

TEST(Resolver, many_names_at_once_are_all_answered) {
    ResolverScene scene;
    auto& resolver = scene.resolver();
    int answered = 0;
    auto ask = [&](int i) -> awaitable<void> {
        auto host = "n" + std::to_string(i) + ".test";
        auto names = co_await resolver.resolve(host);
        if (names->addresses.size() == 1) ++answered;
    };
    auto ignore = [](std::exception_ptr) {};
    for (int i = 0; i < 200; ++i) {
        scene.dns.set("n" + std::to_string(i) + ".test", {.v4 = {"192.0.2.1"}, .truncated_on_udp = i % 10 == 0});
        asio::co_spawn(scene.loop.io, ask(i), ignore);
    }
    scene.loop.run_until([&] { return answered == 200; });
    EXPECT_EQ(answered, 200);
}

TEST(Resolver, a_wait_can_be_ended_early_and_the_answer_still_arrives) {
    ResolverScene scene;
    scene.dns.set("slow.test", {.v4 = {"192.0.2.1"}, .delay = milliseconds{300}});
    auto& resolver = scene.resolver();
    WakeHandle waiting;
    NamesPtr given;
    auto ask = [&]() -> awaitable<void> { given = co_await resolver.resolve("slow.test", &waiting); };
    auto ignore = [](std::exception_ptr) {};
    asio::co_spawn(scene.loop.io, ask(), ignore);
    scene.loop.run_until([&] { return static_cast<bool>(waiting); });
    waiting.wake(Wake::client_gone);
    scene.loop.run_until([&] { return given != nullptr; });
    EXPECT_EQ(given->failure, "cancelled");
    scene.loop.run_until([&] { return scene.cache->find("slow.test") != nullptr; });
}

TEST(Resolver, may_go_while_others_wait_for_it) {
    for (bool stop : {false, true}) {
        ResolverScene scene;
        scene.dns.set("silent.test", {.kind = test::FakeDns::Name::silent});
        auto& resolver = scene.resolver();
        NamesPtr given;
        auto ask = [&]() -> awaitable<void> { given = co_await resolver.resolve("silent.test"); };
        auto ignore = [](std::exception_ptr) {};
        asio::co_spawn(scene.loop.io, ask(), ignore);
        scene.loop.run_for(milliseconds{150});
        if (stop) {
            resolver.stop();
            EXPECT_EQ(scene.resolve("other.test")->failure, "shutting down");
        } else {
            scene.resolver_.reset();
        }
        scene.loop.run_until([&] { return given != nullptr; });
        EXPECT_EQ(given->failure, "shutting down");
        EXPECT_FALSE(scene.cache->find("silent.test")) << "a shutdown is not cached as a failure of the name";
        // A remaining timer would keep the worker's thread running.
        scene.loop.wheel.stop();
        auto begun = steady_now();
        scene.loop.io.run();
        EXPECT_LT(steady_now() - begun, seconds{1});
    }
}

TEST(Resolver, a_garbled_answer_is_not_taken_for_one) {
    ResolverScene scene;
    scene.dns.set("garbled.test", {.kind = test::FakeDns::Name::garbage});
    EXPECT_NE(scene.resolve("garbled.test")->failure, "");
}

TEST(Resolver, later_queries_go_to_the_new_servers_and_running_ones_end_at_the_former) {
    ResolverScene scene;
    test::FakeDns other;
    scene.dns.set("slow.test", {.v4 = {"192.0.2.1"}, .delay = std::chrono::milliseconds{300}});
    other.set("slow.test", {.v4 = {"203.0.113.1"}});
    other.set("new.test", {.v4 = {"203.0.113.2"}});
    auto& resolver = scene.resolver();
    NamesPtr slow;
    asio::co_spawn(scene.loop.io, resolver.resolve("slow.test"),
                   [&](std::exception_ptr, NamesPtr names) { slow = std::move(names); });
    scene.loop.run_for(milliseconds{100});
    EXPECT_EQ(slow, nullptr);
    for (int i = 0; i < 2; ++i) {   // the second channel replaces an idle one
        auto options = scene.options;
        options.servers = {other.server()};
        auto channel = resolver.open_channel(options);
        ASSERT_TRUE(channel) << channel.fault_text();
        resolver.use(*std::move(channel), options);
    }
    EXPECT_THAT(scene.resolve("new.test")->addresses, ElementsAre(ip("203.0.113.2")));
    EXPECT_EQ(scene.asked("new.test"), 0);
    scene.loop.run_until([&] { return slow != nullptr; });
    EXPECT_THAT(slow->addresses, ElementsAre(ip("192.0.2.1")));
    EXPECT_EQ(other.queries("slow.test").udp, 0);
}

TEST(Resolver, a_stop_ends_the_queries_of_former_servers) {
    ResolverScene scene;
    scene.dns.set("silent.test", {.kind = test::FakeDns::Name::silent});
    auto& resolver = scene.resolver();
    NamesPtr silent;
    asio::co_spawn(scene.loop.io, resolver.resolve("silent.test"),
                   [&](std::exception_ptr, NamesPtr names) { silent = std::move(names); });
    scene.loop.run_for(milliseconds{100});
    auto channel = resolver.open_channel(scene.options);
    ASSERT_TRUE(channel) << channel.fault_text();
    resolver.use(*std::move(channel), scene.options);
    resolver.stop();
    scene.loop.run_until([&] { return silent != nullptr; });
    EXPECT_EQ(silent->failure, "shutting down");
}

TEST(Resolver, finds_the_servers_of_a_service) {
    ResolverScene scene;
    scene.dns.set("_http._tcp.caches.test", {.servers = {{20, 1, 3129, "b.test"}, {10, 5, 3128, "a.test"}}, .ttl = 7});
    auto const reply = scene.loop.run(scene.resolver().resolve_srv("_http._tcp.caches.test"));
    EXPECT_EQ(reply.failure, "");
    EXPECT_EQ(reply.answer, (SrvAnswer{{{10, 5, 3128, "a.test"}, {20, 1, 3129, "b.test"}}, seconds{7}}));
    scene.dns.set("_http._tcp.large.test", {.servers = {{1, 1, 1, "a.test"}}, .truncated_on_udp = true});
    EXPECT_EQ(scene.loop.run(scene.resolver().resolve_srv("_http._tcp.large.test")).answer.targets.size(), 1u) << "over TCP";
}

TEST(Resolver, says_why_it_has_no_servers) {
    ResolverScene scene;
    auto const failure = [&](std::string const& name) { return scene.loop.run(scene.resolver().resolve_srv(name)).failure; };
    scene.dns.set("_http._tcp.empty.test", {});
    scene.dns.set("_http._tcp.broken.test", {.kind = test::FakeDns::Name::servfail});
    scene.dns.set("_http._tcp.garbage.test", {.kind = test::FakeDns::Name::garbage});
    EXPECT_EQ(failure("_http._tcp.empty.test"), "the name has no SRV record");
    EXPECT_EQ(failure("_http._tcp.none.test"), "no such host");
    EXPECT_NE(failure("_http._tcp.broken.test"), "");
    EXPECT_NE(failure("_http._tcp.garbage.test"), "");
    scene.resolver().stop();
    EXPECT_EQ(failure("_http._tcp.empty.test"), "shutting down");
}

}   // namespace
}   // namespace garner::net
