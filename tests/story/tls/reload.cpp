// SIGHUP: new certificates and changed `tls` parts without cutting a connection.
#include <signal.h>

#include "story/tls/secure_listener.hpp"
#include "support/issued_certificate.hpp"

namespace garner::test {

namespace {

struct TlsReload : ::testing::Test {
    /// Sends SIGHUP, and waits for this text in the log.
    void reload(Proxy& proxy, std::string const& text) {
        auto const before = count(proxy, text);
        proxy.signal(SIGHUP);
        ASSERT_TRUE(eventually([&] { return count(proxy, text) > before; })) << proxy.errors();
    }
    std::size_t count(Proxy const& proxy, std::string const& text) {
        auto const errors = proxy.errors();
        std::size_t found = 0;
        for (auto at = errors.find(text); at != errors.npos; at = errors.find(text, at + 1)) ++found;
        return found;
    }
    std::string shown(Proxy const& proxy) { return secure_client(proxy).wire().peer_certificate(); }

    CertificateFiles files;
    Origin origin;
};

}   // namespace

TEST_F(TlsReload, a_new_certificate_in_the_same_files_serves_later_connections) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto early = secure_client(proxy);
    EXPECT_EQ(early.get(origin.url("/page")).body(), "hello");
    Certificate renewed("proxy.test");
    files.write(renewed);
    reload(proxy, "configuration reloaded: no key changed; 1 new certificate");
    auto const place = "127.0.0.1:" + std::to_string(proxy.secure());
    EXPECT_TRUE(proxy.says("new certificate: CN = proxy.test (" + place + "), valid until ")) << proxy.errors();
    EXPECT_TRUE(eventually([&] { return shown(proxy) == renewed.pem(); }));
    reload(proxy, "configuration reloaded: nothing changed");
    EXPECT_TRUE(early.get(origin.url("/page")).hit());
    EXPECT_EQ(early.connections(), 1);
}

TEST_F(TlsReload, a_key_of_another_certificate_changes_nothing) {
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    files.dir.write("key.pem", Certificate("proxy.test").key_pem());
    reload(proxy, "listen[1].tls.certificates[0].key: " + files.key());
    EXPECT_TRUE(proxy.says("configuration not reloaded")) << proxy.errors();
    EXPECT_EQ(shown(proxy), files.certificate.pem());
}

TEST_F(TlsReload, another_authority_of_origins_in_the_same_file_is_taken_and_named) {
    IssuedCertificate const trust({.common_name = "Origins", .is_ca = true});
    IssuedCertificate const issued({.names = "IP:127.0.0.1"}, &trust);
    Certificate const of_origin(issued.pem(), issued.key_pem());
    Origin secure({.certificate = &of_origin});
    secure.answer("/page", no_store("hello"));
    auto const trusted = files.dir.write("trusted.pem", files.certificate.pem());
    Proxy proxy(Proxy::Setup{.patch = R"({"tls": {"ca_file": ")" + trusted + "\"}}", .tls = files.tls()});
    EXPECT_EQ(get(proxy, secure, "/page").status(), 502);
    files.dir.write("trusted.pem", trust.pem());
    reload(proxy, "configuration reloaded: no key changed; 1 new certificate; 1 removed certificate");
    EXPECT_TRUE(proxy.says("new certificate: CN = Origins (tls.ca_file), valid until ")) << proxy.errors();
    EXPECT_TRUE(eventually([&] { return get(proxy, secure, "/page").body() == "hello"; }));
}

TEST_F(TlsReload, client_certificates_can_be_required_later) {
    origin.answer("/page", fresh("hello"));
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto early = secure_client(proxy);
    EXPECT_EQ(early.get(origin.url("/page")).body(), "hello");
    auto configuration = proxy.configuration();
    configuration["listen"][1]["tls"]["client_ca"] = files.chain();
    proxy.rewrite(configuration.dump());
    reload(proxy, "configuration reloaded");
    EXPECT_TRUE(eventually([&] {
        try {
            return secure_client(proxy).get(origin.url("/page")).status() == 0;
        } catch (Trouble const&) {
            return true;
        }
    }));
    EXPECT_TRUE(early.get(origin.url("/page")).hit());
}

}   // namespace garner::test
