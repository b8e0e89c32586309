// Cached DNS answers and their lifetimes.
#include "net/name_cache.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "net/ip_text.hpp"

namespace garner::net {
namespace {

class HostsFile {
public:
    explicit HostsFile(std::string const& text)
        : path_(std::filesystem::temp_directory_path() /
                ("garner-hosts-" + std::to_string(::getpid()) + "-" + std::to_string(next_++))) {
        write(text);
    }
    ~HostsFile() { std::filesystem::remove(path_); }
    void write(std::string const& text) { std::ofstream(path_) << text; }
    std::string path() const { return path_.string(); }

private:
    inline static int next_ = 0;
    std::filesystem::path path_;
};

ResolverOptions without_hosts() {
    ResolverOptions options;
    options.hosts_file = "";
    return options;
}

void reload(NameCache& cache, ResolverOptions const& options) {
    auto const change = cache.prepare(options);
    ASSERT_TRUE(change) << change.fault_text();
    (*change)();
}

TEST(NameCache, a_failure_is_told_with_the_time_it_is_remembered) {
    NameCache cache(without_hosts());
    auto const now = steady_now();
    EXPECT_FALSE(cache.failure_of("a.example", now));
    cache.store("b.example", {ip("192.0.2.1")}, seconds{60}, now);
    EXPECT_FALSE(cache.failure_of("b.example", now));
    cache.store_failure("a.example", "no such host", now);
    auto const told = cache.failure_of("a.example", now + seconds{2});
    ASSERT_TRUE(told);
    EXPECT_EQ(told->names->failure, "no such host");
    EXPECT_EQ(told->left, seconds{3});
    EXPECT_FALSE(cache.failure_of("a.example", now + seconds{5}));
}

std::string long_host(int number) {
    auto const label = std::string(60, 'a') + ".";
    return label + label + label + std::string(50, 'b') + std::to_string(1'000 + number) + ".example";
}

TEST(NameCache, a_name_keeps_a_bounded_number_of_addresses) {
    NameCache cache(without_hosts());
    std::vector<Address> const many(1'000, ip("192.0.2.1"));
    EXPECT_EQ(cache.store("many.test", many, seconds{60})->addresses.size(), NameCache::addresses_max);
}

TEST(NameCache, its_memory_is_counted_and_within_its_bound) {
    auto options = without_hosts();
    options.entries_max = 100;
    auto const before = CountedBytes<Names>::sum();
    {
        NameCache cache(options);
        std::vector<Address> const many(1'000, ip("2001:db8::1"));
        for (int i = 0; i < 1'000; ++i) cache.store(long_host(i), many, seconds{60});
        for (int i = 0; i < 100; ++i) cache.store_failure(long_host(i), "the DNS servers did not answer in time");
        EXPECT_EQ(cache.size(), 100u);
        auto const used = CountedBytes<Names>::sum() - before;
        EXPECT_GT(used, 100 * 100u);
        EXPECT_LE(used, cache.bytes_max());
    }
    EXPECT_EQ(CountedBytes<Names>::sum(), before);
}

TEST(NameCache, an_answer_is_valid_for_its_ttl_within_bounds) {
    auto options = without_hosts();
    options.positive_ttl = seconds{100};
    NameCache cache(options);
    auto now = steady_now();
    cache.store("short.test", {ip("192.0.2.1")}, seconds{0}, now);
    cache.store("plain.test", {ip("192.0.2.2")}, seconds{50}, now);
    cache.store("long.test", {ip("192.0.2.3")}, seconds{100'000}, now);

    EXPECT_TRUE(cache.find("short.test", now + milliseconds{999}));
    EXPECT_FALSE(cache.find("short.test", now + seconds{1}));
    EXPECT_EQ(cache.find("plain.test", now + seconds{49})->addresses.front(), ip("192.0.2.2"));
    EXPECT_FALSE(cache.find("plain.test", now + seconds{50}));
    EXPECT_TRUE(cache.find("long.test", now + seconds{99}));
    EXPECT_FALSE(cache.find("long.test", now + seconds{100}));
}

TEST(NameCache, a_name_that_keeps_failing_is_asked_for_less_and_less) {
    auto options = without_hosts();
    options.negative_first = seconds{5};
    options.negative_ttl = seconds{60};
    NameCache cache(options);
    auto now = steady_now();
    for (int kept : {5, 10, 20, 40, 60, 60}) {
        cache.store_failure("gone.test", "no such host", now);
        EXPECT_EQ(cache.find("gone.test", now + seconds{kept} - milliseconds{1})->failure, "no such host");
        now += seconds{kept};
        EXPECT_FALSE(cache.find("gone.test", now)) << kept;
    }
    cache.store("gone.test", {ip("192.0.2.1")}, seconds{1}, now);
    now += seconds{1};
    cache.store_failure("gone.test", "no such host", now);
    EXPECT_FALSE(cache.find("gone.test", now + seconds{5})) << "a success in between resets the time of failures";
}

TEST(NameCache, a_thousand_failures_in_a_row_do_not_overflow) {
    NameCache cache(without_hosts());
    auto now = steady_now();
    for (int i = 0; i < 1'000; ++i) cache.store_failure("gone.test", "no such host", now);
    EXPECT_TRUE(cache.find("gone.test", now + seconds{29}));
    EXPECT_FALSE(cache.find("gone.test", now + seconds{30}));
}

TEST(NameCache, an_absent_name_is_remembered_for_the_time_that_its_zone_allows) {
    auto options = without_hosts();
    options.negative_first = seconds{5};
    options.negative_ttl = seconds{60};
    NameCache cache(options);
    auto now = steady_now();
    for (int round = 0; round < 4; ++round) {   // it does not double
        cache.store_failure("gone.test", "no such host", now, seconds{2});
        EXPECT_TRUE(cache.find("gone.test", now + milliseconds{1'999}));
        now += seconds{2};
        EXPECT_FALSE(cache.find("gone.test", now)) << round;
    }
    cache.store_failure("gone.test", "no such host", now, seconds{900});
    EXPECT_TRUE(cache.find("gone.test", now + seconds{59}));
    EXPECT_FALSE(cache.find("gone.test", now + seconds{60}));
    cache.store_failure("never.test", "no such host", now, seconds{0});
    EXPECT_FALSE(cache.find("never.test", now));
    cache.store_failure("gone.test", "DNS server did not respond", now);
    EXPECT_FALSE(cache.find("gone.test", now + seconds{5})) << "an answer ends the row of failures";
}

TEST(NameCache, the_longest_unused_name_leaves_first) {
    auto options = without_hosts();
    options.entries_max = 3;
    NameCache cache(options);
    for (auto host : {"a.test", "b.test", "c.test"}) cache.store(host, {ip("192.0.2.1")}, seconds{60});
    cache.find("a.test");
    cache.store("d.test", {ip("192.0.2.1")}, seconds{60});
    EXPECT_EQ(cache.size(), 3u);
    EXPECT_FALSE(cache.find("b.test"));
    EXPECT_TRUE(cache.find("a.test"));
}

TEST(NameCache, stays_within_its_bound_when_sharded) {
    auto options = without_hosts();
    options.entries_max = 2'000;
    NameCache cache(options);
    for (int i = 0; i < 10'000; ++i) cache.store_failure(std::to_string(i) + ".test", "no such host");
    EXPECT_LE(cache.size(), 2'000u);
    EXPECT_GE(cache.size(), 1'900u);
}

TEST(NameCache, a_forgotten_name_is_asked_for_again) {
    HostsFile hosts("192.0.2.9 fixed.test\n");
    ResolverOptions options;
    options.hosts_file = hosts.path();
    NameCache cache(options);
    cache.store("a.test", {ip("192.0.2.1")}, seconds{60});
    cache.forget("a.test");
    cache.forget("fixed.test");
    cache.forget("never-heard-of.test");
    EXPECT_FALSE(cache.find("a.test"));
    EXPECT_TRUE(cache.find("fixed.test"));
}

TEST(NameCache, the_hosts_file_stands_against_dns_and_is_read_again) {
    HostsFile hosts("192.0.2.9 Fixed.test\n");
    ResolverOptions options;
    options.hosts_file = hosts.path();
    options.entries_max = 1;
    NameCache cache(options);
    cache.store("fixed.test", {ip("203.0.113.1")}, seconds{60});
    cache.store_failure("fixed.test", "no such host");
    cache.store("other.test", {ip("192.0.2.1")}, seconds{60});
    auto much_later = steady_now() + std::chrono::hours{10'000};
    EXPECT_EQ(cache.find("fixed.test", much_later)->addresses, std::vector{ip("192.0.2.9")});

    hosts.write("192.0.2.10 other.test\n");
    reload(cache, options);
    EXPECT_FALSE(cache.find("fixed.test"));
    EXPECT_EQ(cache.find("other.test")->addresses, std::vector{ip("192.0.2.10")});
    EXPECT_EQ(cache.size(), 1u);

    hosts.write("");
    reload(cache, options);
    EXPECT_EQ(cache.size(), 0u);
    for (auto host : {"a.test", "b.test"}) cache.store(host, {ip("192.0.2.1")}, seconds{60});
    EXPECT_EQ(cache.size(), 1u);
}

TEST(NameCache, a_reload_changes_the_file_and_the_lifetimes) {
    HostsFile first("192.0.2.1 first.test\n"), second("192.0.2.2 second.test\n");
    ResolverOptions options;
    options.hosts_file = first.path();
    NameCache cache(options);
    auto const now = steady_now();
    cache.store("kept.test", {ip("192.0.2.3")}, seconds{60}, now);
    options.hosts_file = second.path();
    options.positive_ttl = options.negative_first = seconds{2};
    reload(cache, options);
    EXPECT_FALSE(cache.find("first.test"));
    EXPECT_EQ(cache.find("second.test")->addresses, std::vector{ip("192.0.2.2")});
    EXPECT_TRUE(cache.find("kept.test", now + seconds{50}));
    cache.store("new.test", {ip("192.0.2.4")}, seconds{60}, now);
    cache.store_failure("failed.test", "no such host", now);
    for (auto const* host : {"new.test", "failed.test"}) {
        EXPECT_TRUE(cache.find(host, now + seconds{1})) << host;
        EXPECT_FALSE(cache.find(host, now + seconds{3})) << host;
    }
}

TEST(NameCache, answers_of_other_servers_are_forgotten) {
    auto options = without_hosts();
    NameCache cache(options);
    cache.store_failure("a.test", "DNS server did not respond");
    cache.store("b.test", {ip("192.0.2.1")}, seconds{60});
    reload(cache, options);
    EXPECT_EQ(cache.size(), 2u);
    options.servers = {"192.0.2.53"};
    reload(cache, options);
    EXPECT_EQ(cache.size(), 0u);
}

TEST(NameCache, a_reload_with_a_file_that_cannot_be_read_changes_nothing) {
    HostsFile hosts("192.0.2.9 fixed.test\n");
    ResolverOptions options;
    options.hosts_file = hosts.path();
    NameCache cache(options);
    for (char const* path : {"/nowhere/at/all", "/tmp"}) {
        options.hosts_file = path;
        auto const change = cache.prepare(options);
        ASSERT_FALSE(change);
        EXPECT_EQ(change.fault().where, std::string("dns.hosts_file: ") + path);
    }
    hosts.write("");
    options.hosts_file = hosts.path();
    EXPECT_TRUE(cache.prepare(options)) << "an empty file is no fault";
    EXPECT_TRUE(cache.find("fixed.test")) << "nothing was applied";
}

TEST(NameCache, threads_use_it_at_once) {
    HostsFile hosts("192.0.2.9 fixed.test\n");
    ResolverOptions options;
    options.hosts_file = hosts.path();
    options.entries_max = 50;
    NameCache cache(options);
    std::atomic<int> missing = 0;
    auto work = [&](int salt) {
        for (int i = 0; i < 2'000; ++i) {
            auto host = std::to_string((i * salt) % 100) + ".test";
            if (!cache.find(host)) cache.store(host, {ip("192.0.2.1")}, seconds{60});
            if (i % 7 == 0) cache.forget(host);
            if (i % 500 == 0 && salt == 3) reload(cache, options);   // by one thread
            if (!cache.find("fixed.test")) ++missing;
        }
    };
    std::thread a(work, 3), b(work, 7), c(work, 11);
    a.join();
    b.join();
    c.join();
    EXPECT_EQ(missing, 0);
    EXPECT_LE(cache.size(), 51u);
}

TEST(HostsFile, lines_are_read_as_hosts_5_says) {
    auto hosts = parse_hosts("# a comment\n"
                             "127.0.0.1\tlocalhost loopback\r\n"
                             "::1 localhost   # the same\n"
                             "  10.0.0.1   Printer.Example.ORG printer\n"
                             "10.0.0.1 printer\n"
                             "not-an-address nobody\n"
                             "10.0.0.2\n"
                             "\n"
                             "10.0.0.3 last");
    EXPECT_EQ(hosts.size(), 5u);
    EXPECT_EQ(hosts["localhost"], (std::vector{ip("127.0.0.1"), ip("::1")}));
    EXPECT_EQ(hosts["printer.example.org"], std::vector{ip("10.0.0.1")});
    EXPECT_EQ(hosts["printer"], std::vector{ip("10.0.0.1")});
    EXPECT_EQ(hosts["last"], std::vector{ip("10.0.0.3")});
    EXPECT_FALSE(hosts.contains("nobody"));
}

TEST(HostsFile, an_international_name_is_found_by_its_ascii_form) {
    auto hosts = parse_hosts("10.0.0.1 bücher.example\n");
    EXPECT_EQ(hosts["xn--bcher-kva.example"], std::vector{ip("10.0.0.1")});
}

TEST(HostsFile, one_that_cannot_be_read_is_empty) {
    ResolverOptions options;
    options.hosts_file = "/nowhere/at/all";
    NameCache cache(options);
    EXPECT_EQ(cache.size(), 0u);
}

}   // namespace
}   // namespace garner::net
