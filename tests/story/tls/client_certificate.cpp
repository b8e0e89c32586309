// Certificates of clients: required, optional, in rules and in the log.
#include <signal.h>

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

TEST_F(ClientCertificates, log_in_the_user_whose_name_they_have) {
    NEEDS("curl");
    origin.answer("/page", fresh("hello"));
    auto const users =
        R"({"auth": {"sources": [{"type": "certificate"}]},
            "access": [{"allow": {"user": ["alice.example.org"], "destination": ["127.0.0.0/8"], "port": ["1-65535"]}}]})";
    Proxy proxy(Proxy::Setup{.patch = users, .tls = optional});
    EXPECT_EQ(curl(proxy, &alice, origin.url("/page")).output, "hello200");
    EXPECT_EQ(proxy.logged("/page").all.value("user", ""), "alice.example.org");
    EXPECT_FALSE(curl(proxy, nullptr, origin.url("/page")).output.ends_with("200"));
    EXPECT_EQ(origin.requests("/page"), 1u);
}

TEST_F(ClientCertificates, a_reload_takes_other_authorities_from_the_same_file) {
    NEEDS("curl");
    NEEDS("openssl");
    origin.answer("/page", fresh("hello"));
    auto const authorities = files.dir.write("clients.pem", alice.certificate.pem());
    Proxy proxy(Proxy::Setup{.tls = files.tls(R"(, "client_ca": ")" + authorities + "\"")});
    auto const session = files.dir.path("session").string();
    auto const with_ticket = [&](std::string const& options) {
        return run({"sh", "-c",
                    "printf 'GET " + origin.url("/page") +
                        " HTTP/1.0\\r\\n\\r\\n' | openssl s_client -ign_eof -connect 127.0.0.1:" + std::to_string(proxy.secure()) +
                        " " + options + " " + session + " 2>&1"},
                   30s)
            .output;
    };
    EXPECT_EQ(curl(proxy, &alice, origin.url("/page")).output, "hello200");
    EXPECT_NE(curl(proxy, &mallory, origin.url("/page")).code, 0);
    EXPECT_THAT(with_ticket("-cert " + alice.chain() + " -key " + alice.key() + " -sess_out"), HasSubstr("hello"));
    EXPECT_THAT(with_ticket("-sess_in"), HasSubstr("hello")) << "the ticket replaces the certificate";

    files.dir.write("clients.pem", mallory.certificate.pem());
    proxy.signal(SIGHUP);
    ASSERT_TRUE(eventually([&] { return proxy.says("configuration reloaded: "); })) << proxy.errors();
    EXPECT_TRUE(proxy.says("no key changed; 1 new certificate; 1 removed certificate")) << proxy.errors();
    auto const place = " (client_ca of 127.0.0.1:" + std::to_string(proxy.secure()) + "), valid until ";
    EXPECT_TRUE(proxy.says("new certificate: CN = mallory.example.net" + place)) << proxy.errors();
    EXPECT_TRUE(proxy.says("removed certificate: CN = alice.example.org" + place)) << proxy.errors();
    EXPECT_TRUE(eventually([&] { return curl(proxy, &mallory, origin.url("/page")).output == "hello200"; }));
    EXPECT_NE(curl(proxy, &alice, origin.url("/page")).code, 0);
    EXPECT_THAT(with_ticket("-sess_in"), Not(HasSubstr("hello"))) << "it was made for the former authority";
}

}   // namespace garner::test
