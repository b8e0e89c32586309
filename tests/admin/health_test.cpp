#include "admin/health.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "peers.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;

struct Scene {
    Figures figures;
    Trend trend{.last = {.requests = 1'000}, .usual = Minute{.requests = 1'000}};
    WallTime now = from_unix_seconds(1'764'000'000);

    Health health() const { return health_of(figures, trend, now); }
};

void expect_one(Scene const& scene, HealthState state, std::string const& what) {
    auto const health = scene.health();
    EXPECT_EQ(health.state, state);
    ASSERT_EQ(health.items.size(), 1u);
    EXPECT_EQ(health.items[0].state, state);
    EXPECT_THAT(health.items[0].what, HasSubstr(what));
    EXPECT_NE(health.items[0].fix, "");
    EXPECT_THAT(health.sentence, HasSubstr(what));
}

void expect_ok(Scene const& scene) {
    auto const health = scene.health();
    EXPECT_EQ(health.state, HealthState::ok) << health.sentence;
    EXPECT_TRUE(health.items.empty());
    EXPECT_EQ(health.sentence, "OK: no problem is known.");
}

TEST(Health, is_ok_without_a_problem) { expect_ok({}); }

TEST(Health, a_ledger_that_cannot_be_written_needs_attention) {
    Scene scene;
    scene.figures.quotas.ledger.trouble = "/var/lib/garner/quotas cannot be written: No space left on device";
    expect_one(scene, HealthState::attention,
               "a restart would forget what quotas have counted: /var/lib/garner/quotas cannot be written");
}

TEST(Health, a_users_file_that_cannot_be_read_is_trouble_with_the_age_of_its_users) {
    Scene scene;
    scene.figures.troubles = {{.name = "/etc/garner/users",
                               .why = "cannot be read: No such file or directory",
                               .effect = "its last users stay",
                               .since = scene.now - std::chrono::minutes{5}}};
    expect_one(scene, HealthState::trouble,
               "/etc/garner/users cannot be read: No such file or directory; its last users stay (last right 5 min");
    EXPECT_EQ(scene.health().items[0].check, "user_files");
}

TEST(Health, a_silent_directory_is_trouble) {
    Scene scene;
    scene.figures.troubles = {{.kind = auth::Trouble::Kind::directory,
                               .name = "ldaps://ldap.example",
                               .why = "Can't contact LDAP server",
                               .effect = "new logins get 503",
                               .fix = "check the directory",
                               .since = scene.now - seconds{40}}};
    expect_one(
        scene, HealthState::trouble,
        "the directory ldaps://ldap.example cannot be asked (first 40 s ago): Can't contact LDAP server; new logins get 503");
}

TEST(Health, silent_dns_servers_are_trouble_while_the_last_lookup_is_recent) {
    Scene scene;
    net::DnsHealth dns;
    for (auto const* host : {"a.example", "a.example", "b.example"}) dns.note(host, "DNS server did not respond", scene.now);
    scene.figures.dns = dns.figures();
    expect_ok(scene);
    dns.note("c.example", "DNS server did not respond", scene.now);
    scene.figures.dns = dns.figures();
    expect_one(scene, HealthState::trouble, "the DNS servers have not answered the last lookups");
    scene.now += std::chrono::minutes{6};
    expect_ok(scene);
    scene.now -= std::chrono::minutes{6};
    dns.note("d.example", "no such host", scene.now);
    scene.figures.dns = dns.figures();
    expect_ok(scene);
}

TEST(Health, a_configuration_that_was_not_confirmed_needs_attention) {
    Scene scene;
    scene.figures.config.returned = true;
    expect_one(scene, HealthState::attention, "the file has a configuration that was not confirmed in time");
}

TEST(Health, a_stuck_worker_is_trouble) {
    Scene scene;
    scene.figures.stuck_workers = 1;
    expect_one(scene, HealthState::trouble, "1 worker thread has not responded");
}

TEST(Health, a_failing_disk_is_trouble) {
    Scene scene;
    scene.figures.disk.state = store::DiskStats::State::recovering;
    expect_ok(scene);
    scene.figures.disk.state = store::DiskStats::State::failing;
    scene.figures.disk.trouble = "no space left on device";
    expect_one(scene, HealthState::trouble, "the disk tier fails, and Garner answers from memory and from origins");
    EXPECT_THAT(scene.health().items[0].fix, HasSubstr("no space left on device"));
}

TEST(Health, a_member_that_is_cut_off_needs_attention_and_one_that_serves_all_the_same_is_trouble) {
    Scene scene;
    auto& group = scene.figures.group.emplace();
    group.name = "lab";
    group.why = "no lease of 10.0.0.2:3133";
    group.serves_cut_off = true;
    group.current = true;
    expect_ok(scene);
    group.current = false;
    expect_one(scene, HealthState::trouble, "cut off from group lab, and serves responses that may be outdated");
    EXPECT_THAT(scene.health().items[0].fix, HasSubstr("10.0.0.2:3133"));
    group.serves_cut_off = false;
    expect_one(scene, HealthState::attention, "cut off from group lab, and validates what the group covers");
}

TEST(Health, a_dead_peer_needs_attention_and_a_silent_one_does_not) {
    Scene scene;
    scene.figures.peers = {a_peer("campus", icp::PeerOptions::Type::parent)};
    scene.figures.peers[0].health = icp::Health::suspect;
    expect_ok(scene);
    scene.figures.peers[0].health = icp::Health::dead;
    expect_one(scene, HealthState::attention, "parent campus is dead");
    EXPECT_EQ(scene.health().sentence, "Attention: parent campus is dead.");
}

TEST(Health, lost_lines_of_the_log_need_attention) {
    Scene scene;
    scene.figures.log.lost = 500;
    scene.figures.log.last_error = "No space left on device";
    expect_ok(scene);   // they were lost earlier
    scene.trend.last.lost_lines = 3;
    expect_one(scene, HealthState::attention, "3 lines of the access log were lost in the last minute: No space left on device");
}

TEST(Health, many_failures_are_trouble_if_they_are_more_than_usual) {
    Scene scene;
    scene.trend.last.failed = 19;
    expect_ok(scene);
    scene.trend.last.failed = 20;
    expect_one(scene, HealthState::trouble, "20 requests failed in the last minute, usually 0");
    scene.trend.usual->failed = 7;
    expect_ok(scene);
    scene.trend.last.failed = 21;
    expect_one(scene, HealthState::trouble, "usually 7");
}

TEST(Health, without_a_usual_number_a_third_of_all_requests_is_many_failures) {
    Scene scene;
    scene.trend.usual.reset();
    scene.trend.last.failed = 330;
    expect_ok(scene);
    scene.trend.last.failed = 340;
    expect_one(scene, HealthState::trouble, "340 requests failed in the last minute");
}

TEST(Health, many_refusals_need_attention_if_the_usual_number_is_known) {
    Scene scene;
    scene.trend.last.refused = 60;
    scene.trend.usual->refused = 21;
    expect_ok(scene);
    scene.trend.usual->refused = 20;
    expect_one(scene, HealthState::attention, "60 requests were refused in the last minute, usually 20");
    scene.trend.usual.reset();
    expect_ok(scene);
}

TEST(Health, refusals_of_nearly_all_requests_need_attention) {
    Scene scene;
    scene.trend.usual.reset();
    scene.trend.last.requests = 1'000;
    scene.trend.last.refused = 890;
    expect_ok(scene);
    scene.trend.last.refused = 900;
    expect_one(scene, HealthState::attention, "900 requests were refused in the last minute");
}

TEST(Health, nine_tenths_of_the_open_files_need_attention) {
    Scene scene;
    scene.figures.open_files_limit = 1'000;
    scene.figures.open_files = 899;
    expect_ok(scene);
    scene.figures.open_files = 900;
    expect_one(scene, HealthState::attention, "900 of at most 1,000 files are open");
}

TEST(Health, nine_tenths_of_the_connections_need_attention) {
    Scene scene;
    scene.figures.connections_limit = 1'000;
    scene.figures.connections_now = 899;
    expect_ok(scene);
    scene.figures.connections_now = 900;
    expect_one(scene, HealthState::attention, "900 of at most 1,000 client connections");
}

TEST(Health, a_certificate_needs_attention_before_its_end_and_is_trouble_afterwards) {
    using std::chrono::days;
    Scene scene;
    scene.figures.certificates = {{"CN = a.example", scene.now + days(15)}};
    expect_ok(scene);
    scene.figures.certificates = {{"CN = a.example", scene.now + days(14)}};
    expect_one(scene, HealthState::attention, "CN = a.example ends in 14 days");
    scene.figures.certificates = {{"CN = a.example", scene.now}};
    expect_one(scene, HealthState::trouble, "CN = a.example has expired");
}

TEST(Health, a_refused_reload_needs_attention) {
    Scene scene;
    scene.figures.config.refused = "garner.json:3: memory.size: expects a size";
    expect_one(scene, HealthState::attention, "garner.json:3: memory.size: expects a size");
}

TEST(Health, the_worst_item_comes_first_and_gives_the_state) {
    Scene scene;
    scene.figures.peers = {a_peer("campus", icp::PeerOptions::Type::parent), a_peer("east", icp::PeerOptions::Type::sibling)};
    for (auto& peer : scene.figures.peers) peer.health = icp::Health::dead;
    scene.figures.disk.state = store::DiskStats::State::failing;
    auto const health = scene.health();
    EXPECT_EQ(health.state, HealthState::trouble);
    ASSERT_EQ(health.items.size(), 3u);
    EXPECT_THAT(health.items[0].what, HasSubstr("disk"));
    EXPECT_EQ(health.items[1].what, "parent campus is dead");
    EXPECT_EQ(health.items[2].what, "sibling east is dead");
    EXPECT_THAT(health.sentence, testing::StartsWith("Trouble: the disk tier fails"));
    EXPECT_THAT(health.sentence, testing::EndsWith(", and 2 more problems."));
}

}   // namespace
}   // namespace garner::admin
