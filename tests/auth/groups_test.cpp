#include "auth/groups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "auth/ldap_names.hpp"
#include "support/child.hpp"

namespace garner::auth {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Groups, an_asterisk_stands_for_any_text) {
    EXPECT_TRUE(matches_glob("uni/*", "uni/web"));
    EXPECT_TRUE(matches_glob("*", ""));
    EXPECT_TRUE(matches_glob("a*b*c", "a-b-b-c"));
    EXPECT_TRUE(matches_glob("", ""));
    EXPECT_FALSE(matches_glob("uni/*", "university/web"));
    EXPECT_FALSE(matches_glob("a*b", "a-b-c"));
    EXPECT_FALSE(matches_glob("", "a"));
    EXPECT_FALSE(matches_glob("*a", ""));
}

TEST(Groups, members_come_from_users_directories_and_claims) {
    auto const groups = Groups::load({{.name = "staff", .users = {"Alice"}, .ldap = {"CN=Staff, DC=uni"}},
                                      {.name = "ci", .claims = {{"repository", {"uni/*", "lab/*"}}, {"ref", {"main"}}}}});
    ASSERT_TRUE(groups) << groups.fault_text();
    EXPECT_THAT((*groups)->of({.user = "alice"}), ElementsAre("staff"));
    EXPECT_THAT((*groups)->of({.user = "bob"}), ElementsAre());
    EXPECT_THAT((*groups)->of({.user = "bob", .ldap_groups = {normal_dn("cn=staff,dc=uni")}}), ElementsAre("staff"));
    EXPECT_THAT((*groups)->of({.user = "x", .claims = {{"repository", "uni/a"}, {"ref", "main"}}}), ElementsAre("ci"));
    EXPECT_THAT((*groups)->of({.user = "x", .claims = {{"repository", "uni/a"}}}), ElementsAre());
    EXPECT_THAT((*groups)->ldap_groups(), ElementsAre("cn=staff,dc=uni"));
}

TEST(Groups, a_question_counts_the_groups_that_list_the_user_by_name) {
    test::TempDir const dir;
    auto const groups = Groups::load({{.name = "staff", .users = {"Alice", "file:" + dir.write("more", "carol\n")}},
                                      {.name = "chiefs", .users = {"alice"}},
                                      {.name = "pupils", .users = {"eve"}}});
    ASSERT_TRUE(groups) << groups.fault_text();
    auto const of = [](Groups const& all, http::Identity identity) {
        all.add_listed(identity);
        return identity;
    };
    EXPECT_THAT(of(**groups, {.user = "ALICE", .groups = {"guests", "staff"}}).groups, ElementsAre("guests", "staff", "chiefs"));
    EXPECT_THAT(of(**groups, {.user = "carol"}).groups, ElementsAre("staff"));
    EXPECT_THAT(of(**groups, {.user = "", .groups = {"guests"}}).groups, ElementsAre("guests"));
    EXPECT_TRUE(of(**groups, {.user = "bob", .groups_known = false}).groups_known) << "each group lists all its members";
    auto const ldap = Groups::load({{.name = "staff", .users = {"alice"}, .ldap = {"cn=staff,dc=uni"}}});
    ASSERT_TRUE(ldap) << ldap.fault_text();
    EXPECT_FALSE(of(**ldap, {.user = "bob", .groups_known = false}).groups_known) << "the directory may have more";
}

TEST(Groups, a_file_of_users_is_read_again) {
    test::TempDir const dir;
    auto const file = dir.write("staff", "# staff\nAlice   # head\n\n\tbob\r\n");
    auto const groups = Groups::load({{.name = "staff", .users = {"file:" + file, "carol"}}});
    ASSERT_TRUE(groups) << groups.fault_text();
    for (auto const* user : {"alice", "bob", "carol"}) EXPECT_THAT((*groups)->of({.user = user}), ElementsAre("staff")) << user;
    EXPECT_FALSE((*groups)->refresh().any());
    dir.write("staff", "dave and eve\n");
    EXPECT_TRUE((*groups)->refresh().all);
    EXPECT_THAT((*groups)->of({.user = "alice"}), ElementsAre());
    EXPECT_THAT((*groups)->of({.user = "dave and eve"}), ElementsAre("staff"));
    std::filesystem::remove(file);
    EXPECT_EQ((*groups)->refresh().notices.size(), 1u);
    EXPECT_THAT((*groups)->of({.user = "dave and eve"}), ElementsAre("staff"));
}

TEST(Groups, a_missing_file_and_a_malformed_dn_are_faults_of_their_key) {
    auto const missing = Groups::load({{.name = "staff", .users = {"alice", "file:/nowhere/staff"}}});
    ASSERT_FALSE(missing);
    EXPECT_EQ(missing.fault().where, "staff.user[1]");
    EXPECT_THAT(missing.fault().what, HasSubstr("/nowhere/staff: cannot be read"));
    auto const malformed = Groups::load({{.name = "staff", .ldap = {"staff"}}});
    ASSERT_FALSE(malformed);
    EXPECT_EQ(malformed.fault().where, "staff.ldap");
}

TEST(LdapNames, a_dn_has_one_spelling) {
    EXPECT_EQ(normal_dn("CN=Staff ,  DC=Uni"), "cn=staff,dc=uni");
    EXPECT_EQ(normal_dn("cn=a\\,b,dc=uni"), normal_dn("CN=A\\2cB,dc=uni"));
    EXPECT_EQ(normal_dn(""), "");
    EXPECT_EQ(normal_dn("staff"), "");
}

TEST(LdapNames, a_name_cannot_change_the_filter) {
    EXPECT_EQ(filter_for("(&(uid={user})(x={user}))", "a*)(uid=*"), "(&(uid=a\\2a\\29\\28uid=\\2a)(x=a\\2a\\29\\28uid=\\2a))");
    EXPECT_EQ(escape_filter(std::string_view("\\\0\xc3\xa9", 4)), "\\5c\\00\\c3\\a9");
    EXPECT_EQ(filter_for("(uid={user})", "{user}"), "(uid={user})");
}

TEST(LdapNames, the_attribute_of_the_user_is_that_of_the_filter) {
    EXPECT_EQ(user_attribute("(uid={user})"), "uid");
    EXPECT_EQ(user_attribute("(&(objectClass=person)(sAMAccountName={user}))"), "sAMAccountName");
    EXPECT_EQ(user_attribute("(mail={user}@uni.example)"), "");
    EXPECT_EQ(user_attribute("(uid:caseExactMatch:={user})"), "");
}

}   // namespace
}   // namespace garner::auth
