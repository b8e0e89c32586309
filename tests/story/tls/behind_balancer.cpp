// A TLS listener behind a load balancer: the PROXY header comes before the handshake.
#include "story/tls/secure_listener.hpp"

namespace garner::test {

TEST(TlsBehindBalancer, the_header_comes_before_the_handshake) {
    CertificateFiles files;
    Origin origin;
    origin.answer("/page", fresh("page"));
    auto const port = free_port();
    Proxy proxy(Proxy::Setup{.patch = R"({"listen": [{"address": "127.0.0.1:)" + std::to_string(port) +
                                      R"(", "proxy_protocol": ["127.0.0.0/8"], "tls": )" + files.tls() + R"(}],
        "access": [{"allow": {"source": ["192.0.2.7"], "destination": ["127.0.0.0/8"], "port": ["1-65535"]}}, {"deny": "all"}]})",
                             .port = port});
    auto wire = Wire::connect("127.0.0.1", port);
    wire.send("PROXY TCP4 192.0.2.7 198.51.100.1 40000 443\r\n");
    wire.start_tls_client("localhost");
    wire.send("GET " + origin.url("/page") + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    EXPECT_THAT(wire.take_all(), EndsWith("page"));
    EXPECT_EQ(proxy.logged("/page").all["client"], "192.0.2.7");
    auto bare = Wire::connect("127.0.0.1", port);
    EXPECT_THROW(bare.start_tls_client("localhost"), Trouble);
}

}   // namespace garner::test
