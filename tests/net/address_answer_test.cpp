// The addresses, lifetimes and SOA records of DNS answers.
#include "net/address_answer.hpp"

#include <gtest/gtest.h>

#include <string>

#include "net/dns_message.hpp"

namespace garner::net {
namespace {

std::string wire(std::string_view host) {
    std::string out;
    while (!host.empty()) {
        auto const label = host.substr(0, host.find('.'));
        out += static_cast<char>(label.size());
        out += label;
        host.remove_prefix(std::min(label.size() + 1, host.size()));
    }
    return out + '\0';
}

std::string record(std::string_view owner, std::uint16_t type, std::uint32_t ttl, std::string const& data) {
    auto out = wire(owner);
    append_big_endian(type, out);
    append_big_endian(dns_internet, out);
    append_big_endian(ttl, out);
    append_big_endian(static_cast<std::uint16_t>(data.size()), out);
    return out + data;
}

std::string soa(std::uint32_t ttl, std::uint32_t minimum) {
    auto data = wire("ns.test") + wire("admin.test") + std::string(16, 'x');
    append_big_endian(minimum, data);
    return record("test", dns_soa, ttl, data);
}

std::string message(std::string_view host, std::uint16_t answers, std::uint16_t authorities, std::string const& records) {
    std::string out(4, '\0');
    for (std::uint16_t const count : {std::uint16_t{1}, answers, authorities, std::uint16_t{0}}) append_big_endian(count, out);
    out += wire(host);
    append_big_endian(dns_a, out);
    append_big_endian(dns_internet, out);
    return out + records;
}

std::string const first4("\xc0\x00\x02\x01", 4), second4("\xc0\x00\x02\x02", 4);

TEST(AddressAnswer, has_the_addresses_in_their_order_and_the_shortest_ttl) {
    auto const answer =
        parse_address_answer(message("a.test", 3, 0,
                                     record("a.test", dns_a, 60, first4) + record("A.Test", dns_a, 30, second4) +
                                         record("a.test", dns_aaaa, 90, "\x20\x01\x0d\xb8" + std::string(11, '\0') + "\x01")));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->addresses, (std::vector{*parse_ip("192.0.2.1"), *parse_ip("192.0.2.2"), *parse_ip("2001:db8::1")}));
    EXPECT_EQ(answer->ttl, seconds{30});
    EXPECT_FALSE(answer->negative_ttl);
}

TEST(AddressAnswer, follows_aliases_in_any_order_and_takes_no_other_name) {
    auto const alias = record("a.test", dns_cname, 10, wire("b.test")), address = record("b.test", dns_a, 60, first4);
    auto const foreign = record("evil.test", dns_a, 60, second4);
    for (auto const& records : {alias + address + foreign, foreign + address + alias}) {
        auto const answer = parse_address_answer(message("a.test", 3, 0, records));
        ASSERT_TRUE(answer);
        EXPECT_EQ(answer->addresses, std::vector{*parse_ip("192.0.2.1")});
        EXPECT_EQ(answer->ttl, seconds{10});
    }
    auto const circle = alias + record("b.test", dns_cname, 10, wire("a.test"));
    EXPECT_TRUE(parse_address_answer(message("a.test", 2, 0, circle))->addresses.empty());
}

TEST(AddressAnswer, an_absent_name_has_the_lower_one_of_ttl_and_minimum_of_its_zone) {
    EXPECT_EQ(parse_address_answer(message("a.test", 0, 1, soa(60, 900)))->negative_ttl, seconds{60});
    EXPECT_EQ(parse_address_answer(message("a.test", 0, 1, soa(900, 60)))->negative_ttl, seconds{60});
    EXPECT_EQ(parse_address_answer(message("a.test", 0, 1, soa(900, 0x8000'0000)))->negative_ttl, seconds{0});
    EXPECT_FALSE(parse_address_answer(message("a.test", 0, 0, ""))->negative_ttl);
}

TEST(AddressAnswer, a_message_that_is_cut_is_none) {
    auto const whole = message("a.test", 1, 0, record("a.test", dns_a, 60, first4));
    ASSERT_TRUE(parse_address_answer(whole));
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(parse_address_answer(whole.substr(0, size))) << size;
    EXPECT_FALSE(parse_address_answer(message("a.test", 1, 0, record("a.test", dns_a, 60, "abc"))));
}

}   // namespace
}   // namespace garner::net
