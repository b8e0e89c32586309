#include "admin/events.hpp"

#include <optional>
#include <vector>

#include "admin/house.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr test::Millis soon{10'000};

/// The viewer's reply, once it has the first message.
test::Reply view(test::Client& client) {
    auto reply = client.get("/events");
    EXPECT_EQ(reply.field("Content-Type"), "text/event-stream");
    EXPECT_EQ(reply.early(6).substr(0, 6), "data: ");
    return reply;
}

bool sees(test::Reply const& reply, std::string const& text) {
    return test::eventually([&] { return reply.early(reply.early(0).size() + 1).find(text) != std::string::npos; }, soon);
}

TEST(Events, send_all_figures_first_and_then_those_that_changed) {
    test::Origin origin;
    origin.answer("/page", test::fresh("hello"));
    House house;
    auto client = house.at_admin();
    auto const reply = view(client);
    EXPECT_TRUE(sees(reply, "\n\ndata: ")) << "a second message";
    EXPECT_THAT(reply.early(0), StartsWith("data: {"));
    EXPECT_THAT(reply.early(0), HasSubstr("\"f:requests.total\":[\"0\"]"));
    house.fetch(origin.url("/page")).body();
    EXPECT_TRUE(sees(reply, "\"f:requests.total\":[\"1\"]"));
    auto const last = reply.early(0).substr(reply.early(0).rfind("data: "));
    EXPECT_THAT(last, Not(HasSubstr("f:disk"))) << "figures that have not changed are not sent again";
}

TEST(Events, serve_64_viewers_and_refuse_more) {
    House house;
    std::vector<test::Client> clients;
    std::vector<test::Reply> replies;
    for (std::size_t i = 0; i < Events::viewers_max; ++i) {
        clients.push_back(house.at_admin());
        replies.push_back(view(clients.back()));
    }
    auto one_more = house.at_admin();
    auto const refused = one_more.get("/events");
    EXPECT_EQ(refused.status(), 503);
    EXPECT_EQ(refused.field("Retry-After"), "5");
    EXPECT_EQ(house.at_admin().get("/stats.json").status(), 200);
    for (auto const& reply : replies) EXPECT_TRUE(sees(reply, "f:requests.total"));
    clients.front().close();
    EXPECT_TRUE(test::eventually(
        [&] {
            auto another = house.at_admin();
            return another.get("/events").status() == 200;
        },
        soon))
        << "a viewer that has left makes room";
}

TEST(Events, end_for_viewers_that_read_nothing) {
    House house({.progress = milliseconds{1'500}});
    std::vector<test::Client> mute(Events::viewers_max, house.at_admin());
    for (auto& client : mute) {
        client.receive_buffer(1'024);
        client.raw("GET /events HTTP/1.1\r\nHost: " + house.address() + "\r\n\r\n");
    }
    std::optional<test::Client> reading;
    std::optional<test::Reply> reply;
    EXPECT_TRUE(test::eventually(
        [&] {
            reading.emplace(house.at_admin());
            reply.emplace(reading->get("/events"));
            return reply->status() == 200;
        },
        test::Millis{60'000}));
    for (int i = 0; i < 4; ++i) {   // more than the time after which it would end
        auto const size = reply->early(0).size();
        EXPECT_GT(reply->early(size + 1).size(), size);
    }
}

TEST(Events, end_when_the_server_stops) {
    House house;
    auto client = house.at_admin();
    auto const reply = view(client);
    EXPECT_TRUE(sees(reply, "data: "));
    house.admin().stop();
    EXPECT_TRUE(client.closed_by_proxy());
}

TEST(Events, are_only_for_GET) {
    House house;
    EXPECT_EQ(house.at_admin().send("POST", "/events", {{"Content-Length", "0"}}).status(), 405);
}

TEST(Explanation, has_the_verdict_and_needs_a_URL) {
    test::Origin origin;
    origin.answer("/page", test::fresh("hello"));
    House house;
    house.fetch(origin.url("/page")).body();
    auto const reply = Json::parse(house.at_admin().get("/explanation?url=" + origin.authority() + "/page").body());
    EXPECT_EQ(reply["lines"][0][0], "verdict");
    EXPECT_THAT(reply["lines"][0][1].get<std::string>(), StartsWith("hit: "));
    EXPECT_EQ(house.at_admin().get("/explanation").status(), 400);
    auto const page = house.at_admin().get("/?url=" + origin.authority() + "/page").body();
    EXPECT_THAT(page, HasSubstr("<dt>verdict</dt><dd>hit: "));
    EXPECT_THAT(house.at_admin().get("/?url=no%20URL").body(), HasSubstr("<dt>error</dt>"));
    EXPECT_THAT(house.at_admin().get("/?url=127.0.0.1").body(), HasSubstr("Client 127.0.0.1"));
}

}   // namespace
}   // namespace garner::admin
