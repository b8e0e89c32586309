// CONNECT through parents: a loop or a refusal cannot be detected from a response of the origin.
#include "story/scene.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

/// A configuration that sends everything through the parent at that port.
std::string only_through(std::uint16_t parent) {
    return R"({"access": [{"allow": {"destination": ["127.0.0.0/8", "::1"], "port": ["1-65535"]}}],
               "direct": {"never": [{}]},
               "peers": [{"name": "other", "host": "127.0.0.1", "http_port": )" +
           std::to_string(parent) + R"(, "icp_port": 0}]})";
}

}   // namespace

TEST(MeshTunnels, two_parents_of_each_other_end_a_circle_of_CONNECTs) {
    auto const here = free_port(), there = free_port();
    Proxy one(Proxy::Setup{.patch = only_through(there), .port = here});
    Proxy other(Proxy::Setup{.patch = only_through(here), .port = there});
    Client client(one);
    EXPECT_EQ(client.connect_to("localhost:443").status(), 502);
}

TEST(MeshTunnels, one_that_the_parent_refuses_is_opened_past_it) {
    Origin origin;
    origin.answer("/page", no_store("page"));
    Proxy parent(R"({"access": [{"deny": "all"}]})");
    Proxy proxy(R"({"access": [{"allow": {"destination": ["127.0.0.0/8", "::1"], "port": ["1-65535"]}}],
                    "peers": [{"name": "strict", "host": "127.0.0.1", "icp_port": 0, "domains": ["localhost"], "http_port": )" +
                std::to_string(parent.port()) + "}]}");
    Client client(proxy);
    ASSERT_EQ(client.connect_to("localhost:" + std::to_string(origin.port())).status(), 200);
    EXPECT_EQ(client.get("/page").body(), "page");
}

}   // namespace garner::test
