#include "admin/access.hpp"

#include <gtest/gtest.h>

namespace garner::admin {
namespace {

std::vector<Token> const desk{{"desk", Role::operator_, digest_of("token")}};
Visitor const by_token{.role = Role::operator_, .name = "desk", .digest = digest_of("token")};

TEST(Access, a_visitor_stays_while_its_token_is_configured) {
    Access access(desk);
    EXPECT_TRUE(access.holds(by_token));
    access.set_tokens({{"other", Role::operator_, digest_of("other")}, desk.front()});
    EXPECT_TRUE(access.holds(by_token));
    access.set_tokens({{"desk", Role::viewer, digest_of("token")}});
    EXPECT_FALSE(access.holds(by_token));
    access.set_tokens({{"desk", Role::operator_, digest_of("new")}});
    EXPECT_FALSE(access.holds(by_token));
    access.set_tokens({});
    EXPECT_TRUE(access.holds(by_token));
}

TEST(Access, tokens_end_the_visits_that_needed_none) {
    Access access({});
    Visitor const open{.role = Role::operator_};
    EXPECT_TRUE(access.holds(open));
    access.set_tokens(desk);
    EXPECT_FALSE(access.holds(open));
}

TEST(Access, a_visitor_of_a_session_that_is_not_open_has_to_leave) {
    Access const access(desk);
    auto by_session = by_token;
    by_session.form_token = "form";
    by_session.session = digest_of("secret");
    EXPECT_FALSE(access.holds(by_session));
}

}   // namespace
}   // namespace garner::admin
