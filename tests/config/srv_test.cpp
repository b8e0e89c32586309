// Peers that DNS names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace garner::config {
namespace {

using testing::HasSubstr;

Loaded load_service(std::string const& members) { return load("{\n\"peers\": [{\"name\": \"caches\"" + members + "}]}"); }

TEST(Srv, is_read_in_place_of_a_host) {
    auto const loaded = load_service(R"(, "srv": "_http._tcp.caches.example", "no_query": true)");
    EXPECT_EQ(told(loaded), "");
    EXPECT_EQ(loaded.config.mesh.peers.at(0).srv, "_http._tcp.caches.example");
}

TEST(Srv, is_not_beside_what_DNS_says) {
    EXPECT_EQ(told(load_service(R"(, "host": "a.example", "srv": "_http._tcp.caches.example")")),
              "test.json:2: peers[0].srv: stands beside host \"a.example\" (remove one of them: DNS names the hosts of srv)\n");
    EXPECT_EQ(told(load_service(R"(, "http_port": 80, "srv": "_http._tcp.caches.example")")),
              "test.json:2: peers[0].http_port: stands beside srv, whose records have the ports (remove it)\n");
    EXPECT_EQ(told(load_service(R"(, "host": "a.example", "srv_local": true)")),
              "test.json:2: peers[0].srv_local: stands without srv (remove it)\n");
    EXPECT_EQ(told(load_service("")), "test.json:2: peers[0]: has neither host nor srv (add \"host\": \"cache.example\")\n");
}

TEST(Srv, is_the_name_of_a_service) {
    for (auto const* bad : {"caches.example", "_http.caches.example", "_http._tcp", "._tcp.example", "_http._tcp..example", ""})
        EXPECT_THAT(told(load_service(R"(, "srv": ")" + std::string(bad) + "\"")), HasSubstr("peers[0].srv: ")) << bad;
}

}   // namespace
}   // namespace garner::config
