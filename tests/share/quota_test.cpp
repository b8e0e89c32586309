// Windows, states and subjects of quotas, without files.
#include "share/quota.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <stdlib.h>

#include <ctime>
#include <random>
#include <set>

#include "share/quotas.hpp"
#include "share/subject.hpp"

namespace garner::share {
namespace {

/// The time zone of the process, for one test.
class Zone {
public:
    explicit Zone(char const* name) {
        ::setenv("TZ", name, 1);
        ::tzset();
    }
    ~Zone() {
        ::unsetenv("TZ");
        ::tzset();
    }
};

std::tm parts_of(std::int64_t time) {
    auto const clock = static_cast<std::time_t>(time);
    std::tm parts{};
    ::localtime_r(&clock, &parts);
    return parts;
}

constexpr std::int64_t day = 86'400, year_2026 = 1'767'225'600;
constexpr Per all_spans[]{Per::day, Per::week, Per::month};
constexpr char const* zones[]{"UTC",          "Europe/Berlin",     "America/New_York",    "Asia/Kolkata", "Asia/Beirut",
                              "Pacific/Apia", "America/Sao_Paulo", "Australia/Lord_Howe", "Asia/Tehran"};

QuotaRule rule_of(Bytes bytes) {
    QuotaRule rule;
    rule.name = "guests";
    rule.bytes = bytes;
    return rule;
}

WallTime at(std::int64_t time) { return from_unix_seconds(time); }

TEST(QuotaWindow, contains_its_moment_in_every_zone) {
    std::mt19937_64 random(7);
    for (auto const* name : zones) {
        Zone const zone(name);
        for (int i = 0; i < 3'000; ++i) {
            auto const now = year_2026 - 8 * 366 * day + static_cast<std::int64_t>(random() % (16ull * 366 * day));
            for (auto const per : all_spans) {
                auto const window = window_at(per, now);
                ASSERT_TRUE(window.contains(now)) << name << " " << text(per) << " " << now;
                ASSERT_LE(window.end - window.begin, 31 * day + 3'600 + 1'800);
            }
        }
    }
}

TEST(QuotaWindow, begins_at_midnight_on_monday_and_on_the_first) {
    for (auto const* name : {"UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"}) {
        Zone const zone(name);
        for (auto now = year_2026; now < year_2026 + 366 * day; now += 5'003) {
            auto const of_day = parts_of(window_at(Per::day, now).begin);
            ASSERT_EQ(of_day.tm_hour + of_day.tm_min + of_day.tm_sec, 0);
            ASSERT_EQ(of_day.tm_mday, parts_of(now).tm_mday);
            auto const of_week = parts_of(window_at(Per::week, now).begin);
            ASSERT_EQ(of_week.tm_wday, 1) << "Monday";
            auto const of_month = parts_of(window_at(Per::month, now).begin);
            ASSERT_EQ(of_month.tm_mday, 1);
            ASSERT_EQ(of_month.tm_mon, parts_of(now).tm_mon);
            for (auto const per : all_spans)
                ASSERT_EQ(window_at(per, window_at(per, now).end - 1).begin, window_at(per, now).begin);
        }
    }
}

TEST(QuotaWindow, a_day_has_23_or_25_hours_when_summer_time_changes) {
    Zone const zone("Europe/Berlin");
    std::set<std::int64_t> lengths;
    for (auto now = year_2026; now < year_2026 + 365 * day; now += day / 2) {
        auto const window = window_at(Per::day, now);
        lengths.insert((window.end - window.begin) / 3'600);
    }
    EXPECT_EQ(lengths, (std::set<std::int64_t>{23, 24, 25}));
}

TEST(QuotaUsage, a_clock_that_goes_back_takes_what_was_counted_with_it) {
    Zone const zone("UTC");
    Usage usage;
    usage.enter(window_at(Per::day, year_2026 + day));
    usage.count(1'000, year_2026 + day);
    usage.enter(window_at(Per::day, year_2026));
    EXPECT_EQ(usage.bytes, 1'000u);
    usage.count(1, year_2026);
    EXPECT_EQ(usage.minutes, 2u);
    usage.enter(window_at(Per::day, year_2026 + day));
    EXPECT_TRUE(usage.is_empty()) << "a clock that was years ahead blocks nobody until then";
}

TEST(QuotaUsage, counts_minutes_in_which_something_moved) {
    Usage usage;
    for (std::int64_t second = 0; second < 600; second += 7) usage.count(1, year_2026 + second);
    EXPECT_EQ(usage.minutes, 10u);
    usage.count(1, year_2026 + 3'600);
    EXPECT_EQ(usage.minutes, 11u);
}

TEST(QuotaUsage, adds_what_another_process_has_counted) {
    Usage mine{.begin = 1'000, .bytes = 5, .requests = 1, .minutes = 2, .last_minute = 30};
    mine.add({.begin = 1'000, .bytes = 7, .requests = 2, .minutes = 1, .last_minute = 30});
    EXPECT_EQ(mine, (Usage{.begin = 1'000, .bytes = 12, .requests = 3, .minutes = 2, .last_minute = 30})) << "the same minute";
    mine.add({.begin = 999, .bytes = 7, .requests = 2, .minutes = 1, .last_minute = 31});
    EXPECT_EQ(mine.bytes, 12u) << "an older window";
    mine.add({.begin = 2'000, .bytes = 7, .requests = 2, .minutes = 1, .last_minute = 40});
    EXPECT_EQ(mine.bytes, 7u) << "a later one";
}

/// The rule written down once more.
QuotaState naive_state(QuotaRule const& rule, Usage const& usage, std::int64_t now, Asks asks) {
    bool full = rule.bytes && usage.bytes >= rule.bytes;
    full |= rule.requests && usage.requests + (asks == Asks::begin) > rule.requests;
    auto const minutes = usage.minutes + (now / 60 > static_cast<std::int64_t>(usage.last_minute));
    full |= rule.minutes() && minutes > rule.minutes();
    if (full && rule.over == Over::refuse) return QuotaState::over;
    double most = 0;
    if (rule.bytes) most = std::max(most, static_cast<double>(usage.bytes) / static_cast<double>(rule.bytes));
    if (rule.requests) most = std::max(most, usage.requests / static_cast<double>(rule.requests));
    if (rule.minutes()) most = std::max(most, usage.minutes / static_cast<double>(rule.minutes()));
    bool const has_limit = rule.bytes || rule.requests || rule.minutes();
    return full || (has_limit && rule.slow && most >= rule.soft) ? QuotaState::slow : QuotaState::within;
}

TEST(QuotaState, follows_limits_soft_and_over) {
    std::mt19937 random(11);
    auto const draw = [&](std::uint32_t most) { return static_cast<std::uint32_t>(random() % (most + 1)); };
    std::array<int, 3> seen{};
    for (int i = 0; i < 20'000; ++i) {
        QuotaRule rule;
        rule.bytes = draw(2) == 0 ? 0 : draw(100);
        rule.requests = draw(2) == 0 ? 0 : draw(20);
        rule.time = std::chrono::minutes(draw(2) == 0 ? 0 : draw(20));
        rule.soft = draw(4) / 4.0;
        rule.slow = draw(1) * 1'000;
        rule.over = rule.slow && draw(1) ? Over::slow : Over::refuse;
        Usage const usage{.begin = 0, .bytes = draw(120), .requests = draw(24), .minutes = draw(24), .last_minute = 100 + draw(1)};
        for (auto const asks : {Asks::begin, Asks::go_on}) {
            auto const state = state_of(rule, usage, 101 * 60, asks);
            ASSERT_EQ(state, naive_state(rule, usage, 101 * 60, asks)) << i;
            ++seen[static_cast<std::size_t>(state)];
        }
    }
    for (int const count : seen) EXPECT_GT(count, 500);
}

TEST(QuotaState, texts_name_quota_use_and_end) {
    Zone const zone("UTC");
    QuotaStanding standing{.rule = rule_of(2'000'000'000), .usage = {.bytes = 2'000'000'001}};
    standing.rule.per = Per::month;
    standing.until = window_at(Per::month, year_2026 + day).end;
    EXPECT_EQ(over_text(standing), "The quota \"guests\" is used up: 2 GB of 2 GB this month. It begins anew at 2026-02-01 00:00.");
    EXPECT_EQ(used_text({"minutes", 30, 120}), "30m of 2h");
    EXPECT_EQ(used_text({"requests", 3, 10}), "3 of 10 requests");
    EXPECT_EQ(used_text({"bytes", 1'234'567, 2'000'000'000}), "1.2 MB of 2 GB");
}

// ---- subjects ----

TEST(Quotas, count_slow_and_refuse) {
    Quotas quotas;
    auto rule = rule_of(1'000);
    rule.slow = 1'000'000;
    quotas.configure({rule});
    auto const anna = quotas.find("guests", subject_key("anna")), bert = quotas.find("guests", subject_key("bert"));
    auto const now = at(year_2026 + 100);
    EXPECT_EQ(anna->begin(now), QuotaState::within);
    EXPECT_EQ(anna->charge(799, now), QuotaState::within);
    EXPECT_EQ(anna->lane(), anna->lane()) << "all transfers of a subject share its lane";
    EXPECT_NE(anna->lane(), bert->lane());
    EXPECT_EQ(anna->charge(1, now), QuotaState::slow);
    EXPECT_EQ(anna->charge(200, now), QuotaState::over);
    EXPECT_EQ(anna->begin(now), QuotaState::over);
    EXPECT_EQ(bert->begin(now), QuotaState::within);
    EXPECT_EQ(anna->begin(at(year_2026 + 2 * day)), QuotaState::within) << "the next day";
    auto const figures = quotas.figures();
    ASSERT_EQ(figures.rules.size(), 1u);
    EXPECT_EQ(figures.rules[0].bytes, 1'000u);
    EXPECT_EQ(figures.rules[0].requests, 3u);
    EXPECT_EQ(figures.rules[0].refused, 1u);
}

TEST(Quotas, a_number_of_requests_is_granted_whole) {
    Quotas quotas;
    QuotaRule rule;
    rule.name = "few";
    rule.requests = 3;
    quotas.configure({rule});
    auto const one = quotas.find("few", "");
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(one->begin(at(year_2026)), QuotaState::within);
        EXPECT_EQ(one->charge(1'000, at(year_2026)), QuotaState::within) << "the third request goes on";
    }
    EXPECT_EQ(one->begin(at(year_2026)), QuotaState::over);
}

TEST(Quotas, a_reload_keeps_what_is_used) {
    Quotas quotas;
    quotas.configure({rule_of(1'000)});
    auto const anna = quotas.find("guests", subject_key("anna"));
    anna->charge(600, at(year_2026));
    quotas.configure({});
    EXPECT_EQ(anna->charge(600, at(year_2026)), QuotaState::within) << "its rule is gone";
    EXPECT_FALSE(quotas.find("guests", subject_key("anna")));
    auto other = rule_of(10);
    other.name = "other";
    quotas.configure({other, rule_of(500)});
    EXPECT_EQ(anna->state(at(year_2026)), QuotaState::over);
    EXPECT_EQ(quotas.look_up("guests", subject_key("anna"), at(year_2026))->usage.bytes, 600u);
}

TEST(Quotas, are_reset_for_one_or_all) {
    Quotas quotas;
    quotas.configure({rule_of(1'000)});
    auto const now = at(year_2026);
    auto const used = [&](char const* name) { return quotas.look_up("guests", subject_key(name), now)->usage.bytes; };
    for (char const* name : {"anna", "bert"}) quotas.find("guests", subject_key(name))->charge(700, now);
    EXPECT_EQ(quotas.reset("nobody", std::nullopt, now), Quotas::Reset::no_rule);
    EXPECT_EQ(quotas.reset("guests", "carl", now), Quotas::Reset::no_subject);
    EXPECT_EQ(quotas.reset("guests", "anna", now), Quotas::Reset::done);
    EXPECT_EQ(used("anna"), 0u);
    EXPECT_EQ(used("bert"), 700u);
    EXPECT_EQ(quotas.take_changes(now).size(), 2u) << "the ledger gets the reset";
    EXPECT_EQ(quotas.reset("guests", std::nullopt, now), Quotas::Reset::done);
    EXPECT_EQ(used("bert"), 0u);
    quotas.find("guests", "")->charge(700, now);
    EXPECT_EQ(quotas.reset("guests", "all", now), Quotas::Reset::done) << "as the lists name all clients of a rule";
    EXPECT_EQ(quotas.look_up("guests", "", now)->usage.bytes, 0u);
}

TEST(Quotas, a_user_named_like_an_address_is_told_apart_from_it) {
    Quotas quotas;
    quotas.configure({rule_of(1'000)});
    auto const now = at(year_2026);
    auto const of_user = subject_key("10.0.0.7"), of_network = subject_key(*parse_ip("10.0.0.7"));
    auto const used = [&](std::string const& key) { return quotas.look_up("guests", key, now)->usage.bytes; };
    quotas.find("guests", of_network)->charge(700, now);
    EXPECT_EQ(quotas.reset("guests", "user:10.0.0.7", now), Quotas::Reset::no_subject);
    EXPECT_EQ(quotas.reset("guests", "10.0.0.7", now), Quotas::Reset::done) << "only one has this name";
    EXPECT_EQ(used(of_network), 0u);
    for (auto const& key : {of_user, of_network}) quotas.find("guests", key)->charge(700, now);
    EXPECT_EQ(quotas.reset("guests", "10.0.0.7", now), Quotas::Reset::ambiguous);
    EXPECT_EQ(used(of_user) + used(of_network), 1'400u);
    EXPECT_EQ(quotas.reset("guests", "user:10.0.0.7", now), Quotas::Reset::done);
    EXPECT_EQ(used(of_user), 0u);
    EXPECT_EQ(used(of_network), 700u);
    EXPECT_EQ(quotas.reset("guests", "source:10.0.0.7", now), Quotas::Reset::done);
    EXPECT_EQ(used(of_network), 0u);
}

TEST(Quotas, the_longest_idle_leave) {
    Quotas quotas;
    quotas.configure({rule_of(1'000)});
    auto const number = [](std::uint32_t host) { return subject_key(IpAddress::v4(0x0a000000u + host)); };
    auto const kept = quotas.find("guests", number(0));
    kept->charge(5, at(year_2026));
    for (std::uint32_t i = 1; i <= 2 * Quotas::most; ++i) quotas.find("guests", number(i));
    auto const figures = quotas.figures();
    EXPECT_LE(figures.subjects, Quotas::most);
    EXPECT_GT(figures.subjects, Quotas::most * 9 / 10);
    EXPECT_LE(figures.memory, Quotas::memory_max);
    EXPECT_EQ(quotas.look_up("guests", number(0), at(year_2026))->usage.bytes, 5u);
}

TEST(Quotas, long_names_leave_room_for_fewer) {
    Quotas quotas;
    quotas.configure({rule_of(1'000)});
    for (int i = 0; i < 60'000; ++i) quotas.find("guests", subject_key(std::string(1'000, 'x') + std::to_string(i)));
    EXPECT_LE(quotas.figures().memory, Quotas::memory_max + 16 * 2'000);
}

TEST(Quotas, a_hundred_thousand_take_at_most_20_MiB) {
    constexpr Bytes node = sizeof(std::pair<std::string const, QuotaSubject>) + 2 * sizeof(void*);   // next, hash
    EXPECT_LE(heap_block(node) + sizeof(void*), Quotas::bytes_each);
    EXPECT_LE(Quotas::most * Quotas::bytes_each, Quotas::memory_max);
}

TEST(Quotas, the_most_used_come_first) {
    Quotas quotas;
    quotas.configure({rule_of(100'000)});
    for (int i = 1; i <= 300; ++i)
        quotas.find("guests", subject_key("u" + std::to_string(i)))->charge(static_cast<Bytes>(i), at(year_2026));
    auto const largest = quotas.largest(100, at(year_2026));
    ASSERT_EQ(largest.size(), 100u);
    EXPECT_EQ(largest.front().usage.bytes, 300u);
    EXPECT_EQ(largest.back().usage.bytes, 201u);
    EXPECT_TRUE(quotas.largest(100, at(year_2026 + 40 * day)).empty()) << "their windows have ended";
}

TEST(Quotas, another_process_goes_on_with_both_counts) {
    Zone const zone("UTC");
    Quotas former, fresh;
    former.configure({rule_of(1'000)});
    fresh.configure({rule_of(1'000)});
    auto const now = at(year_2026);
    auto const anna = former.find("guests", subject_key("anna"));
    anna->begin(now);
    anna->charge(300, now);
    fresh.add(former.begin_counting(now));
    fresh.find("guests", subject_key("anna"))->charge(200, now);
    anna->charge(100, now);
    anna->charge(50, now);
    fresh.add(former.take_counted());
    EXPECT_TRUE(former.take_counted().empty());
    EXPECT_EQ(fresh.look_up("guests", subject_key("anna"), now)->usage,
              (Usage{.begin = year_2026, .bytes = 650, .requests = 1, .minutes = 1, .last_minute = minute_of(year_2026)}));
    former.end_counting();
}

}   // namespace
}   // namespace garner::share
