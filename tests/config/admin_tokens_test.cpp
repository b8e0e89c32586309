// admin.tokens and the checks that belong to them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/key_changes.hpp"
#include "support.hpp"

namespace garner::config {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string const digest(64, 'a'), other_digest(64, 'b');

/// A configuration with each token on a line of its own: the first one is on line 2.
std::string with_tokens(std::vector<std::string> const& tokens, std::string const& address = "127.0.0.1:3131") {
    std::string text;
    for (auto const& token : tokens) text += (text.empty() ? "\n" : ",\n") + token;
    return R"({"admin": {"address": ")" + address + R"(", "tokens": [)" + text + "]}}";
}

std::string token(std::string const& name, std::string const& sha256, std::string const& more = "") {
    return R"({"name": ")" + name + R"(", "sha256": ")" + sha256 + "\"" + more + "}";
}

TEST(AdminTokens, are_read) {
    auto const loaded = load(with_tokens({token("desk", digest), token("boss", std::string(64, 'B'), R"(, "role": "operator")")}));
    EXPECT_EQ(told(loaded), "");
    std::vector<Admin::Token> const expected{{"desk", "viewer", digest}, {"boss", "operator", other_digest}};
    EXPECT_EQ(loaded.config.admin.tokens, expected);
}

TEST(AdminTokens, errors_have_line_key_and_a_suggested_fix) {
    struct Row {
        std::vector<std::string> tokens;
        char const* told;
    };
    for (auto const& row : {
             Row{{token("desk", digest), token("boss", "abc")},
                 "test.json:3: admin.tokens[1].sha256: has 3 digits, and a SHA-256 has 64 (write the line that garner token "
                 "prints"},
             Row{{token("desk", std::string(64, 'g'))},
                 "test.json:2: admin.tokens[0].sha256: has a character that is no hexadecimal digit (write"},
             Row{{token("desk", digest + "a")}, "admin.tokens[0].sha256: has 65 digits"},
             Row{{token("desk", "")}, "admin.tokens[0].sha256: has 0 digits"},
             Row{{R"({"name": "desk", "sha256": 5})"}, "admin.tokens[0].sha256: expects text, not the number 5"},
             Row{{R"({"name": "desk"})"}, "test.json:2: admin.tokens[0]: has no sha256 (add it)"},
             Row{{R"({"sha256": ")" + digest + "\"}"}, "admin.tokens[0]: has no name (add it)"},
             Row{{token("desk", digest), token("desk", other_digest)},
                 "test.json:3: admin.tokens[1].name: is also the name of another token (make another token)"},
             Row{{token("desk", digest), token("boss", digest)},
                 "test.json:3: admin.tokens[1].sha256: is also the digest of another token"},
             Row{{token("desk", "x"), token("boss", digest), token("desk", other_digest)},   // the first is faulty itself
                 "test.json:4: admin.tokens[2].name: is also the name"},
             Row{{token("desk", digest, R"(, "role": "admin")")},
                 "test.json:2: admin.tokens[0].role: \"admin\" is not known (write one of viewer, operator)"},
             Row{{token("desk", digest, R"(, "role": "operater")")}, "did you mean \"operator\"?"},
             Row{{token("", digest)}, "test.json:2: admin.tokens[0].name: \"\" is empty"},
             Row{{token("a b", digest)}, "admin.tokens[0].name: \"a b\" has another character (write letters, digits"},
             Row{{token(std::string(65, 'a'), digest)}, "is longer than 64 bytes"},
         })
        EXPECT_THAT(told(load(with_tokens(row.tokens))), HasSubstr(row.told));
    std::vector<std::string> many;
    for (int i = 0; i < 101; ++i) {
        auto const number = std::to_string(1000 + i);
        many.push_back(token(number, std::string(60, 'c') + number));
    }
    EXPECT_THAT(told(load(with_tokens(many))), HasSubstr("admin.tokens: has more than 100 tokens (remove some)"));
}

TEST(AdminTokens, an_error_does_not_repeat_the_token) {
    EXPECT_THAT(told(load(with_tokens({token("desk", "garner_0123456789")}))), Not(HasSubstr("0123456789")));
}

TEST(AdminTokens, names_that_are_no_hosts_are_named) {
    EXPECT_THAT(
        told(load("{\"admin\": {\n\"names\": [\"gate.example\", \"a b\"]}}")),
        HasSubstr("test.json:2: admin.names[1]: \"a b\" is not a host: it has a space (write a name or an address without port"));
}

TEST(AdminTokens, an_address_that_is_not_on_loopback_needs_them) {
    for (auto const* address : {"0.0.0.0:3131", ":3131", "10.0.0.5:3131", "[2001:db8::5]:3131"}) {
        EXPECT_THAT(told(load(with_tokens({}, address))),
                    HasSubstr("admin.address: is not on loopback, and there are no admin.tokens"));
        EXPECT_EQ(told(load(with_tokens({token("desk", digest)}, address))), "");
    }
    for (auto const* address : {"127.0.0.1:3131", "127.0.0.9:3131", "[::1]:3131", "localhost:3131", ""})
        EXPECT_EQ(told(load(with_tokens({}, address))), "");
    EXPECT_THAT(told(load("{}", {"admin.address=:3131"})), HasSubstr("add the line of garner token NAME to admin.tokens"));
    // A faulty token is one error.
    EXPECT_THAT(told(load(with_tokens({token("desk", "x")}, ":3131"))), Not(HasSubstr("not on loopback")));
}

TEST(AdminTokens, a_reload_does_not_print_digests) {
    auto const before = load(with_tokens({token("desk", digest)})), after = load(with_tokens({token("desk", other_digest)}));
    auto const changes = key_changes(before.root, after.root);
    ASSERT_EQ(changes.size(), 1u);
    EXPECT_EQ(changes.front().text(), "admin.tokens[0].sha256: (changed) (now)");
}

}   // namespace
}   // namespace garner::config
