// Recorded messages of protocol 1: later programs must write and read them, byte by byte.
#include "takeover/client_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "support/places.hpp"

namespace garner::takeover {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string recorded(std::string const& name) {
    std::ifstream file(test::source("tests/data/takeover/1/" + name + ".cbor"), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string bytes_in(Json const& message) {
    auto const bytes = Json::to_cbor(message);
    return {bytes.begin(), bytes.end()};
}

Welcome example_welcome() {
    Welcome welcome;
    welcome.protocol = 1;
    welcome.version = "0.1.0";
    welcome.record_format = 3;
    welcome.sequence = 1'900'000'000'000'000'000;
    welcome.via = "garner-0123456789abcdef";
    for (int i = 0; i < 240; ++i) welcome.ticket_keys += static_cast<char>(i);
    welcome.ticket_age = milliseconds{1'234'567};
    welcome.notify_socket = "/run/systemd/notify";
    welcome.watchdog = microseconds{30'000'000};
    return welcome;
}

/// One between two requests, and a tunnel.
Clients example_clients() {
    HandedClient idle;
    idle.listener = {IpAddress::v4(127, 0, 0, 1), 3128};
    idle.client = {*parse_ip("2001:db8::7"), 40'000};
    idle.is_new = false;
    idle.unread = std::string("GET \0", 5);
    idle.destination = IpEndpoint{IpAddress::v4(192, 0, 2, 1), 80};
    idle.authority = "example.com";
    auto tunnel = idle;
    tunnel.unread.clear();
    tunnel.destination = std::nullopt;
    tunnel.authority.clear();
    tunnel.tunnel = HandedTunnel{.head = "CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n",
                                 .user = "eve",
                                 .groups = {"staff"},
                                 .age = milliseconds{61'000},
                                 .sent = 5'000'000'000,
                                 .status = 200,
                                 .tag = "TCP_TUNNEL",
                                 .hierarchy = "HIER_DIRECT",
                                 .peer = "192.0.2.9",
                                 .up = {.in_pipe = 4'096, .ended = true},
                                 .down = {}};
    return {.number = 7, .clients = {idle, tunnel}};
}

/// A message of each kind.
std::map<std::string, Json> examples() {
    Hello hello;
    hello.least = hello.most = 1;
    hello.version = "0.1.0";
    hello.record_format = 3;
    auto with_objects = hello;
    with_objects.objects = with_objects.counters = true;
    auto with_clients = with_objects;
    with_clients.clients = with_clients.state = true;
    auto with_quotas = with_clients;
    with_quotas.quotas = true;
    std::string const key("fhttp://example.com/\x01gzip", 25);
    return {{"hello", json_of(hello)},
            {"hello.objects", json_of(with_objects)},
            {"hello.clients", json_of(with_clients)},
            {"hello.quotas", json_of(with_quotas)},
            {"clients", json_of(example_clients())},
            {"taken", json_of(Taken{.number = 7, .returned = {1}})},
            {"keep", plain("keep")},
            {"welcome", json_of(example_welcome())},
            {"sockets", json_of(Sockets{.names = {"listen/127.0.0.1:3128/0", "admin/127.0.0.1:3131/0", "control"}, .last = true})},
            {"ready", plain("ready")},
            {"objects", plain("objects")},
            {"disk", plain("disk")},
            {"serving", json_of(Serving{.disk = "/var/cache/garner", .control = false})},
            {"go", json_of(Forget{.number = 2, .keys = {key, "fhttp://example.com/a"}, .power = false, .everything = false}, "go")},
            {"forget", json_of(Forget{.number = 3, .keys = {key}, .power = true, .everything = false}, "forget")},
            {"settled", settled(3)},
            {"counters", counters({{"garner_refreshes_total", 2}, {"garner_requests_total{answer}", {{"hit", 5}, {"miss", 1}}}})},
            {"quotas", quotas("0123456789abcdef 1767225600 600 1 1 29453760 guests 4%0A%09%00%07\n")},
            {"bye", plain("bye")},
            {"refused", refusal("a takeover is running")}};
}

TEST(TakeoverMessages, are_those_that_were_recorded) {
    for (auto const& [name, message] : examples()) {
        if (std::getenv("GARNER_WRITE"))
            std::ofstream(test::source("tests/data/takeover/1/" + name + ".cbor"), std::ios::binary) << bytes_in(message);
        EXPECT_EQ(bytes_in(message), recorded(name)) << name;
        EXPECT_EQ(what_of(Json::from_cbor(recorded(name))), name.substr(0, name.find('.')));
    }
}

Json read(std::string const& name) { return Json::from_cbor(recorded(name)); }

TEST(TakeoverMessages, that_were_recorded_are_read) {
    auto const hello = hello_of(read("hello"));
    ASSERT_TRUE(hello) << hello.fault_text();
    EXPECT_EQ(hello->version, "0.1.0");
    EXPECT_EQ(hello->record_format, 3u);
    EXPECT_FALSE(hello->objects);
    EXPECT_FALSE(hello->counters);
    EXPECT_FALSE(hello->quotas);
    EXPECT_TRUE(hello_of(read("hello.quotas"))->quotas);
    EXPECT_TRUE(hello_of(read("hello.objects"))->objects);
    EXPECT_TRUE(hello_of(read("hello.objects"))->counters);
    auto const welcome = welcome_of(read("welcome"));
    ASSERT_TRUE(welcome) << welcome.fault_text();
    auto const example = example_welcome();
    EXPECT_EQ(welcome->sequence, example.sequence);
    EXPECT_EQ(welcome->via, example.via);
    EXPECT_EQ(welcome->ticket_keys, example.ticket_keys);
    EXPECT_EQ(welcome->ticket_age, example.ticket_age);
    EXPECT_EQ(welcome->notify_socket, example.notify_socket);
    EXPECT_EQ(welcome->watchdog, example.watchdog);
    auto const sockets = sockets_of(read("sockets"));
    ASSERT_TRUE(sockets) << sockets.fault_text();
    EXPECT_THAT(sockets->names, ElementsAre("listen/127.0.0.1:3128/0", "admin/127.0.0.1:3131/0", "control"));
    EXPECT_TRUE(sockets->last);
    auto const serving = serving_of(read("serving"));
    ASSERT_TRUE(serving) << serving.fault_text();
    EXPECT_EQ(serving->disk, "/var/cache/garner");
    EXPECT_FALSE(serving->control);
    auto const forget = forget_of(read("forget"));
    ASSERT_TRUE(forget) << forget.fault_text();
    EXPECT_THAT(forget->keys, ElementsAre(std::string("fhttp://example.com/\x01gzip", 25)));
    EXPECT_TRUE(forget->power);
    EXPECT_FALSE(forget->everything);
    auto const go = forget_of(read("go"));
    ASSERT_TRUE(go) << go.fault_text();
    EXPECT_EQ(go->keys.size(), 2u);
    auto const acknowledged = settled_of(read("settled"));
    ASSERT_TRUE(acknowledged) << acknowledged.fault_text();
    EXPECT_EQ(*acknowledged, 3u);
    auto const counted = counters_of(read("counters"));
    ASSERT_TRUE(counted) << counted.fault_text();
    EXPECT_EQ((*counted)["garner_requests_total{answer}"]["hit"], 5);
    EXPECT_FALSE(counters_of(plain("counters")));
    auto const rows = quotas_of(read("quotas"));
    ASSERT_TRUE(rows) << rows.fault_text();
    EXPECT_TRUE(rows->ends_with("guests 4%0A%09%00%07\n"));
    EXPECT_FALSE(quotas_of(plain("quotas")));
    EXPECT_EQ(refusal_of(read("refused")), "a takeover is running");
    EXPECT_EQ(refusal_of(read("bye")), std::nullopt);
}

TEST(TakeoverMessages, of_client_connections_are_read) {
    auto const hello = hello_of(read("hello.clients"));
    ASSERT_TRUE(hello) << hello.fault_text();
    EXPECT_TRUE(hello->clients && hello->state);
    EXPECT_FALSE(hello_of(read("hello.objects"))->clients);
    auto const clients = clients_of(read("clients"));
    ASSERT_TRUE(clients) << clients.fault_text();
    EXPECT_EQ(clients->number, 7u);
    ASSERT_EQ(clients->clients.size(), 2u);
    auto const& idle = clients->clients[0];
    EXPECT_EQ(idle.listener.text(), "127.0.0.1:3128");
    EXPECT_EQ(idle.client.text(), "[2001:db8::7]:40000");
    EXPECT_FALSE(idle.is_new);
    EXPECT_EQ(idle.unread, std::string("GET \0", 5));
    EXPECT_EQ(idle.destination->text(), "192.0.2.1:80");
    EXPECT_EQ(idle.authority, "example.com");
    EXPECT_EQ(idle.descriptors(), 1u);
    auto const& second = clients->clients[1];
    ASSERT_TRUE(second.tunnel);
    auto const& tunnel = *second.tunnel;
    EXPECT_EQ(tunnel.user, "eve");
    EXPECT_THAT(tunnel.groups, ElementsAre("staff"));
    EXPECT_EQ(tunnel.age, milliseconds{61'000});
    EXPECT_EQ(tunnel.sent, 5'000'000'000u);
    EXPECT_EQ(tunnel.up.in_pipe, 4'096u);
    EXPECT_TRUE(tunnel.up.ended);
    EXPECT_FALSE(tunnel.of_peer);
    EXPECT_EQ(second.descriptors(), 4u);
    auto const taken = taken_of(read("taken"));
    ASSERT_TRUE(taken) << taken.fault_text();
    EXPECT_EQ(taken->number, 7u);
    EXPECT_THAT(taken->returned, ElementsAre(1u));
}

TEST(TakeoverMessages, of_client_connections_name_the_member_that_is_wrong) {
    for (auto const& [name, value] : std::map<std::string, Json>{
             {"listener", "127.0.0.1"}, {"client", "127.0.0.1:70000"}, {"new", 1}, {"unread", 7}, {"tunnel", "none"}}) {
        auto message = read("clients");
        message["clients"][1][name] = value;
        EXPECT_THAT(clients_of(message).fault_text(), HasSubstr("\"" + name + "\"")) << name;
    }
    auto message = read("clients");
    message["clients"][1]["tunnel"]["up"]["in_pipe"] = -1;
    EXPECT_THAT(clients_of(message).fault_text(), HasSubstr("\"tunnel\""));
    message["clients"] = {1, 2};
    EXPECT_FALSE(clients_of(message));
    EXPECT_FALSE(clients_of(plain("clients")));
    EXPECT_FALSE(taken_of({{"do", "taken"}, {"number", 1}, {"returned", {-1}}}));
}

TEST(TakeoverMessages, ignore_members_of_later_programs) {
    auto message = read("welcome");
    message["later"] = {1, 2, 3};
    EXPECT_TRUE(welcome_of(message));
}

TEST(TakeoverMessages, may_say_nothing_of_disk_and_control_socket) {
    auto const serving = serving_of(plain("serving"));
    ASSERT_TRUE(serving) << serving.fault_text();
    EXPECT_EQ(serving->disk, std::nullopt);
    EXPECT_TRUE(serving->control);
    EXPECT_THAT(serving_of({{"do", "serving"}, {"control", 1}}).fault_text(), HasSubstr("\"control\""));
}

TEST(TakeoverMessages, name_the_member_that_is_wrong) {
    for (auto const& [name, value] :
         std::map<std::string, Json>{{"sequence", -1}, {"protocol", 4'294'967'296}, {"via", 7}, {"ticket_age_ms", "soon"}}) {
        auto message = read("welcome");
        message[name] = value;
        EXPECT_THAT(welcome_of(message).fault_text(), HasSubstr("\"" + name + "\""));
        message.erase(name);
        EXPECT_THAT(welcome_of(message).fault_text(), HasSubstr("\"" + name + "\""));
    }
    EXPECT_EQ(what_of(Json(3)), "");
    EXPECT_EQ(what_of(Json{{"do", 3}}), "");
}

TEST(TakeoverProtocol, is_the_highest_that_both_speak) {
    EXPECT_EQ(*common_protocol({.least = 1, .most = 5}, "0.1.0"), 1u);
    auto const later = common_protocol({.least = 2, .most = 5, .version = "3.0"}, "0.1.0");
    EXPECT_THAT(later.fault_text(), HasSubstr("garner 3.0 takes over by protocol 2 to 5, and the running garner 0.1.0 by 1"));
    EXPECT_FALSE(common_protocol({.least = 1, .most = 0}, "0.1.0"));
}

}   // namespace
}   // namespace garner::takeover
