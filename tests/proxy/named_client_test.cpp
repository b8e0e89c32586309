// Clients that gateways name in X-Forwarded-For and Forwarded.
#include "proxy/named_client.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

using Lines = std::vector<std::pair<std::string, std::string>>;

std::vector<IpNetwork> const trusted_networks{*parse_network("10.0.0.0/8"), *parse_network("127.0.0.0/8")};
std::vector<IpAddress> const own_places{IpAddress::v4(192, 0, 2, 1)};

http::Fields fields_of(Lines const& lines) {
    http::Fields fields;
    for (auto const& [name, value] : lines) fields.add(name, value);
    return fields;
}

std::string named_by(Lines const& lines, std::string const& sender = "10.0.0.1") {
    return named_client(fields_of(lines), *parse_ip(sender), trusted_networks, own_places).text();
}

std::string by_x_forwarded_for(std::string const& value) { return named_by({{"X-Forwarded-For", value}}); }
std::string by_forwarded(std::string const& value) { return named_by({{"Forwarded", value}}); }

TEST(NamedClient, is_the_last_address_that_is_no_gateway) {
    EXPECT_EQ(by_x_forwarded_for("203.0.113.9, 198.51.100.7"), "198.51.100.7") << "a client can write what comes before";
    EXPECT_EQ(by_x_forwarded_for("203.0.113.9, 198.51.100.7, 10.0.0.2,10.0.0.3"), "198.51.100.7");
    EXPECT_EQ(by_x_forwarded_for("10.0.0.2, 10.0.0.3"), "10.0.0.2") << "a gateway's own request";
    EXPECT_EQ(named_by({{"x-forwarded-for", "203.0.113.9"}, {"X-Forwarded-For", "198.51.100.7"}}), "198.51.100.7");
    EXPECT_EQ(by_x_forwarded_for("2001:db8::7"), "2001:db8::7");
}

TEST(NamedClient, is_the_sender_unless_that_is_trusted) {
    EXPECT_EQ(named_by({{"X-Forwarded-For", "203.0.113.9"}}, "198.51.100.7"), "198.51.100.7");
    EXPECT_EQ(named_by({}), "10.0.0.1");
    EXPECT_EQ(named_client(fields_of({{"X-Forwarded-For", "203.0.113.9"}}), *parse_ip("10.0.0.1"), {}, own_places).text(),
              "10.0.0.1");
}

TEST(NamedClient, is_never_a_local_address) {
    for (auto const* local : {"127.0.0.1", "::1", "0.0.0.0", "::", "192.0.2.1", "::ffff:127.0.0.1"})
        EXPECT_EQ(by_x_forwarded_for(local), "10.0.0.1") << local;
    EXPECT_EQ(by_x_forwarded_for("127.0.0.1, 10.0.0.2"), "10.0.0.2") << "the gateway that wrote it";
}

TEST(NamedClient, is_not_behind_what_is_no_address) {
    for (auto const* odd :
         {"unknown", "_hidden", "", "203.0.113.9 1", "203.0.113.9, ", "203.0.113.9, x", "1.2.3", "[", "\"", "\"\""})
        EXPECT_EQ(by_x_forwarded_for(odd), "10.0.0.1") << odd;
}

TEST(NamedClient, may_have_a_port) {
    EXPECT_EQ(by_x_forwarded_for("203.0.113.9:4711"), "203.0.113.9");
    EXPECT_EQ(by_x_forwarded_for("[2001:db8::7]:4711"), "2001:db8::7");
    EXPECT_EQ(by_x_forwarded_for("[2001:db8::7]"), "2001:db8::7");
}

TEST(NamedClient, is_in_Forwarded_if_the_other_field_is_missing) {
    EXPECT_EQ(by_forwarded("for=203.0.113.9;proto=https, for=198.51.100.7;by=10.0.0.2"), "198.51.100.7");
    EXPECT_EQ(by_forwarded("proto=https;For=\"[2001:db8::7]:4711\""), "2001:db8::7");
    EXPECT_EQ(by_forwarded("for=\"203.0.113.9, for=1.2.3.4\", for=198.51.100.7"), "198.51.100.7") << "a comma in quotes";
    for (auto const* odd : {"for=unknown", "for=_x", "proto=https", "for", "for=\"", "", "for=198.51.100.7, proto=http"})
        EXPECT_EQ(by_forwarded(odd), "10.0.0.1") << odd;
    EXPECT_EQ(named_by({{"Forwarded", "for=203.0.113.9"}, {"X-Forwarded-For", "198.51.100.7"}}), "198.51.100.7");
}

TEST(NamedClient, is_found_among_any_number_of_addresses) {
    std::string many;
    for (int i = 0; i < 10'000; ++i) many += "10.0.0.2, ";
    EXPECT_EQ(by_x_forwarded_for(many + "198.51.100.7"), "198.51.100.7");
    EXPECT_EQ(by_x_forwarded_for("198.51.100.7, " + many + "10.0.0.2"), "10.0.0.2") << "only the last ones are looked at";
}

TEST(NamedClient, is_not_hidden_by_a_quote_that_a_visitor_leaves_open) {
    EXPECT_EQ(by_x_forwarded_for("\"x, 198.51.100.7"), "198.51.100.7");
    EXPECT_EQ(by_x_forwarded_for("\", \"\\, 198.51.100.7"), "198.51.100.7");
    EXPECT_EQ(by_forwarded("for=\"x, for=198.51.100.7"), "198.51.100.7");
    EXPECT_EQ(by_forwarded("for=\"x, for=198.51.100.7;host=\"a, for=203.0.113.9\""), "198.51.100.7");
    EXPECT_EQ(by_forwarded("for=a;x=\"\\, for=198.51.100.7;host=\"a\\\", for=203.0.113.9;\""), "198.51.100.7");
    EXPECT_EQ(named_by({{"Forwarded", "for=\"x"}, {"Forwarded", "for=198.51.100.7"}}), "198.51.100.7");
    EXPECT_EQ(named_by({{"X-Forwarded-For", ""}, {"Forwarded", "for=198.51.100.7"}}), "10.0.0.1");
}

struct Behind : ::testing::Test {
    Behind() {
        options.forwarded_trust = trusted_networks;
        addresses.interfaces = own_places;
        auto client = std::make_shared<Client>(Client{.peer = {*parse_ip("10.0.0.1"), 4711}, .listener = 3128});
        client->identity = std::make_shared<http::Identity const>();
        last = client;
    }
    void request(Lines const& lines) { last = client_of_request(last, fields_of(lines), options, &addresses); }

    Options options;
    http::OwnAddresses addresses;
    std::shared_ptr<Client const> last;
};

TEST_F(Behind, each_request_of_a_connection_has_its_own_client) {
    request({{"X-Forwarded-For", "198.51.100.7"}});
    EXPECT_EQ(last->peer.address.text(), "198.51.100.7");
    EXPECT_EQ(last->text, "198.51.100.7");
    EXPECT_EQ(last->sender().address.text(), "10.0.0.1");
    EXPECT_EQ(last->identity, nullptr) << "the login was another client's";
    EXPECT_EQ(last->listener, 3128);
    request({{"X-Forwarded-For", "198.51.100.8"}});
    EXPECT_EQ(last->text, "198.51.100.8");
    request({});
    EXPECT_EQ(last->text, "10.0.0.1");
    EXPECT_EQ(last->peer.port, 4711);
    EXPECT_FALSE(last->gateway);
}

TEST_F(Behind, a_client_keeps_its_login_over_its_requests) {
    auto const before = last;
    request({});
    EXPECT_EQ(last, before);
    request({{"X-Forwarded-For", "198.51.100.7"}});
    auto const named = last;
    request({{"X-Forwarded-For", "198.51.100.7"}});
    EXPECT_EQ(last, named);
}

}   // namespace
}   // namespace garner::proxy
