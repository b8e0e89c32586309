// The admin address with tokens: roles of each route, logins by a form, and pages of other sites.
#include <algorithm>
#include <regex>

#include "admin/house.hpp"
#include "admin/pauses.hpp"

namespace garner::admin {
namespace {

using test::Fields;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr char const* viewer = "viewer-token";
constexpr char const* operating = "operator-token";

Options with_tokens() {
    return {.tokens = {{"desk", Role::viewer, digest_of(viewer)}, {"boss", Role::operator_, digest_of(operating)}}};
}

/// A pause that is longer than any wait of a test.
Options with_long_pauses() {
    auto options = with_tokens();
    options.login_pause = 3 * test::patience;
    return options;
}

Fields bearer(std::string const& token) { return {{"Authorization", "Bearer " + token}}; }
Fields plus(Fields fields, Fields const& more) {
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}
Fields const meant{{"Garner-Admin", "1"}};

/// True once that many logins have failed; the reply to the last one may be in its pause.
bool have_failed(House const& house, std::uint64_t logins) {
    return test::eventually([&] {
        auto const stats = Json::parse(house.at_admin().get("/stats.json", bearer(viewer)).body());
        return stats["admin"]["logins_failed"] >= logins;
    });
}

/// A browser that has logged in.
struct Browser {
    Browser(House const& house, std::string const& token) : house(house) {
        auto const reply = house.at_admin().post("/login", "token=" + token);
        EXPECT_EQ(reply.status(), 303) << reply.body();
        auto const set = reply.field("Set-Cookie");
        cookie = set.substr(0, set.find(';'));
        auto const page = house.at_admin().get("/login", fields()).body();
        std::smatch found;
        std::regex const pattern("name=\"form_token\" value=\"([0-9a-f]{64})\"");
        EXPECT_TRUE(std::regex_search(page, found, pattern)) << page;
        if (found.size() > 1) form_token = found[1];
    }
    Fields fields() const { return {{"Cookie", "other=1; " + cookie}}; }

    House const& house;
    std::string cookie, form_token;
};

TEST(Tokens, each_route_wants_its_role) {
    House house(with_tokens());
    ASSERT_GE(Routes::paths().size(), 16u);
    for (auto const& [path, methods, role, changes] : Routes::paths()) {
        auto const method = std::string(methods.starts_with("GET") ? "GET" : "POST");
        auto const status = [&, path = path](Fields const& fields) {
            return house.at_admin().send(method, std::string(path), plus(fields, {{"Content-Length", "0"}})).status();
        };
        bool const is_login = path == "/login";
        EXPECT_EQ(status(meant) == 401, role > Role::none) << path;
        EXPECT_EQ(status(plus(bearer(viewer), meant)) == 403, role == Role::operator_) << path;
        EXPECT_THAT(status(plus(bearer(operating), meant)), Not(AnyOf(401, 403, 405))) << path;
        EXPECT_EQ(status(plus(bearer(operating), {})) == 403, changes) << path;
        if (!is_login) EXPECT_EQ(house.at_admin().send("PUT", std::string(path), bearer(operating)).status(), 405) << path;
    }
}

TEST(Tokens, no_GET_changes_anything) {
    for (auto const& [path, methods, role, changes] : Routes::paths()) {
        if (changes || role == Role::operator_) EXPECT_EQ(std::string(methods).find("GET"), std::string::npos) << path;
    }
}

TEST(Tokens, a_wrong_one_is_refused_also_where_none_is_needed) {
    House house(with_tokens());
    for (auto const* path : {"/stats.json", "/health.json", "/"}) {
        auto const reply = house.at_admin().get(path, bearer("guessed"));
        EXPECT_EQ(reply.status(), 401) << path;
        EXPECT_THAT(reply.field("WWW-Authenticate"), HasSubstr("invalid_token"));
    }
    EXPECT_EQ(house.at_admin().get("/health.json").status(), 200);
    for (auto const* other : {"", "Basic eDp5", "Bearer ", "Bearer a b"})
        EXPECT_EQ(house.at_admin().get("/stats.json", {{"Authorization", other}}).status(), 401) << other;
    EXPECT_EQ(house.at_admin().get("/stats.json", plus(bearer(viewer), bearer(viewer))).status(), 401);
    auto const stats = Json::parse(house.at_admin().get("/stats.json", bearer(viewer)).body());
    EXPECT_EQ(stats["admin"]["logins_failed"], 8);
}

TEST(Tokens, guesses_become_slow_for_their_client_only) {
    House house(with_tokens());
    for (std::uint32_t i = 0; i < Access::failures_max; ++i)
        EXPECT_EQ(house.at_admin().get("/metrics", bearer("guess" + std::to_string(i))).status(), 401) << i;
    for (auto const* path : {"/metrics", "/health.json"}) {
        auto const begun = steady_now();
        auto const limited = house.at_admin().get(path, bearer("guess"));
        EXPECT_EQ(limited.status(), 429) << path;
        EXPECT_NE(limited.field("Retry-After"), "");
        EXPECT_GE(steady_now() - begun, Options{}.login_pause);
    }
    auto const form = house.at_admin().post("/login", "token=guess");
    EXPECT_EQ(form.status(), 429);
    EXPECT_THAT(form.body(), HasSubstr("action=\"/login\""));
    EXPECT_EQ(house.at_admin().get("/health.json").status(), 200);
    auto const stats = Json::parse(house.at_admin().get("/stats.json", bearer(viewer)).body());
    EXPECT_EQ(stats["admin"]["logins_failed"], Access::failures_max + 3);
}

TEST(Tokens, a_right_one_is_let_in_at_once_beside_a_client_of_the_same_address_that_guesses) {
    House house(with_long_pauses());
    for (std::uint32_t i = 0; i < Access::failures_max; ++i) house.at_admin().get("/metrics", bearer("guess")).body();
    auto guessing = house.at_admin();
    auto const slow = guessing.get("/metrics", bearer("guess"));
    EXPECT_TRUE(have_failed(house, Access::failures_max + 1));
    EXPECT_EQ(house.at_admin().get("/metrics", bearer(viewer)).status(), 200);
    EXPECT_EQ(house.at_admin().post("/login", std::string("token=") + operating).status(), 303);
    EXPECT_FALSE(slow.begins_within(test::Millis{0}));
    EXPECT_FALSE(guessing.closed_by_proxy(test::Millis{0})) << "the reply is to come";
}

TEST(Tokens, parallel_wrong_ones_keep_no_right_one_out_and_end_no_stream) {
    House house(with_long_pauses());
    auto viewing = house.at_admin();
    auto const stream = viewing.get("/events", bearer(viewer));
    EXPECT_EQ(stream.early(6).substr(0, 6), "data: ");
    for (std::uint32_t i = 0; i < Access::failures_max; ++i) house.at_admin().get("/metrics", bearer("guess")).body();
    constexpr std::size_t more_than_connections = 160;
    std::vector<test::Client> guessing(more_than_connections, house.at_admin());
    for (auto& one : guessing) one.get("/metrics", bearer("guess"));
    EXPECT_EQ(house.at_admin().get("/metrics", bearer(viewer)).status(), 200);
    EXPECT_EQ(house.at_admin().post("/login", std::string("token=") + operating).status(), 303);
    std::ptrdiff_t closed = 0;
    constexpr std::ptrdiff_t too_many = more_than_connections - Pauses::most;
    EXPECT_TRUE(test::eventually([&] {
        closed = std::ranges::count_if(guessing, [](test::Client& one) { return one.closed_by_proxy(test::Millis{0}); });
        return closed >= too_many;
    }));
    EXPECT_EQ(closed, too_many) << "the others are paused";
    auto const size = stream.early(0).size();
    EXPECT_GT(stream.early(size + 1).size(), size);
}

TEST(Tokens, unfinished_requests_end_no_stream) {
    House house(with_tokens());
    auto viewing = house.at_admin();
    auto const stream = viewing.get("/events", bearer(viewer));
    EXPECT_EQ(stream.early(6).substr(0, 6), "data: ");
    std::vector<test::Client> slow(300, house.at_admin());
    for (std::size_t i = 0; i < slow.size(); ++i)
        slow[i].raw("POST /login HTTP/1.1\r\nHost: " + house.address() + (i % 2 ? "\r\nContent-Length: 100\r\n\r\nt" : ""));
    EXPECT_EQ(house.at_admin().get("/metrics", bearer(viewer)).status(), 200);
    auto const size = stream.early(0).size();
    EXPECT_GT(stream.early(size + 1).size(), size);
}

TEST(Tokens, a_stop_does_not_wait_for_slow_replies) {
    House house(with_long_pauses());
    for (std::uint32_t i = 0; i < Access::failures_max; ++i) house.at_admin().get("/metrics", bearer("guess")).body();
    auto guessing = house.at_admin();
    auto const slow = guessing.get("/metrics", bearer("guess"));
    EXPECT_TRUE(have_failed(house, Access::failures_max + 1));
    auto const begun = steady_now();
    house.admin().stop();
    EXPECT_LT(steady_now() - begun, Options{}.login_pause);
}

TEST(Tokens, an_open_session_goes_on_while_guesses_are_slow) {
    House house(with_tokens());
    Browser const browser(house, viewer);
    for (std::uint32_t i = 0; i < Access::failures_max; ++i) house.at_admin().get("/metrics", bearer("guess")).body();
    EXPECT_EQ(house.at_admin().get("/metrics", bearer("guess")).status(), 429);
    EXPECT_EQ(house.at_admin().get("/stats.json", browser.fields()).status(), 200);
}

// ---- the form ----

TEST(Tokens, the_page_has_a_form_for_a_token) {
    House house(with_tokens());
    auto const page = house.at_admin().get("/?url=http%3A%2F%2Fa.example%2F%22%3E");
    EXPECT_EQ(page.status(), 401);
    EXPECT_EQ(page.field("Content-Type"), "text/html; charset=utf-8");
    EXPECT_THAT(page.field("Content-Security-Policy"), HasSubstr("form-action 'self'"));
    EXPECT_THAT(page.body(), HasSubstr("action=\"/login\""));
    EXPECT_THAT(page.body(), HasSubstr("name=\"next\" value=\"/?url=http%3A%2F%2Fa.example%2F%22%3E\""));
    EXPECT_THAT(page.body(), Not(HasSubstr("<script")));
}

TEST(Tokens, a_login_gives_a_cookie_that_scripts_and_other_sites_do_not_get) {
    House house(with_tokens());
    auto const reply = house.at_admin().post("/login", std::string("next=%2F%3Furl%3Dx&token=") + viewer);
    EXPECT_EQ(reply.status(), 303);
    EXPECT_EQ(reply.field("Location"), "/?url=x");
    auto const cookie = reply.field("Set-Cookie");
    for (auto const* part : {"; HttpOnly", "; SameSite=Strict", "; Path=/", "; Max-Age=43200"})
        EXPECT_THAT(cookie, HasSubstr(part));
    EXPECT_THAT(cookie, Not(HasSubstr(viewer)));
    auto const elsewhere = house.at_admin().post("/login", std::string("next=%2F%2Fevil.example%2F&token=") + viewer);
    EXPECT_EQ(elsewhere.field("Location"), "/");
}

TEST(Tokens, a_failed_login_gets_the_form_again) {
    House house(with_tokens());
    auto const reply = house.at_admin().post("/login", "next=%2F%3Fx&token=%3Cb%3E");
    EXPECT_EQ(reply.status(), 401);
    EXPECT_THAT(reply.body(), HasSubstr("This token is not valid."));
    EXPECT_THAT(reply.body(), HasSubstr("value=\"/?x\""));
    EXPECT_THAT(reply.body(), Not(HasSubstr("<b>")));
    EXPECT_EQ(reply.field("Set-Cookie"), "");
    EXPECT_EQ(house.at_admin().post("/login", "token=" + std::string(5'000, 'x')).status(), 413);
    EXPECT_EQ(house.at_admin().post("/login", "").status(), 401);
}

TEST(Tokens, a_session_has_the_role_of_its_token) {
    House house(with_tokens());
    Browser const desk(house, viewer), boss(house, operating);
    EXPECT_EQ(house.at_admin().get("/", desk.fields()).status(), 200);
    EXPECT_THAT(house.at_admin().get("/login", desk.fields()).body(), HasSubstr("You are desk (viewer)"));
    auto const purge = [&](Browser const& browser) {
        return house.at_admin()
            .post("/purge", "url=http%3A%2F%2Fa.example%2F&form_token=" + browser.form_token, browser.fields())
            .status();
    };
    EXPECT_EQ(purge(desk), 403);
    EXPECT_EQ(purge(boss), 200);
}

TEST(Tokens, a_form_needs_the_token_of_its_own_session) {
    House house(with_tokens());
    Browser const boss(house, operating), other(house, operating);
    auto const status = [&](std::string const& form, Fields const& fields) {
        return house.at_admin().post("/purge", "url=http%3A%2F%2Fa.example%2F" + form, plus(boss.fields(), fields)).status();
    };
    EXPECT_EQ(status("", {}), 403);
    EXPECT_EQ(status("&form_token=", {}), 403);
    EXPECT_EQ(status("&form_token=" + other.form_token, {}), 403);
    EXPECT_EQ(status("&form_token=" + boss.form_token, {}), 200);
    EXPECT_EQ(status("", meant), 200);   // a script of the page
}

TEST(Tokens, a_logout_ends_the_session) {
    House house(with_tokens());
    Browser const desk(house, viewer), same(house, viewer);
    EXPECT_EQ(house.at_admin().post("/logout", "", desk.fields()).status(), 403);
    auto const reply = house.at_admin().post("/logout", "form_token=" + desk.form_token, desk.fields());
    EXPECT_EQ(reply.status(), 303);
    EXPECT_THAT(reply.field("Set-Cookie"), HasSubstr("Max-Age=0"));
    EXPECT_EQ(house.at_admin().get("/stats.json", desk.fields()).status(), 401);
    EXPECT_EQ(house.at_admin().get("/stats.json", same.fields()).status(), 200);
}

TEST(Tokens, a_reload_makes_new_ones_valid_and_removed_ones_invalid) {
    House house(with_tokens());
    Browser const desk(house, viewer), boss(house, operating);
    Options fresh{.port = 0};   // as it was: the address stays
    fresh.tokens = {{"boss", Role::viewer, digest_of(operating)}, {"new", Role::operator_, digest_of("new")}};
    auto const prepared = house.admin().prepare(fresh);
    ASSERT_TRUE(prepared) << prepared.fault_text();
    (*prepared)();
    EXPECT_EQ(house.at_admin().get("/stats.json", bearer("new")).status(), 200);
    EXPECT_EQ(house.at_admin().get("/stats.json", bearer(viewer)).status(), 401);
    EXPECT_EQ(house.at_admin().get("/stats.json", desk.fields()).status(), 401);
    EXPECT_EQ(house.at_admin().get("/stats.json", boss.fields()).status(), 200);
    EXPECT_EQ(house.at_admin().post("/purge", "url=http%3A%2F%2Fa.example%2F", plus(boss.fields(), meant)).status(), 403);
}

TEST(Tokens, the_events_of_a_removed_one_end) {
    House house(with_tokens());
    Browser const desk(house, viewer);
    auto by_token = house.at_admin(), by_session = house.at_admin(), of_operator = house.at_admin();
    auto const first = by_token.get("/events", bearer(viewer)), second = by_session.get("/events", desk.fields()),
               third = of_operator.get("/events", bearer(operating));
    for (auto const* reply : {&first, &second, &third}) EXPECT_EQ(reply->early(6).substr(0, 6), "data: ");
    Options fresh{.port = 0};
    fresh.tokens = {{"boss", Role::operator_, digest_of(operating)}};
    auto const prepared = house.admin().prepare(fresh);
    ASSERT_TRUE(prepared) << prepared.fault_text();
    (*prepared)();
    EXPECT_TRUE(by_token.closed_by_proxy());
    EXPECT_TRUE(by_session.closed_by_proxy());
    EXPECT_FALSE(of_operator.closed_by_proxy(test::Millis{1'500}));
}

// ---- pages of other sites ----

TEST(Tokens, pages_of_other_sites_change_nothing) {
    House house(with_tokens()), open;
    Browser const boss(house, operating);
    auto const purge = [](House const& at, Fields const& fields) {
        return at.at_admin().post("/purge", "url=http%3A%2F%2Fa.example%2F", plus(fields, meant)).status();
    };
    std::vector<Fields> const foreign{{{"Origin", "http://evil.example"}},
                                      {{"Origin", "null"}},
                                      {{"Origin", "http://127.0.0.1:1"}},
                                      {{"Origin", "http://" + house.address() + ".evil.example"}},
                                      {{"Origin", ""}},
                                      {{"Sec-Fetch-Site", "cross-site"}},
                                      {{"Sec-Fetch-Site", "same-site"}},
                                      {{"Origin", "http://" + house.address()}, {"Sec-Fetch-Site", "cross-site"}},
                                      {{"Origin", "http://" + house.address()}, {"Origin", "http://evil.example"}},
                                      {{"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Site", "cross-site"}}};
    for (auto const& fields : foreign) {
        EXPECT_EQ(purge(house, plus(boss.fields(), fields)), 403) << fields.front().second;
        EXPECT_EQ(purge(house, plus(bearer(operating), fields)), 403) << fields.front().second;
        EXPECT_EQ(purge(open, fields), 403) << fields.front().second;
        EXPECT_EQ(house.at_admin().post("/login", std::string("token=") + viewer, fields).status(), 403);
    }
    for (auto const& own : std::vector<Fields>{{{"Origin", "http://" + house.address()}, {"Sec-Fetch-Site", "same-origin"}},
                                               {{"Origin", "https://" + house.address()}},
                                               {{"Sec-Fetch-Site", "none"}}})
        EXPECT_EQ(purge(house, plus(boss.fields(), own)), 200) << own.front().second;
}

TEST(Tokens, pages_of_other_sites_load_nothing_and_may_link_to_the_page) {
    House house;
    Fields const link{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "document"}};
    Fields const frame{{"Sec-Fetch-Site", "cross-site"}, {"Sec-Fetch-Mode", "navigate"}, {"Sec-Fetch-Dest", "iframe"}};
    Fields const picture{{"Sec-Fetch-Site", "same-site"}, {"Sec-Fetch-Mode", "no-cors"}, {"Sec-Fetch-Dest", "image"}};
    Fields const own{{"Sec-Fetch-Site", "same-origin"}, {"Sec-Fetch-Mode", "cors"}, {"Sec-Fetch-Dest", "empty"}};
    for (auto const* path : {"/", "/page.js", "/stats.json", "/events", "/explanation?url=127.0.0.1", "/health.json"}) {
        for (auto const& fields : {frame, picture}) EXPECT_EQ(house.at_admin().get(path, fields).status(), 403) << path;
        for (auto const& fields : {link, own, Fields{}}) EXPECT_EQ(house.at_admin().get(path, fields).status(), 200) << path;
    }
}

TEST(Tokens, without_tokens_no_login_is_needed) {
    House house;
    EXPECT_THAT(house.at_admin().get("/login").body(), HasSubstr("No login is needed"));
    EXPECT_THAT(house.at_admin().post("/login", "token=x").body(), HasSubstr("No login is needed"));
    EXPECT_EQ(house.at_admin().get("/stats.json", bearer("any")).status(), 200);
}

}   // namespace
}   // namespace garner::admin
