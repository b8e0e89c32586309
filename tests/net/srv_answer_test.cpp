// SRV answers, byte by byte.
#include "net/srv_answer.hpp"

#include <gtest/gtest.h>

#include "util/big_endian.hpp"

namespace garner::net {
namespace {

using Targets = std::vector<SrvTarget>;

void put_number(std::string& out, unsigned number) { append_big_endian(static_cast<std::uint16_t>(number), out); }

std::string srv_wire_name(std::string_view host) {
    std::string out;
    while (!host.empty()) {
        auto const label = host.substr(0, host.find('.'));
        out += static_cast<char>(label.size());
        out += label;
        host.remove_prefix(std::min(label.size() + 1, host.size()));
    }
    return out + '\0';
}

std::string srv_record(std::string const& owner, unsigned type, std::uint32_t ttl, std::string const& data) {
    auto out = owner;
    put_number(out, type);
    put_number(out, 1);
    append_big_endian(ttl, out);
    put_number(out, static_cast<unsigned>(data.size()));
    return out + data;
}

std::string const question_name("\xc0\x0c", 2);

std::string srv(unsigned priority, unsigned weight, unsigned port, std::string const& name, std::uint32_t ttl = 60,
                std::string const& owner = question_name) {
    std::string data;
    for (auto const number : {priority, weight, port}) put_number(data, number);
    return srv_record(owner, 33, ttl, data + name);
}

std::string srv_message(std::vector<std::string> const& records) {
    std::string out;
    for (auto const number : {7u, 0x8580u, 1u, static_cast<unsigned>(records.size()), 0u, 0u}) put_number(out, number);
    out += srv_wire_name("_http._tcp.caches.example");
    put_number(out, 33);
    put_number(out, 1);
    for (auto const& one : records) out += one;
    return out;
}

TEST(SrvAnswer, has_the_targets_in_order_and_the_shortest_ttl) {
    auto const answer = parse_srv_answer(
        srv_message({srv(20, 0, 3129, srv_wire_name("Gate2.Example"), 30), srv(10, 60, 3128, srv_wire_name("gate1.example")),
                     srv(10, 60, 3128, srv_wire_name("gate1.example"))}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->targets, (Targets{{10, 60, 3128, "gate1.example"}, {20, 0, 3129, "gate2.example"}}));
    EXPECT_EQ(answer->ttl, seconds{30});
}

TEST(SrvAnswer, of_a_service_that_is_not_offered_is_empty) {
    auto const answer = parse_srv_answer(srv_message({srv(0, 0, 0, srv_wire_name(""))}));
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->targets.empty());
}

TEST(SrvAnswer, follows_pointers_that_lead_back) {
    auto const caches = std::string("\x05gate1\xc0\x17", 8);   // caches.example in the question
    auto const answer = parse_srv_answer(srv_message({srv(0, 1, 80, caches)}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->targets, (Targets{{0, 1, 80, "gate1.caches.example"}}));
    for (auto const& loop : {std::string("\xc0\x40", 2), std::string("\xc0\xff", 2), std::string("\xff\xff", 2)})
        EXPECT_FALSE(parse_srv_answer(srv_message({srv(0, 1, 80, loop)}))) << "a pointer to itself or ahead";
}

TEST(SrvAnswer, may_be_about_the_name_of_which_the_service_is_an_alias) {
    auto const other = srv_wire_name("other.example"), gate = srv_wire_name("gate1.example");
    auto const alias = srv_record(question_name, 5, 5, other);
    auto const answer = parse_srv_answer(srv_message({alias, srv(0, 1, 80, gate, 60, other)}));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->targets.size(), 1u);
    EXPECT_EQ(answer->ttl, seconds{5});
    EXPECT_FALSE(parse_srv_answer(srv_message({alias}))) << "no SRV record";
    EXPECT_FALSE(parse_srv_answer(srv_message({srv(0, 1, 80, gate, 60, other)}))) << "another service";
}

TEST(SrvAnswer, drops_hosts_that_are_no_names) {
    std::vector<std::string> records{srv(0, 1, 80, srv_wire_name("a b.example")), srv(0, 1, 80, srv_wire_name("a/b")),
                                     srv(0, 1, 0, srv_wire_name("gate1.example"))};
    EXPECT_FALSE(parse_srv_answer(srv_message(records))) << "an error, and not a service without servers";
    records.push_back(srv(0, 1, 80, srv_wire_name("gate2.example")));
    auto const answer = parse_srv_answer(srv_message(records));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->targets, (Targets{{0, 1, 80, "gate2.example"}}));
}

TEST(SrvAnswer, that_is_cut_anywhere_is_refused) {
    auto const whole = srv_message({srv(0, 1, 80, srv_wire_name("gate1.example")), srv(0, 1, 80, srv_wire_name("gate2.example"))});
    for (std::size_t size = 0; size < whole.size(); ++size) EXPECT_FALSE(parse_srv_answer(whole.substr(0, size))) << size;
    auto longer = srv(0, 1, 80, srv_wire_name("gate1.example") + "x");
    EXPECT_FALSE(parse_srv_answer(srv_message({longer}))) << "bytes behind the name";
}

TEST(SrvAnswer, has_a_greatest_number_of_targets) {
    std::vector<std::string> records;
    for (unsigned i = 0; i < 200; ++i) records.push_back(srv(200 - i, 1, 80, srv_wire_name("g" + std::to_string(i))));
    auto const answer = parse_srv_answer(srv_message(records));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->targets.size(), srv_targets_max);
    EXPECT_EQ(answer->targets.front().priority, 1) << "those to be used first";
}

}   // namespace
}   // namespace garner::net
