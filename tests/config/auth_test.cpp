// The keys of logins and groups, and the checks of their files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "io/privileges.hpp"
#include "support.hpp"
#include "support/child.hpp"

namespace garner::config {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Errors and notices, with the files tried.
std::string with_notices(Loaded const& loaded) {
    std::string out = told(loaded);
    for (auto const& notice : loaded.notices) out += "notice: " + text_of(notice) + "\n";
    return out;
}

std::string told_with_files(std::string const& text) { return with_notices(load_text("test.json", text, {}, NamedFiles::tried)); }

TEST(Auth, the_keys_are_read) {
    auto const loaded = load(R"json({"auth": {"realm": "Uni", "remember": "1m", "remember_failures": "1s", "entries_max": 7,
        "threads": 3, "timeout": "2s", "grace": "2h", "failures_per_minute": 5, "sources": [
          {"type": "negotiate", "keytab": "k", "realm": "UNI.EXAMPLE"},
          {"type": "ldap", "url": "ldaps://ldap.example", "base": "dc=uni", "filter": "(uid={user})",
           "bind_dn": "", "bind_password_file": "", "ca_file": ""},
          {"type": "htpasswd", "file": "u"},
          {"type": "jwt", "keys": "j", "issuer": "", "audience": "garner", "user": "email"},
          {"type": "address", "users": {"10.3.0.7": "kiosk"}},
          {"type": "certificate"}]},
        "groups": {"staff": {"user": ["file:/s", "alice"], "ldap": "cn=staff,dc=uni"}, "ci": {"claim": {"repository": "uni/*"}}}})json");
    EXPECT_EQ(told(loaded), "");
    auto const& options = loaded.config.auth;
    EXPECT_EQ(options.realm, "Uni");
    EXPECT_EQ(options.remember, std::chrono::minutes(1));
    EXPECT_EQ(options.grace, std::chrono::hours(2));
    EXPECT_EQ(options.failures_per_minute, 5u);
    ASSERT_EQ(options.sources.size(), 6u);
    EXPECT_EQ(std::get<auth::NegotiateOptions>(options.sources[0]).realm, "UNI.EXAMPLE");
    EXPECT_EQ(std::get<auth::LdapOptions>(options.sources[1]).base, "dc=uni");
    EXPECT_EQ(std::get<auth::HtpasswdOptions>(options.sources[2]).file, "u");
    EXPECT_EQ(std::get<auth::JwtOptions>(options.sources[3]).user, "email");
    EXPECT_EQ(std::get<auth::AddressOptions>(options.sources[4]).users[0].second, "kiosk");
    ASSERT_EQ(options.groups.size(), 2u);
    EXPECT_EQ(options.groups[0], (auth::GroupOptions{.name = "ci", .claims = {{"repository", {"uni/*"}}}}));
    EXPECT_EQ(options.groups[1], (auth::GroupOptions{.name = "staff", .users = {"file:/s", "alice"}, .ldap = {"cn=staff,dc=uni"}}));
}

TEST(Auth, check_fails_if_the_user_of_the_program_cannot_read_a_file_of_users) {
    if (!io::is_root() || !io::find_account("nobody")) GTEST_SKIP() << "only root becomes another user";
    test::TempDir const folder;
    auto const users = folder.write("users", "anna:$apr1$h6qC1bM3$Mt2H8g0iCTz8x7yJ4Xo7e1\n");
    std::filesystem::permissions(folder.path(), std::filesystem::perms(0755));
    std::filesystem::permissions(users, std::filesystem::perms(0600));
    auto const text = R"({"user": "nobody", "auth": {"sources": [{"type": "htpasswd", "file": ")" + users + R"("}]}})";
    auto const loaded = load_text("test.json", text, {}, NamedFiles::tried);
    ASSERT_EQ(loaded.faults.size(), 1u);
    EXPECT_THAT(text_of(loaded.faults.front()),
                HasSubstr("\"" + users + "\" cannot be read by the start or a reload: Permission denied for user nobody"));
    std::filesystem::permissions(users, std::filesystem::perms(0644));
    EXPECT_TRUE(load_text("test.json", text, {}, NamedFiles::tried).faults.empty());
}

TEST(Auth, each_fault_has_its_key_and_a_mend) {
    struct Case {
        char const* source;
        char const* fault;
    };
    constexpr Case cases[]{
        {R"json({})json", "auth.sources[0]: has no type"},
        {R"json({"type": "ldapp"})json", "did you mean \"ldap\"?"},
        {R"json({"type": "htpasswd"})json", "auth.sources[0]: has no file"},
        {R"json({"type": "htpasswd", "file": "f", "keytab": "k"})json", "auth.sources[0].keytab: unknown key"},
        {R"json({"type": "ldap", "url": "http://x", "base": "dc=uni"})json", "auth.sources[0].url: \"http://x\" is not the URL"},
        {R"json({"type": "ldap", "url": "ldaps://x/y", "base": "dc=uni"})json", "has no host, or more than"},
        {R"json({"type": "ldap", "url": "ldaps://x:99999", "base": "dc=uni"})json", "has no port between 1 and 65535"},
        {R"json({"type": "ldap", "url": "ldaps://x", "base": "dc=uni", "filter": "(uid=*)"})json", "does not have {user}"},
        {R"json({"type": "ldap", "url": "ldaps://x", "base": "dc=uni", "filter": "uid={user}"})json", "is not a search filter"},
        {R"json({"type": "ldap", "url": "ldaps://x", "base": "dc=uni", "bind_dn": "cn=a"})json",
         "auth.sources[0].bind_dn: has no password"},
        {R"json({"type": "address", "users": {"x": "kiosk"}})json", "auth.sources[0].users.x: \"x\" is not an address"},
    };
    for (auto const& [source, fault] : cases)
        EXPECT_THAT(told(load("{\"auth\": {\"sources\": [" + std::string(source) + "]}}")), HasSubstr(fault)) << source;
    EXPECT_THAT(told(load("{}", {"auth.sources={}"})), HasSubstr("expects a list"));
    EXPECT_THAT(told(load("{}", {"auth.realm=a\"b"})), HasSubstr("has a quote"));
    EXPECT_THAT(told(load("{}", {"auth.threads=0"})), HasSubstr("auth.threads: 0 is out of range"));
    EXPECT_THAT(told(load("{}", {"groups.staff.users=a"})), HasSubstr("groups.staff.users: unknown key"));
    EXPECT_THAT(told(load("{}", {"groups.staff.user="})), HasSubstr("is empty"));
}

TEST(Auth, files_that_cannot_be_used_are_faults_of_their_keys) {
    test::TempDir const dir;
    auto const told = told_with_files(R"({
        "auth": { "sources": [
            { "type": "htpasswd", "file": "/nowhere/users" },
            { "type": "negotiate", "keytab": "/nowhere/keytab" },
            { "type": "jwt", "keys": ")" +
                                      dir.write("keys", "{}") + R"(", "audience": "a" },
            { "type": "ldap", "url": "ldaps://x", "base": "uni", "ca_file": "" } ] },
        "groups": { "staff": { "user": "file:/nowhere/staff" } } })");
    EXPECT_THAT(told, HasSubstr("test.json:3: auth.sources[0].file: /nowhere/users: cannot be read: No such file or directory"));
    EXPECT_THAT(told, HasSubstr("test.json:4: auth.sources[1].keytab: /nowhere/keytab: cannot be used"));
    EXPECT_THAT(told, HasSubstr("is not a set of keys"));
    EXPECT_THAT(told, HasSubstr("test.json:6: auth.sources[3].base: \"uni\" is not a DN"));
    EXPECT_THAT(told, HasSubstr("groups.staff.user[0]: /nowhere/staff: cannot be read"));
}

TEST(Auth, bad_lines_and_passwords_in_the_clear_are_notices) {
    test::TempDir const dir;
    auto const told = told_with_files(R"({ "listen": [{ "address": "192.0.2.1:3128" }],
        "auth": { "sources": [{ "type": "htpasswd", "file": ")" +
                                      dir.write("users", "alice:plain\n") + R"(" },
                              { "type": "ldap", "url": "ldap://ldap.example", "base": "dc=uni" }] }, "groups": { "none": {} } })");
    EXPECT_THAT(told, HasSubstr("users:1: has a password in plain text and is left out"));
    EXPECT_THAT(told, HasSubstr("listen[0]: clients send passwords to this address unencrypted"));
    EXPECT_THAT(told, HasSubstr("passwords reach the directory unencrypted"));
    EXPECT_THAT(told, HasSubstr("groups.none: has no members"));
}

TEST(Auth, groups_of_a_directory_need_one_that_knows_the_names) {
    auto const told_of = [](std::string const& sources) {
        return with_notices(load(R"({"groups": {"staff": {"ldap": "cn=staff,dc=uni"}}, "auth": {"sources": [)" + sources + "]}}"));
    };
    std::string const ldap = R"({"type": "ldap", "url": "ldaps://x", "base": "dc=uni"})";
    EXPECT_THAT(told_of(R"({"type": "htpasswd", "file": "u"})"),
                HasSubstr("groups.staff.ldap: no source of users is a directory, so the members are unknown"));
    EXPECT_THAT(told_of(ldap), Not(HasSubstr("directory")));
    EXPECT_THAT(told_of(R"({"type": "negotiate", "keytab": "k"}, )" + ldap),
                HasSubstr("auth.sources[0]: names from tickets keep their realm"));
    EXPECT_THAT(told_of(R"({"type": "negotiate", "keytab": "k", "realm": "UNI"}, )" + ldap), Not(HasSubstr("realm")));
}

}   // namespace
}   // namespace garner::config
