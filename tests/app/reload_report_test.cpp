#include "app/reload_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace garner::app {
namespace {

using testing::ElementsAre;

config::KeyChange change(char const* key, bool waits = false) { return {.key = key, .before = "1", .after = "2", .waits = waits}; }

TEST(ReloadReport, of_an_applied_configuration) {
    ReloadReport const report{.faults = {}, .notices = {}, .changes = {change("memory.size"), change("via")}};
    EXPECT_EQ(report.exit_code(), 0);
    EXPECT_THAT(report.lines(false),
                ElementsAre("memory.size: 1 -> 2 (now)", "via: 1 -> 2 (now)", "configuration reloaded: 2 keys changed"));
    EXPECT_THAT(report.lines(true), testing::Contains("a reload would change 2 keys"));
    EXPECT_EQ(ReloadReport{}.summary(), "configuration reloaded: nothing changed");
}

TEST(ReloadReport, of_a_smaller_disk_says_that_it_begins_empty) {
    store::DiskOptions before;
    before.path = "/var/cache/garner";
    auto after = before;
    ReloadReport report;
    after.size = before.size * 2;
    report.note_disk(before, after);
    EXPECT_TRUE(report.notices.empty());
    after.size = before.size - 1;
    report.note_disk(before, after);
    ASSERT_EQ(report.notices.size(), 1u);
    EXPECT_EQ(config::text_of(report.notices.front()),
              "disk.size: a smaller store begins empty: all objects on disk are discarded (keep the size, or name another "
              "disk.path to keep this store)");
    after.path = "/srv/garner";
    ReloadReport other;
    other.note_disk(before, after);
    EXPECT_TRUE(other.notices.empty()) << "the former store stays as it is";
}

TEST(ReloadReport, of_new_certificates) {
    std::string const text = "CN = a.example (192.0.2.1:3129), valid until Thu, 26 Nov 2026 10:00:00 GMT";
    ReloadReport report;
    report.new_certificates = {text};
    EXPECT_THAT(report.lines(false),
                ElementsAre("new certificate: " + text, "configuration reloaded: no key changed; 1 new certificate"));
    report.changes = {change("via")};
    report.new_certificates.push_back(text);
    EXPECT_EQ(report.summary(), "configuration reloaded: 1 key changed; 2 new certificates");
}

TEST(ReloadReport, of_replaced_and_of_removed_certificates) {
    auto const end = from_unix_seconds(1'900'000'000);
    auto const place = "client_ca of 192.0.2.1:3129";
    proxy::UsedCertificate const former{"CN = A", place, end, "1"}, renewed{"CN = A", place, end, "2"};
    proxy::UsedCertificates const before{.shown = {}, .trusted = {former}}, after{.shown = {}, .trusted = {renewed}};
    auto const text = former.name() + ", valid until Sun, 17 Mar 2030 17:46:40 GMT";
    ReloadReport report;
    report.note_certificates(before, before);
    EXPECT_THAT(report.lines(false), ElementsAre("configuration reloaded: nothing changed"));
    report.note_certificates(before, after);
    EXPECT_THAT(report.lines(false),
                ElementsAre("new certificate: " + text, "removed certificate: " + text,
                            "configuration reloaded: no key changed; 1 new certificate; 1 removed certificate"));
    ReloadReport fewer;
    fewer.note_certificates(after, {});
    EXPECT_EQ(fewer.summary(), "configuration reloaded: no key changed; 1 removed certificate");
}

TEST(ReloadReport, of_keys_that_wait_for_a_takeover) {
    ReloadReport const report{.faults = {}, .notices = {}, .changes = {change("via"), change("workers", true)}};
    EXPECT_EQ(report.exit_code(), 3);
    EXPECT_THAT(report.pending(), ElementsAre("workers"));
    EXPECT_EQ(report.summary(), "configuration reloaded: 1 key changed; 1 key waits for a takeover: workers");
    EXPECT_EQ(report.summary(true), "a reload would change 1 key; 1 key waits for a takeover: workers");
}

TEST(ReloadReport, of_a_refused_configuration) {
    ReloadReport const report{
        .faults = {{.file = "garner.json", .line = 3, .key = "via", .text = "no", .mend = ""}}, .notices = {}, .changes = {}};
    EXPECT_EQ(report.exit_code(), 1);
    EXPECT_THAT(
        report.lines(false),
        ElementsAre("garner.json:3: via: no", "configuration not reloaded: it has errors; the running configuration stays in use"));
}

TEST(ReloadReport, shows_a_thousand_changes_at_most) {
    ReloadReport const report{.faults = {}, .notices = {}, .changes = std::vector(1'500, change("via"))};
    auto const lines = report.lines(false);
    EXPECT_EQ(lines.size(), 1'002u);
    EXPECT_EQ(lines[1'000], "... and 500 more");
}

}   // namespace
}   // namespace garner::app
