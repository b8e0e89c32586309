#include "auth/ldap_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <thread>

#include "auth/logins.hpp"
#include "support/slapd.hpp"

namespace garner::auth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using Outcome = Verdict::Kind;

constexpr char const* people = R"(dn: ou=people,dc=uni
objectClass: organizationalUnit
ou: people

dn: uid=alice,ou=people,dc=uni
objectClass: inetOrgPerson
uid: alice
cn: Alice
sn: A
mail: alice@uni.example
userPassword: secret

dn: uid=bob,ou=people,dc=uni
objectClass: inetOrgPerson
uid: Bob
cn: Twin
sn: B
userPassword: bob

dn: uid=carol,ou=people,dc=uni
objectClass: inetOrgPerson
uid: carol
cn: Twin
sn: C
userPassword: carol

dn: cn=web,dc=uni
objectClass: groupOfNames
cn: web
member: uid=alice,ou=people,dc=uni

dn: cn=staff,dc=uni
objectClass: groupOfNames
cn: staff
member: cn=web,dc=uni
member: cn=circle,dc=uni

dn: cn=circle,dc=uni
objectClass: groupOfNames
cn: circle
member: cn=staff,dc=uni

dn: cn=posix,dc=uni
objectClass: posixGroup
cn: posix
gidNumber: 1000
memberUid: bob
)";

/// Counts waits of 10 ms. On a loaded machine, where they take longer, it goes as slowly as the waits of the product.
class WaitClock {
public:
    ~WaitClock() {
        over_ = true;
        thread_.join();
    }
    milliseconds elapsed() const { return ticks_.load() * tick; }

private:
    static constexpr milliseconds tick{10};
    std::atomic<bool> over_{false};
    std::atomic<int> ticks_{0};
    std::thread thread_{[this] {
        for (; !over_; ++ticks_) std::this_thread::sleep_for(tick);
    }};
};

class LdapTest : public testing::Test {
protected:
    static void SetUpTestSuite() {
        ::signal(SIGPIPE, SIG_IGN);   // like the program
        slapd = new test::Slapd(people);
    }
    static void TearDownTestSuite() {
        delete slapd;
        slapd = nullptr;
    }
    static LdapOptions options() { return {.url = slapd->url(), .base = "dc=uni"}; }
    static std::unique_ptr<LdapSource> source(LdapOptions const& options, std::vector<std::string> groups = {}) {
        auto loaded = LdapSource::load(options, std::move(groups), seconds{10});
        EXPECT_TRUE(loaded) << loaded.fault_text();
        return loaded ? *std::move(loaded) : nullptr;
    }
    static Verdict check(LdapSource& source, std::string_view user, std::string_view password) {
        return source.check(parse_credentials(basic(user, password)), {});
    }
    static inline test::Slapd* slapd = nullptr;
};

TEST_F(LdapTest, a_password_is_right_wrong_or_empty_and_a_user_known_or_not) {
    auto const directory = source(options());
    auto const right = check(*directory, "alice", "secret");
    EXPECT_EQ(right.kind, Outcome::accepted) << right.reason;
    EXPECT_EQ(right.facts.user, "alice");
    EXPECT_EQ(check(*directory, "alice", "wrong").reason, "Invalid credentials");
    EXPECT_EQ(check(*directory, "alice", "wrong").kind, Outcome::wrong);
    EXPECT_EQ(check(*directory, "alice", "").reason, "the password is empty");
    EXPECT_EQ(check(*directory, "alice", "").kind, Outcome::wrong);
    EXPECT_EQ(check(*directory, "mallory", "x").kind, Outcome::not_known);
}

TEST_F(LdapTest, a_name_is_the_one_of_the_directory) {
    auto const directory = source(options());
    for (auto const* typed : {"bob", "BOB", " bob ", "bOb"}) {
        auto const verdict = check(*directory, typed, "bob");
        EXPECT_EQ(verdict.kind, Outcome::accepted) << typed << verdict.reason;
        EXPECT_EQ(verdict.facts.user, "bob") << typed;
    }
}

TEST_F(LdapTest, a_name_cannot_change_the_search) {
    auto const directory = source(options());
    for (auto const* typed : {"*", "alice)(uid=*", "a*", "alice\\", "(|(uid=alice))"})
        EXPECT_EQ(check(*directory, typed, "secret").kind, Outcome::not_known) << typed;
}

TEST_F(LdapTest, a_filter_may_use_another_attribute_and_find_one_entry_only) {
    auto by_mail = options();
    by_mail.filter = "(&(objectClass=inetOrgPerson)(mail={user}))";
    auto const verdict = check(*source(by_mail), "Alice@UNI.example", "secret");
    EXPECT_EQ(verdict.kind, Outcome::accepted) << verdict.reason;
    EXPECT_EQ(verdict.facts.user, "alice@uni.example");
    auto twins = options();
    twins.filter = "(cn={user})";
    EXPECT_THAT(check(*source(twins), "Twin", "bob").reason, HasSubstr("more than one entry"));
}

TEST_F(LdapTest, groups_are_nested_and_may_form_a_circle) {
    std::vector<std::string> const wanted{"cn=staff,dc=uni", "cn=posix,dc=uni", "cn=none,dc=uni"};
    auto const directory = source(options(), wanted);
    EXPECT_THAT(check(*directory, "alice", "secret").facts.ldap_groups, ElementsAre("cn=staff,dc=uni"));
    EXPECT_THAT(check(*directory, "BOB", "bob").facts.ldap_groups, ElementsAre("cn=posix,dc=uni"));
    EXPECT_THAT(check(*directory, "carol", "carol").facts.ldap_groups, ElementsAre());
}

TEST_F(LdapTest, groups_of_a_user_are_found_without_a_password) {
    auto const directory = source(options(), {"cn=staff,dc=uni", "cn=posix,dc=uni"});
    auto const alice = directory->find_member("alice");
    EXPECT_EQ(alice.kind, Outcome::accepted) << alice.reason;
    EXPECT_THAT(alice.facts.ldap_groups, ElementsAre("cn=staff,dc=uni"));
    EXPECT_THAT(directory->find_member("bob").facts.ldap_groups, ElementsAre("cn=posix,dc=uni"));
    EXPECT_EQ(directory->find_member("mallory").kind, Outcome::not_known);
    EXPECT_EQ(directory->find_member("*").kind, Outcome::not_known);
}

TEST_F(LdapTest, searches_may_bind_with_a_password_from_a_file) {
    auto bound = options();
    bound.bind_dn = test::Slapd::admin;
    bound.bind_password_file = slapd->write("password", "admin\n");
    EXPECT_EQ(check(*source(bound), "alice", "secret").kind, Outcome::accepted);
    bound.bind_password_file = slapd->write("password", "wrong\n");
    auto const verdict = check(*source(bound), "alice", "secret");
    EXPECT_EQ(verdict.kind, Outcome::unavailable);
    EXPECT_EQ(verdict.reason, "bind of cn=admin,dc=uni: Invalid credentials");
    bound.bind_password_file = "/nowhere";
    EXPECT_EQ(LdapSource::load(bound, {}, seconds{10}).fault().where, "bind_password_file");
}

TEST_F(LdapTest, tls_verifies_the_directory) {
    auto secure = options();
    secure.url = slapd->tls_url();
    secure.ca_file = slapd->ca_file();
    auto const verdict = check(*source(secure), "alice", "secret");
    EXPECT_EQ(verdict.kind, Outcome::accepted) << verdict.reason;
    secure.ca_file = "";
    EXPECT_EQ(check(*source(secure), "alice", "secret").kind, Outcome::unavailable);
    secure.ca_file = slapd->write("empty.pem", "no certificate\n");
    auto const loaded = LdapSource::load(secure, {}, seconds{10});
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.fault().where, "ca_file");
}

TEST_F(LdapTest, kept_connections_survive_a_restart_of_the_directory) {
    auto const directory = source(options());
    EXPECT_EQ(check(*directory, "alice", "secret").kind, Outcome::accepted);
    slapd->stop();
    WaitClock const clock;
    auto const verdict = check(*directory, "alice", "secret");
    EXPECT_EQ(verdict.kind, Outcome::unavailable);
    EXPECT_THAT(verdict.reason, HasSubstr("Can't contact LDAP server"));
    EXPECT_EQ(check(*directory, "alice", "secret").reason, "the directory did not answer a moment ago");
    EXPECT_LT(clock.elapsed(), seconds{1});
    slapd->start();
    std::this_thread::sleep_for(LdapSource::retry_interval);
    EXPECT_EQ(check(*directory, "alice", "secret").kind, Outcome::accepted);
    slapd->stop();
    slapd->start();
    EXPECT_EQ(check(*directory, "alice", "secret").kind, Outcome::accepted);
}

TEST_F(LdapTest, a_probe_shows_a_directory_that_is_down_without_a_login) {
    auto const directory = source(options());
    EXPECT_TRUE(directory->wants_probe());
    EXPECT_FALSE(directory->wants_probe()) << "one is on its way";
    directory->probe();
    EXPECT_TRUE(directory->troubles().empty());
    slapd->stop();
    directory->probe();
    ASSERT_EQ(directory->troubles().size(), 1u);
    auto const trouble = directory->troubles()[0];
    EXPECT_EQ(trouble.name, slapd->url());
    EXPECT_THAT(trouble.why, HasSubstr("Can't contact LDAP server"));
    slapd->start();
    std::this_thread::sleep_for(LdapSource::retry_interval);
    directory->probe();
    EXPECT_TRUE(directory->troubles().empty());
}

TEST_F(LdapTest, a_directory_that_hangs_is_unavailable_within_3_seconds) {
    auto secure = options();
    secure.url = slapd->tls_url();
    secure.ca_file = slapd->ca_file();
    for (auto const& one : {options(), secure}) {
        auto const kept = source(one), fresh = source(one);
        EXPECT_EQ(check(*kept, "alice", "secret").kind, Outcome::accepted);
        slapd->signal(SIGSTOP);
        for (auto* directory : {kept.get(), fresh.get()}) {
            WaitClock const clock;
            EXPECT_EQ(check(*directory, "alice", "secret").kind, Outcome::unavailable);
            EXPECT_LT(clock.elapsed(), seconds{3}) << one.url;
            EXPECT_EQ(check(*directory, "alice", "secret").kind, Outcome::unavailable);
            EXPECT_LT(clock.elapsed(), seconds{3}) << one.url;
        }
        slapd->stop();
        slapd->start();
    }
}

TEST_F(LdapTest, a_user_costs_one_bind_in_the_remembered_time_and_goes_on_when_the_directory_is_dead) {
    slapd->stop();
    slapd->start();
    Authenticator authenticator;
    use(authenticator, load({.remember = milliseconds{300},
                             .sources = {options()},
                             .groups = {{.name = "employees", .ldap = {"CN=Staff, DC=uni"}}}}));
    std::vector<std::shared_ptr<RunningCheck>> checks;
    for (int i = 0; i < 50; ++i) checks.push_back(authenticator.verify(basic("alice", "secret"), here, wall_now()));
    for (auto const& check : checks) EXPECT_THAT(answer_of(*check).identity->groups, ElementsAre("employees"));
    EXPECT_EQ(slapd->binds("uid=alice,ou=people,dc=uni"), 1u);
    slapd->stop();
    std::this_thread::sleep_for(milliseconds{300});
    WaitClock const clock;
    auto const known = log_in(authenticator, basic("alice", "secret"));
    ASSERT_EQ(known.kind, LoginAnswer::Kind::accepted);
    EXPECT_THAT(known.identity->groups, ElementsAre("employees"));
    auto const other = log_in(authenticator, basic("bob", "bob"));
    EXPECT_EQ(other.kind, LoginAnswer::Kind::unavailable);
    EXPECT_THAT(other.reason, HasSubstr("ldap: "));
    EXPECT_LT(clock.elapsed(), seconds{3});
    slapd->start();
}

TEST(LdapOptions, a_malformed_base_and_an_unusable_url_are_faults) {
    EXPECT_EQ(LdapSource::load({.url = "ldap://127.0.0.1", .base = "uni"}, {}, seconds{1}).fault().where, "base");
    EXPECT_EQ(LdapSource::load({.url = "http://127.0.0.1", .base = "dc=uni"}, {}, seconds{1}).fault().where, "url");
}

}   // namespace
}   // namespace garner::auth
