#include "admin/form_fields.hpp"

#include <gtest/gtest.h>

#include <string>

namespace garner::admin {
namespace {

TEST(FormFields, values_are_decoded) {
    EXPECT_EQ(form_value("a=1&url=http%3A%2F%2Fa.example%2f+x&a=2", "url"), "http://a.example/ x");
    EXPECT_EQ(form_values("a=1&b=2&a=3", "a"), (std::vector<std::string>{"1", "3"}));
    for (auto const* form : {"", "a", "b=1", "&&&", "aa=1", "a=%4", "a=%zz", "=1"}) EXPECT_EQ(form_value(form, "a"), "") << form;
}

TEST(FormFields, a_cookie_is_found_among_others) {
    EXPECT_EQ(cookie_value("a=1; garner_session_3131=abc; b=2", "garner_session_3131"), "abc");
    EXPECT_EQ(cookie_value("garner=x;garner=y", "garner"), "x");
    EXPECT_EQ(cookie_value("xgarner=1; garnerx=2; garner", "garner"), "");
    EXPECT_EQ(cookie_value(" \t garner=a=b", "garner"), "a=b");
    EXPECT_EQ(cookie_value("", "garner"), "");
}

TEST(FormFields, a_bearer_token_has_its_characters_only) {
    EXPECT_EQ(bearer_token("Bearer garner_0a-._~+/="), "garner_0a-._~+/=");
    EXPECT_EQ(bearer_token("bearer  x "), "x");
    for (auto const* wrong : {"", "Bearer", "Bearer ", "Basic eDp5", "Bearer a b", "Bearer a\"b", "Bearer \xff", "Bearerx"})
        EXPECT_EQ(bearer_token(wrong), "") << wrong;
}

TEST(FormFields, a_login_leads_to_the_page_of_this_address) {
    for (auto const* good : {"/", "/?", "/?url=http%3A%2F%2Fa.example%2F"}) EXPECT_TRUE(is_page_target(good)) << good;
    for (auto const* bad : {"", "//evil.example/", "/\\evil.example", "http://evil.example/", "/stats.json", "/?a\r\nSet-Cookie: x",
                            "/? x", "/?\xc3\xa4", "?x"})
        EXPECT_FALSE(is_page_target(bad)) << bad;
}

}   // namespace
}   // namespace garner::admin
