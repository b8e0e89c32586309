// Certificates of clients: required, optional, in rules and in the log.
#include "story/tls/secure_listener.hpp"

namespace garner::test {

namespace {

/// A client's certificate is its own authority here.
struct ClientCertificates : ::testing::Test {
    Finished curl(Proxy const& proxy, CertificateFiles const* client, std::string const& url) {
        std::vector<std::string> command{"curl",
                                         "-sS",
                                         "--max-time",
                                         "30",
                                         "-w",
                                         "%{http_code}",
                                         "-x",
                                         "https://localhost:" + std::to_string(proxy.secure()),
                                         "--proxy-cacert",
                                         files.chain()};
        if (client) command.insert(command.end(), {"--proxy-cert", client->chain(), "--proxy-key", client->key()});
        command.push_back(url);
        return run(command, 40s);
    }

    CertificateFiles files, alice{"alice.example.org"}, mallory{"mallory.example.net"};
    Origin origin;
    std::string const required = files.tls(R"(, "client_ca": ")" + alice.chain() + "\"");
    std::string const optional = files.tls(R"(, "client_required": false, "client_ca": ")" + alice.chain() + "\"");
};

}   // namespace

TEST_F(ClientCertificates, required_ones_are_checked_and_named_in_the_log) {
    NEEDS("curl");
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{.tls = required});
    EXPECT_EQ(curl(proxy, &alice, origin.url("/page")).output, "hello200");
    EXPECT_THAT(proxy.logged("/page").all.value("user", ""), HasSubstr("alice.example.org"));
    EXPECT_NE(curl(proxy, nullptr, origin.url("/page")).code, 0);
    EXPECT_NE(curl(proxy, &mallory, origin.url("/page")).code, 0);
    EXPECT_THAT(proxy.metrics(), HasSubstr(R"(garner_tls_handshakes_total{result="client_certificate"} 2)"));
}

TEST_F(ClientCertificates, optional_ones_decide_by_rules) {
    NEEDS("curl");
    origin.answer("/page", fresh("hello"));
    auto const rules =
        R"({"access": [{"allow": {"certificate": [".example.org"], "destination": ["127.0.0.0/8"], "port": ["1-65535"]}},
                                      {"deny": "all"}]})";
    Proxy proxy(Proxy::Setup{.patch = rules, .tls = optional});
    EXPECT_EQ(curl(proxy, &alice, origin.url("/page")).output, "hello200");
    EXPECT_THAT(curl(proxy, nullptr, origin.url("/page")).output, EndsWith("403"));
    EXPECT_NE(curl(proxy, &mallory, origin.url("/page")).code, 0);
}

}   // namespace garner::test
