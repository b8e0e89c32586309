#include "auth/htpasswd.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "auth/htpasswd_source.hpp"
#include "auth/md5_crypt.hpp"
#include "support/child.hpp"

namespace garner::auth {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;
using Outcome = Verdict::Kind;

std::string sha(std::string_view password) { return "{SHA}" + base64_sha1(password); }

Outcome check_password(HtpasswdSource& source, std::string_view user, std::string_view password) {
    Credentials credentials;
    credentials.user = Secret(user);
    credentials.secret = Secret(password);
    return source.check(credentials, {}).kind;
}

std::unique_ptr<HtpasswdSource> load_users(std::string const& file) {
    std::vector<Fault> notices;
    auto loaded = HtpasswdSource::load({file}, notices);
    EXPECT_TRUE(loaded) << loaded.fault_text();
    return loaded ? *std::move(loaded) : nullptr;
}

TEST(Htpasswd, bad_lines_are_named_and_the_others_kept) {
    auto const file = parse_htpasswd("users", "# staff\r\n\nalice:" + sha("a") + "\r\nbob\ncarol:plain\n:x\nALICE:" + sha("b") +
                                                  "\ndave:" + sha("d") + ":Dave:more");
    EXPECT_EQ(file.hashes.size(), 2u);
    EXPECT_EQ(file.hashes.at("dave"), sha("d"));
    EXPECT_EQ(file.hashes.at("alice"), sha("a"));
    ASSERT_EQ(file.faults.size(), 4u);
    EXPECT_EQ(file.faults[0].text(), "users:4: has no colon and is left out; write user:hash");
    EXPECT_THAT(file.faults[1].text(), HasSubstr("users:5: has a password in plain text"));
    EXPECT_THAT(file.faults[3].text(), HasSubstr("users:7: has a user that an earlier line has"));
    for (auto const& fault : file.faults) EXPECT_EQ(fault.text().find("plain\n"), std::string::npos);
}

TEST(Htpasswd, many_bad_lines_are_summed_up) {
    std::string text;
    for (int i = 0; i < 100; ++i) text += "x\n";
    auto const file = parse_htpasswd("users", text);
    ASSERT_EQ(file.faults.size(), Htpasswd::faults_max + 1);
    EXPECT_EQ(file.faults.back().what, "80 more lines are left out");
}

TEST(Htpasswd, changed_users_are_added_removed_and_changed_ones) {
    auto const old = parse_htpasswd("", "a:" + sha("1") + "\nb:" + sha("2") + "\nc:" + sha("3"));
    auto const fresh = parse_htpasswd("", "a:" + sha("1") + "\nb:" + sha("9") + "\nd:" + sha("4"));
    EXPECT_THAT(changed_users(old, fresh), UnorderedElementsAre("b", "c", "d"));
}

TEST(HtpasswdSource, names_compare_without_case_and_passwords_with_it) {
    test::TempDir const dir;
    auto const source = load_users(dir.write("users", "Alice:" + sha("secret") + "\n"));
    EXPECT_EQ(check_password(*source, "aLICE", "secret"), Outcome::accepted);
    EXPECT_EQ(check_password(*source, "alice", "Secret"), Outcome::wrong);
    EXPECT_EQ(check_password(*source, "bob", "secret"), Outcome::not_known);
    Credentials credentials;
    credentials.user = Secret("ALICE");
    credentials.secret = Secret("secret");
    EXPECT_EQ(source->check(credentials, {}).facts.user, "alice");
}

TEST(HtpasswdSource, an_unknown_user_costs_a_hash) {
    test::TempDir const dir;
    auto const file = dir.write("users", "");
    ASSERT_EQ(test::run({"htpasswd", "-B", "-C", "8", "-b", file, "alice", "secret"}).code, 0);
    auto const source = load_users(file);
    auto const cost = [&](char const* user) {
        auto const begin = thread_seconds();
        for (int i = 0; i < 3; ++i) check_password(*source, user, "wrong");
        return thread_seconds() - begin;
    };
    auto const known = cost("alice"), unknown = cost("mallory");
    EXPECT_GT(unknown, known / 3);
    EXPECT_LT(unknown, known * 3);
}

TEST(HtpasswdSource, a_changed_file_is_read_again_and_a_vanished_one_keeps_the_last_users) {
    test::TempDir const dir;
    auto const file = dir.write("users", "alice:" + sha("secret") + "\n");
    auto const source = load_users(file);
    EXPECT_FALSE(source->refresh().any());
    dir.write("users", "alice:" + sha("changed") + "\nbob:" + sha("b") + "\nbad line\n");
    auto changes = source->refresh();
    EXPECT_THAT(changes.users, UnorderedElementsAre("alice", "bob"));
    EXPECT_EQ(changes.notices.size(), 1u);
    EXPECT_EQ(check_password(*source, "alice", "changed"), Outcome::accepted);
    std::filesystem::remove(file);
    changes = source->refresh();
    EXPECT_FALSE(changes.any());
    ASSERT_EQ(changes.notices.size(), 1u);
    EXPECT_THAT(changes.notices[0].text(), HasSubstr("its last users stay"));
    EXPECT_TRUE(source->refresh().notices.empty());   // once
    ASSERT_EQ(source->troubles().size(), 1u);
    EXPECT_EQ(source->troubles()[0].why, "cannot be read: No such file or directory");
    EXPECT_LT(wall_now() - source->troubles()[0].since, seconds{30});
    EXPECT_EQ(check_password(*source, "bob", "b"), Outcome::accepted);
    dir.write("users", "alice:" + sha("again") + "\n");
    EXPECT_THAT(source->refresh().users, UnorderedElementsAre("alice", "bob"));
    EXPECT_TRUE(source->troubles().empty());
    EXPECT_EQ(check_password(*source, "bob", "b"), Outcome::not_known);
}

TEST(HtpasswdSource, a_missing_file_and_a_folder_are_faults) {
    test::TempDir const dir;
    std::vector<Fault> notices;
    EXPECT_THAT(HtpasswdSource::load({dir.path("none")}, notices).fault_text(), HasSubstr("cannot be read: No such file"));
    EXPECT_THAT(HtpasswdSource::load({dir.path()}, notices).fault_text(), HasSubstr("is not a file"));
}

TEST(HtpasswdSource, files_of_apaches_htpasswd_are_understood) {
    test::TempDir const dir;
    auto const file = dir.write("users", "");
    ASSERT_EQ(test::run({"htpasswd", "-B", "-b", file, "bcrypt", "secret"}).code, 0);
    ASSERT_EQ(test::run({"htpasswd", "-m", "-b", file, "apr1", "secret"}).code, 0);
    ASSERT_EQ(test::run({"htpasswd", "-s", "-b", file, "sha", "secret"}).code, 0);
    ASSERT_EQ(test::run({"htpasswd", "-5", "-b", file, "sha512", "secret"}).code, 0);
    ASSERT_EQ(test::run({"htpasswd", "-p", "-b", file, "plain", "secret"}).code, 0);
    auto const source = load_users(file);
    for (auto const* user : {"bcrypt", "apr1", "sha", "sha512"}) {
        EXPECT_EQ(check_password(*source, user, "secret"), Outcome::accepted) << user;
        EXPECT_EQ(check_password(*source, user, "wrong"), Outcome::wrong) << user;
    }
    EXPECT_EQ(check_password(*source, "plain", "secret"), Outcome::not_known);
}

}   // namespace
}   // namespace garner::auth
