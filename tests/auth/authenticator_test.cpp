#include "auth/authenticator.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <span>

#include "auth/logins.hpp"
#include "auth/md5_crypt.hpp"
#include "net/waiter.hpp"
#include "support/child.hpp"
#include "support/wire.hpp"

namespace garner::auth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Kind = LoginAnswer::Kind;
using Found = Verified::Found::Kind;

std::atomic<std::int64_t> clock_ms{1'000'000};
WallTime test_now() { return WallTime(milliseconds(clock_ms.load())); }
void pass(milliseconds time) { clock_ms += time.count(); }

/// Knows users whose password is their name backwards. Counts checks, and may be silent or wait.
class FakeSource : public Source {
public:
    std::string_view name() const override { return "fake"; }
    bool takes(Scheme scheme) const override { return scheme != Scheme::bearer; }
    Verdict check(Credentials const& credentials, WallTime) override {
        ++checks;
        while (credentials.scheme == Scheme::negotiate ? holds_tickets : held) std::this_thread::sleep_for(milliseconds{1});
        if (silent) return {.kind = Verdict::Kind::unavailable, .reason = "no answer"};
        if (credentials.scheme == Scheme::negotiate && !ticket_user.empty())
            return {.kind = Verdict::Kind::accepted, .facts = {.user = ticket_user, .until = until}};
        std::string const user(credentials.user.view());
        if (std::string(user.rbegin(), user.rend()) != credentials.secret.view())
            return {.kind = Verdict::Kind::wrong, .reason = "wrong password"};
        return {.kind = Verdict::Kind::accepted, .facts = {.user = user, .until = until}};
    }
    Changes refresh() override { return std::exchange(changes, {}); }

    std::atomic<int> checks{0};
    std::atomic<bool> held{false}, holds_tickets{false}, silent{false};
    WallTime until = WallTime::max();
    std::string ticket_user = {};   // empty: tickets are wrong
    Changes changes;
};

struct House {
    explicit House(Options options = {}) {
        auto made = std::make_unique<FakeSource>();
        source = made.get();
        std::vector<std::unique_ptr<Source>> all;
        all.push_back(std::move(made));
        options.realm = "test";   // differs from the default options
        sources = Sources::of(std::move(options), std::move(all));
        use(authenticator, sources);
    }
    LoginAnswer log_in(std::string const& field, IpAddress const& client = here) {
        return auth::log_in(authenticator, field, client, test_now());
    }
    Found find(std::string const& field) { return authenticator.find(field, test_now()).kind; }

    FakeSource* source;
    std::shared_ptr<Sources const> sources;
    Authenticator authenticator{test_now};
};

std::string const alice_login = basic("alice", "ecila"), wrong_login = basic("alice", "wrong");

TEST(Authenticator, a_checked_login_is_remembered_for_its_time) {
    House house({.remember = std::chrono::minutes(5)});
    EXPECT_EQ(house.find(alice_login), Found::unknown);
    auto const answer = house.log_in(alice_login);
    ASSERT_EQ(answer.kind, Kind::accepted);
    EXPECT_EQ(answer.identity->user, "alice");
    EXPECT_EQ(answer.identity->source, "fake");
    EXPECT_EQ(answer.identity->until, test_now() + std::chrono::minutes(5));
    EXPECT_EQ(house.authenticator.find(alice_login, test_now()).identity, answer.identity);
    pass(std::chrono::minutes(5) - milliseconds(1));
    EXPECT_EQ(house.find(alice_login), Found::accepted);
    EXPECT_EQ(house.log_in(alice_login).kind, Kind::accepted);
    EXPECT_EQ(house.source->checks, 1);
    pass(milliseconds(1));
    EXPECT_EQ(house.find(alice_login), Found::unknown);
    EXPECT_EQ(house.log_in(alice_login).kind, Kind::accepted);
    EXPECT_EQ(house.source->checks, 2);
}

TEST(Authenticator, with_sources_the_process_makes_no_core_dumps) {
    ::prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
    Authenticator authenticator;
    use(authenticator, std::make_shared<Sources const>());
    EXPECT_EQ(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
    House const house;
    EXPECT_EQ(::prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
}

TEST(Authenticator, a_failed_login_is_remembered_for_a_shorter_time) {
    House house({.remember_failures = seconds(30)});
    auto const answer = house.log_in(wrong_login);
    EXPECT_EQ(answer.kind, Kind::rejected);
    EXPECT_EQ(answer.reason, "fake: wrong password");
    EXPECT_EQ(house.find(wrong_login), Found::wrong);
    EXPECT_EQ(house.find(alice_login), Found::unknown);
    pass(seconds(30));
    EXPECT_EQ(house.find(wrong_login), Found::unknown);
}

TEST(Authenticator, a_token_is_remembered_no_longer_than_it_is_valid) {
    House house;
    house.source->until = test_now() + seconds(10);
    EXPECT_EQ(house.log_in(alice_login).identity->until, test_now() + seconds(10));
    pass(seconds(10));
    EXPECT_EQ(house.find(alice_login), Found::unknown);
}

TEST(Authenticator, malformed_credentials_are_rejected_without_a_check) {
    House house;
    for (auto const* field : {"", "Basic", "Basic ???", "Digest a=b", "Bearer abc"}) {
        auto const answer = house.log_in(field);
        EXPECT_EQ(answer.kind, Kind::rejected);
        EXPECT_FALSE(answer.reason.empty());
    }
    EXPECT_TRUE(house.log_in("Negotiate TlRMTVNTUAABAAAA").negotiate_failed);
    EXPECT_EQ(house.source->checks, 0);
    EXPECT_EQ(house.authenticator.remembered(), 0u);
}

TEST(Authenticator, requests_with_the_same_credentials_share_one_check) {
    House house;
    house.source->held = true;
    std::vector<std::shared_ptr<RunningCheck>> checks;
    for (int i = 0; i < 100; ++i) checks.push_back(house.authenticator.verify(alice_login, here, test_now()));
    EXPECT_FALSE(checks[0]->answer());
    house.source->held = false;
    for (auto const& check : checks) EXPECT_EQ(answer_of(*check).kind, Kind::accepted);
    EXPECT_EQ(house.source->checks, 1);
}

TEST(Authenticator, a_waiting_coroutine_is_woken) {
    House house;
    net::asio::io_context loop;
    net::Waiter waiter(loop.get_executor());
    house.source->held = true;
    auto const check = house.authenticator.verify(alice_login, here, test_now());
    check->wake_when_done(waiter.handle());
    auto woken = net::Wake::shutdown;
    net::asio::co_spawn(
        loop, [&]() -> net::awaitable<void> { woken = co_await waiter.wait(seconds(30)); }, net::asio::detached);
    house.source->held = false;
    loop.run();
    EXPECT_EQ(woken, net::Wake::ready);
    EXPECT_EQ(check->answer()->kind, Kind::accepted);
}

TEST(Authenticator, failures_block_their_address_but_neither_others_nor_remembered_users) {
    House house({.failures_per_minute = 3});
    EXPECT_EQ(house.log_in(alice_login).kind, Kind::accepted);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(house.log_in(basic("bob", std::to_string(i))).kind, Kind::rejected);
    auto const answer = house.log_in(basic("bob", "bob"));
    EXPECT_EQ(answer.kind, Kind::limited);
    EXPECT_EQ(answer.retry_after, seconds(60));
    EXPECT_EQ(house.source->checks, 4);
    EXPECT_EQ(house.find(alice_login), Found::accepted);
    EXPECT_EQ(house.log_in(basic("bob", "bob"), there).kind, Kind::accepted);
    EXPECT_EQ(house.log_in(basic("bob", "bob"), here).kind, Kind::accepted);   // remembered now
    pass(seconds(59));
    EXPECT_EQ(house.log_in(basic("carol", "lorac")).kind, Kind::limited);
    pass(seconds(1));
    EXPECT_EQ(house.log_in(basic("carol", "lorac")).kind, Kind::accepted);
}

TEST(Authenticator, a_user_whose_login_was_right_is_checked_again_from_a_blocked_address) {
    House house({.remember = std::chrono::seconds(20), .failures_per_minute = 1});
    EXPECT_EQ(house.log_in(alice_login).kind, Kind::accepted);
    EXPECT_EQ(house.log_in(wrong_login).kind, Kind::rejected);
    pass(seconds(20));
    EXPECT_EQ(house.log_in(alice_login).kind, Kind::accepted);
    EXPECT_EQ(house.source->checks, 3);
}

TEST(Authenticator, queued_checks_of_a_blocked_address_cost_nothing) {
    House house({.threads = 1, .failures_per_minute = 2});
    house.source->held = true;
    std::vector<std::shared_ptr<RunningCheck>> checks;
    for (int i = 0; i < 100; ++i) checks.push_back(house.authenticator.verify(basic("bob", std::to_string(i)), here, test_now()));
    auto const other = house.authenticator.verify(alice_login, there, test_now());
    house.source->held = false;
    int limited = 0;
    for (auto const& check : checks) limited += answer_of(*check).kind == Kind::limited ? 1 : 0;
    EXPECT_EQ(limited, 98);
    EXPECT_EQ(answer_of(*other).kind, Kind::accepted);
    EXPECT_EQ(house.source->checks, 3);
}

TEST(Authenticator, a_full_queue_is_unavailable_and_a_late_check_too) {
    House house({.threads = 1, .failures_per_minute = 0});
    house.source->held = true;
    house.authenticator.verify(alice_login, here, test_now());
    while (house.source->checks == 0) std::this_thread::yield();   // its job has left the queue
    std::shared_ptr<RunningCheck> last;
    for (std::size_t i = 0; i < Authenticator::queued_max; ++i)
        last = house.authenticator.verify(basic("u" + std::to_string(i), "x"), i % 2 == 0 ? there : third, test_now());
    EXPECT_FALSE(last->answer());
    auto const refused = house.authenticator.verify(basic("one", "more"), here, test_now());
    ASSERT_TRUE(refused->answer());
    EXPECT_EQ(refused->answer()->kind, Kind::unavailable);
    EXPECT_GE(refused->answer()->retry_after, seconds(1));
    pass(Authenticator::queue_time_max + seconds(1));
    house.source->held = false;
    EXPECT_EQ(answer_of(*last).kind, Kind::unavailable);
    EXPECT_EQ(house.source->checks, 1);
}

TEST(Authenticator, one_network_fills_half_of_the_queue) {
    House house({.threads = 1, .failures_per_minute = 0});
    house.source->held = true;
    std::shared_ptr<RunningCheck> last;
    for (std::size_t i = 0; i <= Authenticator::queued_of_client_max; ++i)
        last = house.authenticator.verify(basic("u" + std::to_string(i), "x"), here, test_now());
    ASSERT_TRUE(last->answer());
    EXPECT_EQ(last->answer()->kind, Kind::unavailable);
    auto const other = house.authenticator.verify(alice_login, there, test_now());
    EXPECT_FALSE(other->answer());
    house.source->held = false;
    EXPECT_EQ(answer_of(*other).kind, Kind::accepted);
}

TEST(Authenticator, large_credentials_of_one_network_leave_room_for_others) {
    House house({.threads = 1, .failures_per_minute = 0});
    house.source->held = true;
    std::string const large(Credentials::basic_max - 10, 'x');
    auto const fits = Authenticator::queued_bytes_of_client_max / large.size();
    std::shared_ptr<RunningCheck> last;
    for (std::size_t i = 0; i <= fits; ++i)
        last = house.authenticator.verify(basic("u" + std::to_string(i), large), here, test_now());
    ASSERT_TRUE(last->answer());
    EXPECT_EQ(last->answer()->kind, Kind::unavailable);
    auto const other = house.authenticator.verify(basic("bob", large), there, test_now());
    EXPECT_FALSE(other->answer());
    house.source->held = false;
    EXPECT_EQ(answer_of(*other).kind, Kind::rejected);
    EXPECT_LT(house.authenticator.bytes(), Authenticator::queued_bytes_of_client_max / 8) << "the queue is empty";
}

TEST(Authenticator, a_joining_client_lifts_no_limit_of_its_own_network) {
    House house({.threads = 1, .failures_per_minute = 1});
    EXPECT_EQ(house.log_in(basic("alice", "1")).kind, Kind::rejected);
    house.source->held = true;
    auto const refused = house.authenticator.verify(basic("alice", "2"), here, test_now());
    ASSERT_TRUE(refused->answer());
    EXPECT_EQ(refused->answer()->kind, Kind::limited);
    auto const others = house.authenticator.verify(basic("alice", "2"), there, test_now());
    auto const joined = house.authenticator.verify(basic("alice", "2"), here, test_now());
    EXPECT_FALSE(others->answer());
    ASSERT_TRUE(joined->answer());
    EXPECT_EQ(joined->answer()->kind, Kind::limited);
    house.source->held = false;
    answer_of(*others);
}

TEST(Authenticator, known_users_go_on_for_the_grace_time_of_a_silent_source) {
    House house({.remember = seconds(60), .grace = std::chrono::hours(1)});
    EXPECT_EQ(house.log_in(alice_login).kind, Kind::accepted);
    house.source->silent = true;
    pass(seconds(60));
    auto const answer = house.log_in(alice_login);
    ASSERT_EQ(answer.kind, Kind::accepted);
    EXPECT_EQ(answer.identity->user, "alice");
    EXPECT_EQ(house.find(alice_login), Found::accepted);
    auto const other = house.log_in(basic("bob", "bob"));
    EXPECT_EQ(other.kind, Kind::unavailable);
    EXPECT_EQ(other.reason, "fake: no answer");
    pass(std::chrono::hours(1) - seconds(60));
    EXPECT_EQ(house.log_in(alice_login).kind, Kind::unavailable);
}

TEST(Authenticator, a_change_of_users_forgets_them_and_the_failures) {
    House house;
    auto const bob = basic("bob", "bob");
    for (auto const& field : {alice_login, bob, wrong_login}) house.log_in(field);
    auto const generation = house.authenticator.generation();
    EXPECT_TRUE(house.authenticator.refresh().empty());
    EXPECT_EQ(house.authenticator.generation(), generation);
    house.source->changes = {.users = {"alice"}};
    house.authenticator.refresh();
    EXPECT_NE(house.authenticator.generation(), generation);
    EXPECT_EQ(house.find(alice_login), Found::unknown);
    EXPECT_EQ(house.find(wrong_login), Found::unknown);
    EXPECT_EQ(house.find(bob), Found::accepted);
}

TEST(Authenticator, a_check_that_began_before_a_change_is_not_remembered) {
    House house;
    house.source->held = true;
    auto const check = house.authenticator.verify(alice_login, here, test_now());
    while (house.source->checks == 0) std::this_thread::yield();
    house.source->changes = {.users = {"alice"}};
    house.authenticator.refresh();
    house.source->held = false;
    EXPECT_EQ(answer_of(*check).kind, Kind::accepted);
    EXPECT_EQ(house.find(alice_login), Found::unknown);
}

TEST(Authenticator, negotiate_is_never_remembered) {
    House house;
    house.log_in("Negotiate YIIB");
    EXPECT_EQ(house.find("Negotiate YIIB"), Found::unknown);
    house.log_in("Negotiate YIIB");
    EXPECT_EQ(house.source->checks, 2);
}

TEST(Authenticator, passwords_that_wait_delay_no_ticket) {
    House house({.threads = 1});
    house.source->held = true;
    auto const password = house.authenticator.verify(alice_login, here, test_now());
    while (house.source->checks == 0) std::this_thread::yield();
    EXPECT_EQ(house.log_in("Negotiate YIIB").reason, "fake: wrong password");
    EXPECT_FALSE(password->answer());
    house.source->held = false;
    EXPECT_EQ(answer_of(*password).kind, Kind::accepted);
}

TEST(Authenticator, at_most_entries_max_are_remembered) {
    House house({.entries_max = 10, .failures_per_minute = 0});
    for (int i = 0; i < 50; ++i) house.log_in(basic("u" + std::to_string(i), "x"));
    EXPECT_EQ(house.authenticator.remembered(), 10u);
}

TEST(Authenticator, a_reload_with_other_options_forgets_all) {
    House house;
    house.log_in(alice_login);
    use(house.authenticator, house.sources);
    EXPECT_EQ(house.find(alice_login), Found::accepted);
    use(house.authenticator, std::make_shared<Sources const>());
    EXPECT_EQ(house.find(alice_login), Found::unknown);
    EXPECT_EQ(house.log_in(alice_login).kind, Kind::rejected);
}

/// The number of checks that run at once.
int checks_at_once(FakeSource const& source) {
    for (auto until = steady_now() + milliseconds{500}; steady_now() < until;) std::this_thread::sleep_for(milliseconds{5});
    return source.checks;
}

TEST(Authenticator, tickets_are_checked_one_at_a_time) {
    House house({.threads = 4});
    house.source->holds_tickets = true;
    std::vector<std::shared_ptr<RunningCheck>> checks;
    for (char const* token : {"YIIB", "YIIC", "YIID"})
        checks.push_back(house.authenticator.verify(std::string("Negotiate ") + token, here, test_now()));
    EXPECT_EQ(checks_at_once(*house.source), 1);
    EXPECT_EQ(house.log_in(alice_login).kind, Kind::accepted);
    auto made = std::make_unique<FakeSource>();
    auto* fresh = made.get();
    std::vector<std::unique_ptr<Source>> all;
    all.push_back(std::move(made));
    auto const sources = Sources::of({.realm = "test", .threads = 2}, std::move(all));
    use(house.authenticator, sources);
    for (auto const& check : {checks[1], checks[2]}) EXPECT_EQ(answer_of(*check).kind, Kind::rejected);
    EXPECT_EQ(fresh->checks, 2) << "queued tickets move to the thread of the new sources";
    EXPECT_FALSE(checks[0]->answer());
    house.source->holds_tickets = false;
    EXPECT_EQ(answer_of(*checks[0]).kind, Kind::rejected);
}

TEST(Authenticator, more_and_fewer_threads_lose_no_check) {
    House house({.threads = 1, .failures_per_minute = 0});
    std::vector<std::shared_ptr<Sources const>> kept;
    auto const reload = [&](std::uint32_t threads) {
        auto made = std::make_unique<FakeSource>();
        auto* source = made.get();
        source->held = true;
        std::vector<std::unique_ptr<Source>> all;
        all.push_back(std::move(made));
        kept.push_back(Sources::of({.realm = "test", .threads = threads, .failures_per_minute = 0}, std::move(all)));
        use(house.authenticator, kept.back());
        return source;
    };
    std::vector<std::shared_ptr<RunningCheck>> checks;
    auto const add = [&](int count) {
        for (int i = 0; i < count; ++i) {
            auto const user = "u" + std::to_string(checks.size());
            auto const field = basic(user, std::string(user.rbegin(), user.rend()));
            checks.push_back(house.authenticator.verify(field, here, test_now()));
        }
    };
    house.source->held = true;
    add(20);
    EXPECT_EQ(checks_at_once(*house.source), 1);
    auto* four = reload(4);
    EXPECT_EQ(checks_at_once(*four), 4) << "queued checks move to the new threads, and ask the new sources";
    add(20);
    auto* two = reload(2);
    EXPECT_EQ(checks_at_once(*two), 2);
    house.source->held = false;
    four->held = false;
    two->held = false;
    for (auto const& check : checks) EXPECT_EQ(answer_of(*check).kind, Kind::accepted);
    EXPECT_EQ(house.source->checks + four->checks + two->checks, 40);
    house.authenticator.refresh();
}

TEST(Authenticator, a_reload_that_is_not_applied_changes_nothing) {
    House house;
    house.log_in(alice_login);
    auto const change = house.authenticator.prepare(load({.realm = "other", .threads = 9}));
    ASSERT_TRUE(change);
    EXPECT_EQ(house.find(alice_login), Found::accepted);
    EXPECT_EQ(house.authenticator.sources(), house.sources);
}

TEST(Authenticator, it_ends_while_checks_are_queued) {
    std::vector<std::shared_ptr<RunningCheck>> checks;
    {
        House house({.threads = 1});
        house.source->held = true;
        for (int i = 0; i < 10; ++i)
            checks.push_back(house.authenticator.verify(basic("u" + std::to_string(i), "x"), here, test_now()));
        house.source->held = false;
    }
    for (auto const& check : checks) EXPECT_EQ(check.use_count(), 1) << "no thread and no queue has it";
}

TEST(Authenticator, a_users_file_and_groups_decide_and_change_within_a_refresh) {
    test::TempDir const dir;
    auto const line = [](std::string const& user, std::string_view password) {
        return user + ":{SHA}" + base64_sha1(password) + "\n";
    };
    auto const users = dir.write("users", line("alice", "a") + line("bob", "b"));
    auto const staff = dir.write("staff", "bob\n");
    Authenticator authenticator;
    use(authenticator, load({.sources = {HtpasswdOptions{users}, AddressOptions{{{there, "Kiosk"}}}, CertificateOptions{}},
                             .groups = {{.name = "staff", .users = {"file:" + staff}}}}));
    EXPECT_THAT(log_in(authenticator, basic("BOB", "b")).identity->groups, ElementsAre("staff"));
    EXPECT_THAT(log_in(authenticator, basic("alice", "a")).identity->groups, ElementsAre());
    EXPECT_THAT(log_in(authenticator, basic("carol", "c")).reason, HasSubstr("does not have the user"));

    dir.write("staff", "alice\nkiosk\n");
    authenticator.refresh();
    EXPECT_THAT(authenticator.find(basic("alice", "a"), wall_now()).identity->groups, ElementsAre("staff"));
    EXPECT_THAT(authenticator.find(basic("BOB", "b"), wall_now()).identity->groups, ElementsAre());
    dir.write("users", line("alice", "changed") + line("bob", "b"));
    authenticator.refresh();
    EXPECT_EQ(authenticator.find(basic("alice", "a"), wall_now()).kind, Found::unknown);
    EXPECT_EQ(log_in(authenticator, basic("alice", "a")).kind, Kind::rejected);
    EXPECT_EQ(authenticator.find(basic("BOB", "b"), wall_now()).kind, Found::accepted);

    auto const identity_of = [&](IpAddress const& client, std::span<std::string const> names) {
        return authenticator.find_user(authenticator.facts_without_credentials(client, names, wall_now()), wall_now());
    };
    EXPECT_EQ(authenticator.facts_without_credentials(here, {}, wall_now()).user, "");
    auto const kiosk = identity_of(there, {});
    ASSERT_TRUE(kiosk);
    EXPECT_EQ(kiosk->user, "kiosk");
    EXPECT_EQ(kiosk->source, "address");
    EXPECT_THAT(kiosk->groups, ElementsAre("staff"));
    std::vector<std::string> const names{"Alice@uni.example", "alice"};
    EXPECT_EQ(identity_of(here, names)->user, "alice@uni.example");
}

/// Has the groups of some users, and takes no credentials. Counts questions, and may be silent or wait.
class FakeDirectory : public Source {
public:
    std::string_view name() const override { return "directory"; }
    bool takes(Scheme) const override { return false; }
    Verdict check(Credentials const&, WallTime) override { return {}; }
    bool is_directory() const override { return true; }
    Verdict find_member(std::string const& user) override {
        ++asked;
        while (held) std::this_thread::sleep_for(milliseconds{1});
        if (silent) return {.kind = Verdict::Kind::unavailable, .reason = "no answer"};
        if (!members.contains(user)) return {.reason = "the directory does not have the user"};
        return {.kind = Verdict::Kind::accepted, .facts = {.ldap_groups = {"cn=students"}}};
    }

    std::atomic<int> asked{0};
    std::atomic<bool> held{false}, silent{false};
    std::set<std::string> members{"alice", "carol", "kiosk"};
};

/// A source of passwords and tickets, and a directory.
struct Campus {
    explicit Campus(Options options = {}) {
        options.realm = "test";
        options.groups = {{.name = "students", .ldap = {"cn=students"}}, {.name = "staff", .users = {"bob"}}};
        auto first = std::make_unique<FakeSource>();
        auto second = std::make_unique<FakeDirectory>();
        source = first.get();
        directory = second.get();
        std::vector<std::unique_ptr<Source>> all;
        all.push_back(std::move(first));
        all.push_back(std::move(second));
        use(authenticator, Sources::of(std::move(options), std::move(all)));
    }
    LoginAnswer log_in(std::string const& field) { return auth::log_in(authenticator, field, here, test_now()); }

    FakeSource* source;
    FakeDirectory* directory;
    Authenticator authenticator{test_now};
};

std::string const some_ticket = "Negotiate AAAA";

TEST(DirectoryGroups, users_of_any_source_have_the_groups_of_the_directory) {
    Campus campus;
    auto const alice = campus.log_in(alice_login);
    ASSERT_EQ(alice.kind, Kind::accepted) << alice.reason;
    EXPECT_THAT(alice.identity->groups, ElementsAre("students"));
    EXPECT_THAT(campus.log_in(basic("bob", "bob")).identity->groups, ElementsAre("staff"));
    EXPECT_THAT(campus.log_in(basic("bob", "bob")).identity->unknown_groups, ElementsAre());
    EXPECT_EQ(campus.directory->asked, 2) << "of each name once";
    pass(std::chrono::minutes{6});
    campus.log_in(alice_login);
    EXPECT_EQ(campus.directory->asked, 3) << "auth.remember is over";
}

TEST(DirectoryGroups, a_silent_directory_leaves_the_groups_unknown_for_some_seconds) {
    Campus campus;
    campus.directory->silent = true;
    auto const alice = campus.log_in(alice_login);
    ASSERT_EQ(alice.kind, Kind::accepted) << alice.reason;
    EXPECT_THAT(alice.identity->groups, ElementsAre());
    EXPECT_THAT(alice.identity->unknown_groups, ElementsAre("students"));
    EXPECT_EQ(alice.identity->why_unknown, "directory: no answer");
    campus.directory->silent = false;
    pass(DirectoryGroups::retry);
    EXPECT_THAT(campus.log_in(alice_login).identity->groups, ElementsAre("students"));
    EXPECT_EQ(campus.source->checks, 1) << "the password was right a moment ago";
    campus.directory->silent = true;
    pass(std::chrono::minutes{50});
    EXPECT_THAT(campus.log_in(alice_login).identity->groups, ElementsAre("students")) << "auth.grace";
    pass(std::chrono::minutes{11});
    EXPECT_THAT(campus.log_in(alice_login).identity->unknown_groups, ElementsAre("students"));
}

TEST(DirectoryGroups, a_silent_directory_delays_no_ticket_of_another_user) {
    Campus campus;
    campus.source->ticket_user = "carol";
    campus.directory->held = true;
    auto const first = campus.authenticator.verify(some_ticket, here, test_now());
    ASSERT_TRUE(test::eventually([&] { return campus.directory->asked == 1; }));
    auto const second = campus.authenticator.verify(some_ticket, here, test_now());
    ASSERT_TRUE(test::eventually([&] { return campus.source->checks == 2; })) << "the thread of tickets is free";
    campus.directory->held = false;
    for (auto const& one : {first, second}) EXPECT_THAT(answer_of(*one).identity->groups, ElementsAre("students"));
}

TEST(DirectoryGroups, an_address_and_a_certificate_have_them_too) {
    Campus campus;
    auto& logins = campus.authenticator;
    for (Facts const& facts : {Facts{.user = "kiosk", .source = "address"}, Facts{.user = "carol", .source = "certificate"}}) {
        EXPECT_EQ(logins.find_user(facts, test_now()), nullptr) << "the directory was not asked yet";
        auto const found = answer_of(*logins.find_groups(facts, here, test_now()));
        ASSERT_EQ(found.kind, Kind::accepted);
        EXPECT_THAT(found.identity->groups, ElementsAre("students")) << facts.user;
        auto const again = logins.find_user(facts, test_now());
        ASSERT_NE(again, nullptr) << facts.user;
        EXPECT_THAT(again->groups, ElementsAre("students")) << facts.user;
    }
}

TEST(DirectoryGroups, a_name_with_a_realm_that_the_directory_does_not_have_is_unknown) {
    Facts ticket_of_other{.user = "carol@other.example", .source = "negotiate"}, mail = ticket_of_other;
    mail.source = "jwt";
    FakeDirectory directory;
    DirectoryGroups groups;
    std::array<Source*, 1> const directories{&directory};
    groups.look_up(ticket_of_other, directories, {}, test_now());
    EXPECT_EQ(ticket_of_other.groups_unknown, "the directory does not have carol@other.example");
    EXPECT_TRUE(groups.add_remembered(mail, test_now()));
    EXPECT_EQ(mail.groups_unknown, "");
    pass(std::chrono::minutes{6});
}

TEST(DirectoryGroups, at_most_entries_max_names_are_remembered) {
    FakeDirectory directory;
    DirectoryGroups groups;
    std::array<Source*, 1> const directories{&directory};
    auto const before = DirectoryGroups::bytes();
    for (int i = 0; i < 50; ++i) {
        Facts facts{.user = "user" + std::to_string(i)};
        groups.look_up(facts, directories, {.entries_max = 10}, test_now());
    }
    Facts first{.user = "user0"}, last{.user = "user49"};
    EXPECT_FALSE(groups.add_remembered(first, test_now()));
    EXPECT_TRUE(groups.add_remembered(last, test_now()));
    EXPECT_LE(DirectoryGroups::bytes() - before, 10 * DirectoryGroups::entry_bytes);
}

TEST(Failures, a_64_of_ipv6_is_one_source) {
    Failures failures;
    auto const now = WallTime(seconds(1'000));
    failures.note(*parse_ip("2001:db8::1"), now);
    EXPECT_TRUE(failures.blocked(*parse_ip("2001:db8::2"), 1, now));
    EXPECT_FALSE(failures.blocked(*parse_ip("2001:db8:0:1::1"), 1, now));
    EXPECT_FALSE(failures.blocked(*parse_ip("2001:db8::2"), 0, now));
    EXPECT_EQ(*failures.blocked(*parse_ip("2001:db8::1"), 1, now + seconds(20)), seconds(40));
    EXPECT_FALSE(failures.blocked(*parse_ip("2001:db8::1"), 1, now - seconds(1)));   // the clock was set back
}

}   // namespace
}   // namespace garner::auth
