#include "admin/cache_command.hpp"

#include <sstream>

#include "admin/cache_pages.hpp"
#include "admin/cache_text.hpp"
#include "admin/fake_disk.hpp"
#include "admin/house.hpp"
#include "admin/url_pattern.hpp"
#include "cache/cache.hpp"
#include "cache/parts.hpp"

namespace garner::admin {
namespace {

using test::Fields;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Kind = CacheCommand::Kind;

// ---- which URLs are matched ----

;

TEST(UrlPattern, is_a_beginning_or_a_whole_with_stars) {
    struct Row {
        char const* pattern;
        char const* url;
        bool fits;
    };
    for (Row const& row :
         {Row{"", "http://a.example/", true}, Row{"http://a.example/b", "http://a.example/b/c?d", true},
          Row{"http://a.example/b", "http://a.example/a", false}, Row{"HTTP://A.Example", "http://a.example/x", true},
          Row{"http://a.example", "http://a.example.org/", false}, Row{"http://a", "http://a.example/", false},
          Row{"https:", "https://a.example/", true}, Row{"*", "http://a.example/", true},
          Row{"*.jpg", "http://a.example/b.jpg", true}, Row{"*.jpg", "http://a.example/b.jpg?c", false},
          Row{"*.jpg*", "http://a.example/b.jpg?c", true}, Row{"http://*.example/*/b", "http://a.example/x/y/b", true},
          Row{"http://*.example/*/b", "http://a.example/b", false}, Row{"*aab", "http://a/aaaab", true},
          Row{"*a*a*a*a*b", "http://a/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false}})
        EXPECT_EQ(UrlPattern(row.pattern).fits(row.url), row.fits) << row.pattern << " " << row.url;
}

TEST(KeyParts, are_read_from_the_keys_that_the_cache_writes) {
    std::string key;
    cache::write_key_text(cache::Partition::forward, "http://a.example/", key);
    EXPECT_EQ(parts_of_key(key).url, "http://a.example/");
    EXPECT_FALSE(parts_of_key(key).accelerator);
    auto const variant = cache::parts_text(cache::variant_text(key, "accept:x\n"));
    EXPECT_EQ(parts_of_key(variant).url, "http://a.example/");
    EXPECT_EQ(parts_of_key(variant).variant, "accept:x\n");
    EXPECT_TRUE(parts_of_key(variant).of_parts);
    cache::write_key_text(cache::Partition::accelerator, "http://a.example/", key);
    EXPECT_TRUE(parts_of_key(key).accelerator);
    EXPECT_EQ(parts_of_key("").url, "");
}

TEST(CacheText, is_a_line_that_commands_no_terminal) {
    EXPECT_EQ(line_of_object({{"body_bytes", 1'536}, {"status", 200}, {"fresh_seconds", 3'900}, {"url", "http://a/"}}),
              "  1.50 KiB  200       1 h 5 min  http://a/");
    EXPECT_EQ(line_of_object({{"url", "http://a/\x1b[2J"},
                              {"variant", "accept:de\naccept-encoding:gzip\n"},
                              {"whole", false},
                              {"status", 404},
                              {"fresh_seconds", -10},
                              {"partition", "accelerator"}}),
              "       0 B  404      stale 10 s  http://a/?[2J [accept:de; accept-encoding:gzip] (parts) (accelerator)");
    EXPECT_THAT(line_of_object({{"status", 200}, {"fresh_seconds", -400'000'000}, {"url", "http://a/"}}), HasSubstr(" 200 stale "))
        << "columns never touch";
}

// ---- the command ----

struct Outcome {
    int code;
    std::string out;
    std::string err;
};

Outcome run(CacheCommand const& command) {
    std::ostringstream out, err;
    int const code = run_cache_command(command, out, err);
    return {code, out.str(), err.str()};
}

/// A cache command without a proxy: only its first call gets the disk store.
CacheCommand alone(Kind kind, std::unique_ptr<FakeDisk> disk, std::string pattern = "") {
    CacheCommand command;
    command.kind = kind;
    command.pattern = std::move(pattern);
    command.disk.path = "/var/cache/garner";
    auto shared = std::make_shared<std::unique_ptr<FakeDisk>>(std::move(disk));
    command.open = [shared](store::DiskOptions const& options) -> Result<std::unique_ptr<store::DiskStore>> {
        EXPECT_EQ(options.path, "/var/cache/garner");
        if (!*shared) return Fault{"another process has it"};
        return std::move(*shared);
    };
    return command;
}

std::unique_ptr<FakeDisk> three_objects() {
    auto disk = std::make_unique<FakeDisk>(3);
    disk->put(0, "fhttp://a.example/one");
    disk->put(2, "fhttp://a.example/two", -10);
    disk->put(2, "fhttp://b.example/three");
    return disk;
}

/// A proxy in this process with a disk tier.
struct Tiers {
    CacheCommand command(Kind kind, std::string pattern = "") const {
        CacheCommand command;
        command.kind = kind;
        command.pattern = std::move(pattern);
        command.address = "127.0.0.1";
        command.port = house.port();
        return command;
    }

    std::unique_ptr<FakeDisk> disk = three_objects();
    House house{{}, "", disk.get()};
};

TEST(CacheCommand, lists_a_store_that_no_proxy_has) {
    auto outcome = run(alone(Kind::list, three_objects()));
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_EQ(outcome.out, "  1.50 KiB  200       1 min 0 s  http://a.example/one\n"
                           "  1.50 KiB  200      stale 10 s  http://a.example/two\n"
                           "  1.50 KiB  200       1 min 0 s  http://b.example/three\n");
    outcome = run(alone(Kind::list, three_objects(), "*two"));
    EXPECT_EQ(outcome.out, "  1.50 KiB  200      stale 10 s  http://a.example/two\n");
    auto command = alone(Kind::list, three_objects(), "http://b.example/");
    command.json = true;
    outcome = run(command);
    EXPECT_EQ(Json::parse(outcome.out),
              Json::parse(R"({"url": "http://b.example/three", "partition": "forward", "variant": null, "whole": true,
                              "status": 200, "body_bytes": 1536, "disk_bytes": 2048,
                              "stored": "Mon, 12 Jan 1970 13:46:40 GMT", "fresh_seconds": 60})"));
    EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 1);
}

TEST(CacheCommand, a_store_that_another_has_is_said_with_who_was_asked) {
    auto const outcome = run(alone(Kind::list, nullptr));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err, "garner: another process has it; the configuration has no admin address\n");
    auto command = alone(Kind::list, nullptr);
    auto const port = test::free_port();
    command.address = "127.0.0.1";
    command.port = port;
    EXPECT_EQ(run(command).err,
              "garner: another process has it; no Garner replies at 127.0.0.1:" + std::to_string(port) + ": connection refused\n");
    command.disk.path.clear();
    EXPECT_EQ(run(command).err, "garner: no Garner replies at 127.0.0.1:" + std::to_string(port) +
                                    ": connection refused; start it, or pass the --config FILE of the running proxy\n");
    command.address = "localhost";
    EXPECT_EQ(run(command).code, 2);
}

TEST(CacheCommand, verify_ends_with_1_when_something_was_damaged) {
    auto outcome = run(alone(Kind::verify, three_objects()));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "3 records with 6.00 KiB checked: none damaged\n");
    auto disk = three_objects();
    disk->damage(2);
    outcome = run(alone(Kind::verify, std::move(disk)));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "3 records with 6.00 KiB checked: 1 damaged and removed\n");
    auto command = alone(Kind::verify, three_objects());
    command.json = true;
    EXPECT_EQ(Json::parse(run(command).out), Json({{"records", 3}, {"damaged", 0}, {"bytes", 6'144}, {"complete", true}}));
}

TEST(CacheCommand, verify_keeps_to_its_rate) {
    auto command = alone(Kind::verify, three_objects());
    command.rate = 20 * KiB;
    auto const begun = steady_now();
    EXPECT_EQ(run(command).code, 0);
    EXPECT_GE(steady_now() - begun, milliseconds{290});   // 6 KiB at 20 KiB/s
}

TEST(CacheCommand, purge_removes_what_fits_and_tells_how_many) {
    auto disk = three_objects();
    auto& kept = *disk;
    kept.on_list = [&kept](std::uint32_t segment) {   // listed before the store is closed
        if (segment == 0) EXPECT_EQ(kept.keys().size(), 3u);
    };
    auto outcome = run(alone(Kind::purge, std::move(disk), "http://a.example/"));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "purged 2 objects\n");
    outcome = run(alone(Kind::purge, three_objects(), "http://c.example/"));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "purged 0 objects\n");
    auto command = alone(Kind::purge, three_objects(), "*");
    command.json = true;
    EXPECT_EQ(Json::parse(run(command).out), Json({{"purged", 3}, {"durable", true}, {"complete", true}}));
}

TEST(CacheCommand, what_moves_behind_a_purge_is_purged_all_the_same) {
    auto disk = three_objects();
    auto& moving = *disk;
    int moves = 0;
    moving.on_list = [&](std::uint32_t segment) {
        if (segment != 1 || moves++ != 0) return;
        moving.forget("fhttp://a.example/two");   // rewritten at the end of the log
        moving.go_on_with("fhttp://a.example/two");
    };
    auto const outcome = run(alone(Kind::purge, std::move(disk), "http://a.example/"));
    EXPECT_EQ(outcome.out, "purged 2 objects\n");
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(moves, 1);
}

TEST(CacheCommand, what_comes_to_the_disk_while_memory_is_purged_is_purged_too) {
    Tiers tiers;
    tiers.disk->go_on_with("fhttp://a.example/four");
    int looks = 0;
    tiers.disk->on_list = [&](std::uint32_t segment) {
        if (segment == 3 && looks++ == 0) return;   // the newest segment is listed once more for entries that came from memory
        if (segment == 3 && looks == 2) tiers.disk->go_on_with("fhttp://a.example/five");
    };
    auto const outcome = run(tiers.command(Kind::purge, "http://a.example/"));
    EXPECT_EQ(outcome.out, "purged 4 objects\n") << outcome.err;
    EXPECT_THAT(tiers.disk->keys(), ElementsAre("fhttp://b.example/three"));
}

TEST(CacheCommand, what_waits_for_the_disk_is_listed_and_purged) {
    Tiers tiers;
    store::DiskStore::Listed waiting;
    waiting.key = "fhttp://c.example/waits";
    tiers.disk->waiting.push_back(waiting);
    EXPECT_THAT(run(tiers.command(Kind::list)).out, HasSubstr("http://c.example/waits"));
    EXPECT_EQ(run(tiers.command(Kind::purge, "http://c.example/")).code, 0);
}

TEST(CacheCommand, a_purge_that_is_not_durable_is_said) {
    auto disk = three_objects();
    disk->settles = false;
    auto const outcome = run(alone(Kind::purge, std::move(disk), "*"));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "purged 3 objects\n");
    EXPECT_THAT(outcome.err, HasSubstr("did not confirm all purges"));
}

TEST(CacheCommand, a_store_that_fails_says_why) {
    auto disk = three_objects();
    disk->stats_.state = store::DiskStats::State::failing;
    disk->stats_.trouble = "no space left on device";
    auto const outcome = run(alone(Kind::verify, std::move(disk)));
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.err, "garner: the disk tier is failing: no space left on device\n");
}

TEST(CacheCommand, stats_are_the_figures_of_the_tiers) {
    auto const outcome = run(alone(Kind::stats, three_objects()));
    EXPECT_EQ(outcome.code, 0);
    EXPECT_THAT(outcome.out, StartsWith("Disk\n  state                        working\n"));
    EXPECT_THAT(outcome.out, Not(HasSubstr("Memory")));
    auto command = alone(Kind::stats, three_objects());
    command.json = true;
    EXPECT_EQ(Json::parse(run(command).out)["disk"]["segments"], 3);
}

// ---- with a proxy that runs ----

TEST(CacheCommand, asks_the_proxy_that_runs) {
    Tiers tiers;
    auto outcome = run(tiers.command(Kind::list));
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, run(alone(Kind::list, three_objects())).out);
    EXPECT_EQ(run(tiers.command(Kind::verify)).out, "3 records with 6.00 KiB checked: none damaged\n");
    outcome = run(tiers.command(Kind::stats));
    EXPECT_THAT(outcome.out, StartsWith("Memory\n"));
    EXPECT_THAT(outcome.out, HasSubstr("\nDisk\n  state                        working\n"));
    outcome = run(tiers.command(Kind::purge, "http://a.example/"));
    EXPECT_EQ(outcome.out, "purged 2 objects\n") << outcome.err;
    EXPECT_THAT(tiers.disk->keys(), ElementsAre("fhttp://b.example/three"));
}

TEST(CacheCommand, another_proxys_store_is_left_alone) {
    Tiers tiers;
    auto command = alone(Kind::list, std::make_unique<FakeDisk>(1));
    command.address = "127.0.0.1";
    command.port = tiers.house.port();
    EXPECT_EQ(run(command).out, run(tiers.command(Kind::list)).out) << "both read the store of the running process";
    tiers.disk->stats_.path = "/another";
    EXPECT_EQ(run(command).out, "") << "the command opens its own store, which is empty";
    EXPECT_THAT(run(command).err, HasSubstr("another process has it; the Garner at 127.0.0.1:" +
                                            std::to_string(tiers.house.port()) + " uses another disk.path"));
}

TEST(CacheCommand, purges_from_memory_with_a_disk_tier_or_without) {
    test::Origin origin;
    origin.answer("/page", test::fresh("hello"));
    origin.answer("/other", test::fresh("hello"));
    House house;
    auto fill = [&](char const* path) {
        house.fetch(origin.url(path)).body();
        ASSERT_TRUE(test::eventually([&] { return house.fetch(origin.url(path)).hit(); }));
    };
    fill("/page");
    fill("/other");
    CacheCommand command;
    command.kind = Kind::purge;
    command.pattern = origin.url("/p");
    command.address = "127.0.0.1";
    command.port = house.port();
    auto outcome = run(command);
    EXPECT_EQ(outcome.out, "purged 1 object\n") << outcome.err;
    EXPECT_FALSE(house.fetch(origin.url("/page")).hit());
    EXPECT_TRUE(house.fetch(origin.url("/other")).hit());
    command.kind = Kind::list;
    outcome = run(command);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("there is no disk tier: disk.path is empty"));
}

TEST(CachePages, are_for_those_who_mean_it_and_bounded) {
    Tiers tiers;
    Fields const meant{{"Garner-Admin", "1"}};
    auto post = [&](char const* target, char const* form, Fields const& fields) {
        return tiers.house.at_admin().post(target, form, fields).status();
    };
    EXPECT_EQ(post("/cache/purge", "pattern=*", {}), 403);
    EXPECT_EQ(post("/cache/list", "", {}), 403);
    EXPECT_EQ(tiers.house.at_admin().get("/cache/list", meant).status(), 405);
    EXPECT_EQ(post("/cache/purge", "", meant), 400);
    EXPECT_EQ(post("/cache/clear", "", meant), 404);
    for (auto const* at : {"at=3", "at=-1", "at=99999999999", "at=1x", "at=memory"})
        EXPECT_EQ(post("/cache/list", at, meant), 400) << at;
    for (auto const* at : {"memory:", "memory:1:2", "memory:1:2:3:4", "memory:1:x:y", "rest:", "rest:x", "segments:1:2", "2"})
        EXPECT_EQ(post("/cache/purge", ("pattern=*&at=" + std::string(at)).c_str(), meant), 400) << at;
    EXPECT_EQ(post("/cache/purge", "pattern=*&at=memory%3A1%3A9999999%3A4294967295", meant), 200);
    EXPECT_EQ(tiers.disk->keys().size(), 3u);
}

TEST(CachePages, figures_and_explanations_tell_of_the_disk) {
    Tiers tiers;
    auto const stats = tiers.house.stats()["disk"];
    EXPECT_EQ(stats["state"], "working");
    EXPECT_EQ(stats["segments"], 3);
    EXPECT_THAT(tiers.house.at_admin().get("/metrics").body(), HasSubstr("\ngarner_disk_state{state=\"working\"} 1\n"));
    EXPECT_THAT(tiers.house.at_admin().get("/").body(), HasSubstr("data-stat=\"disk.state\" data-value=\"working\""));
    auto told = Json::parse(tiers.house.at_admin().get("/explain?url=http://a.example/one").body());
    EXPECT_EQ(told["on_disk"], "no");
}

}   // namespace
}   // namespace garner::admin
