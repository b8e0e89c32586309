// The keys of `pac`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "proxy/pac.hpp"
#include "support.hpp"

namespace garner::config {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

std::string fault_of_pac(std::string const& pac) { return told(load("{\n\"pac\": " + pac + "}")); }

TEST(PacKeys, all_are_read) {
    auto const loaded = load(R"({"pac": {"proxies": ["https://Gate1.example:3129", "http://[2001:DB8::1]:3128", "http://g/"],
        "direct": [".campus.example", "10.0.0.0/8", "192.0.2.1"], "last": "direct", "spread": true, "max_age": "1m", "wpad": true},
        "deadlines": {"leave": "10m"}})");
    EXPECT_EQ(told(loaded), "");
    auto const& pac = loaded.config.proxy.pac;
    std::vector<proxy::PacProxy> const proxies{{true, "gate1.example", 3129}, {false, "2001:db8::1", 3128}, {false, "g", 80}};
    EXPECT_EQ(pac.proxies, proxies);
    ASSERT_EQ(pac.direct.size(), 3u);
    EXPECT_EQ(pac.direct[0].host, ".campus.example");
    EXPECT_EQ(pac.direct[1].network->text(), "10.0.0.0/8");
    EXPECT_EQ(pac.direct[2].network->text(), "192.0.2.1");
    EXPECT_TRUE(pac.last_direct && pac.spread && pac.wpad);
    EXPECT_EQ(pac.max_age, seconds{60});
    EXPECT_EQ(loaded.config.proxy.deadlines.leave, seconds{600});
}

TEST(PacKeys, a_proxy_is_an_origin) {
    EXPECT_EQ(fault_of_pac(R"({"proxies": ["https://gate.example:3129/path"]})"),
              "test.json:2: pac.proxies[0]: \"https://gate.example:3129/path\" has a path (write it like "
              "\"https://gate1.example:3129\" or \"http://10.0.0.1:3128\", without a path)\n");
    for (auto const* bad : {"gate.example:3128", "socks5://gate.example:1080", "http://user@gate.example", "http://a;b:80"})
        EXPECT_THAT(fault_of_pac(R"({"proxies": [")" + std::string(bad) + R"("]})"), StartsWith("test.json:2: pac.proxies[0]: "))
            << bad;
}

TEST(PacKeys, what_is_direct_is_a_host_or_a_network) {
    EXPECT_THAT(fault_of_pac(R"({"direct": ["10.0.0.1/8"]})"),
                HasSubstr("pac.direct[0]: \"10.0.0.1/8\" has bits set after its prefix"));
    EXPECT_THAT(fault_of_pac(R"({"direct": ["http://a"]})"), HasSubstr("pac.direct[0]: "));
    for (auto const* bad : {"<b>", "a\u2028b", "a'b", "a;b", "$a"})
        EXPECT_THAT(fault_of_pac(R"({"direct": [".campus.example", ")" + std::string(bad) + R"("]})"),
                    AllOf(StartsWith("test.json:2: pac.direct[1]: "), HasSubstr("is not a host: ")))
            << bad;
    EXPECT_THAT(fault_of_pac(R"({"last": "first"})"), HasSubstr("pac.last: "));
    auto const international = load(R"({"pac": {"direct": [".münchen.example"]}})");
    EXPECT_EQ(told(international), "");
    EXPECT_EQ(international.config.proxy.pac.direct[0].host, ".xn--mnchen-3ya.example") << "as browsers compare it";
}

TEST(PacKeys, the_file_has_a_greatest_size) {
    std::string many;
    for (int i = 0; i < 300; ++i) many += (i ? ", \"host" : "\"host") + std::to_string(i) + ".campus.example\"";
    EXPECT_THAT(fault_of_pac(R"({"direct": [)" + many + "]}"), HasSubstr("pac.direct: makes a PAC file of "));
    EXPECT_THAT(fault_of_pac(R"({"direct": [)" + many + "]}"), HasSubstr("more than 8 KiB (name domains and wider networks"));
}

}   // namespace
}   // namespace garner::config
