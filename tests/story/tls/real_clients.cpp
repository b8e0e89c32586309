// Real clients speak TLS to the proxy: curl, Chromium, openssl s_client.
#include <signal.h>

#include <fstream>
#include <sstream>

#include "story/tls/secure_listener.hpp"

namespace garner::test {

namespace {

std::string place_of(Proxy const& proxy) { return "localhost:" + std::to_string(proxy.secure()); }

/// curl -x https://…; the body.
std::string curl(Proxy const& proxy, CertificateFiles const& files, std::vector<std::string> const& arguments) {
    std::vector<std::string> command{"curl",           "-sS",        "--max-time", "60", "-x", "https://" + place_of(proxy),
                                     "--proxy-cacert", files.chain()};
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto const finished = run(command, 70s);
    EXPECT_EQ(finished.code, 0) << finished.errors;
    return finished.output;
}

std::string s_client(std::string const& place, std::vector<std::string> const& arguments) {
    std::vector<std::string> command{"openssl", "s_client", "-connect", place, "-ign_eof"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run({"sh", "-c",
                [&] {
                    std::string line = "printf 'GET / HTTP/1.0\\r\\n\\r\\n' |";
                    for (auto const& word : command) line += " '" + word + "'";
                    return line + " 2>&1";
                }()},
               60s)
        .output;
}

}   // namespace

TEST(RealTlsClients, curl_gets_http_and_https_pages_through_an_HTTPS_proxy) {
    NEEDS("curl");
    NEEDS("nginx");
    CertificateFiles files;
    Nginx origin;
    auto const film = pattern(3'000'000);
    origin.file("film", film);
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    EXPECT_TRUE(curl(proxy, files, {origin.url("/film")}) == film);
    EXPECT_TRUE(curl(proxy, files, {origin.url("/film")}) == film);
    EXPECT_EQ(origin.requests("/film", 1u), 1u);
    EXPECT_TRUE(curl(proxy, files, {"--cacert", origin.certificate_file(), origin.secure_url("/film")}) == film);
    EXPECT_EQ(proxy.logged(origin.secure_url("").substr(8)).method, "CONNECT");
}

TEST(RealTlsClients, sslscan_finds_nothing_weak) {
    NEEDS("sslscan");
    CertificateFiles files;
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto const scan = run({"sslscan", "--no-colour", place_of(proxy)}, 60s).output;
    for (std::string const old : {"SSLv2     ", "SSLv3     ", "TLSv1.0   ", "TLSv1.1   "})
        EXPECT_THAT(scan, HasSubstr(old + "disabled"));
    EXPECT_THAT(scan, HasSubstr("Session renegotiation not supported"));
    EXPECT_THAT(scan, HasSubstr("TLSv1.2 not vulnerable to heartbleed"));
    std::istringstream lines(scan);
    for (std::string line; std::getline(lines, line);)
        if (line.starts_with("Accepted") || line.starts_with("Preferred"))
            EXPECT_THAT(line, testing::ContainsRegex("TLS_(AES|CHACHA20)|ECDHE-ECDSA-(AES...-GCM|CHACHA20)"));
}

TEST(RealTlsClients, a_session_is_resumed_on_every_worker_and_after_a_reload) {
    NEEDS("openssl");
    CertificateFiles files;
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto const session = files.dir.path("session").string();
    for (std::string const version : {"-tls1_2", "-tls1_3"}) {
        EXPECT_THAT(s_client(place_of(proxy), {version, "-sess_out", session}), HasSubstr("New, TLSv1"));
        for (int connection = 0; connection < 8; ++connection)
            EXPECT_THAT(s_client(place_of(proxy), {version, "-sess_in", session}), HasSubstr("Reused, TLSv1"));
        proxy.signal(SIGHUP);
        ASSERT_TRUE(eventually([&] { return proxy.errors().find("configuration reloaded") != std::string::npos; }));
        EXPECT_THAT(s_client(place_of(proxy), {version, "-sess_in", session}), HasSubstr("Reused, TLSv1"));
    }
}

TEST(RealTlsClients, old_versions_and_weak_ciphers_are_refused) {
    NEEDS("openssl");
    CertificateFiles files;
    Proxy proxy(Proxy::Setup{.tls = files.tls(R"(, "min_version": "1.3")")});
    EXPECT_THAT(s_client(place_of(proxy), {"-tls1_2"}), HasSubstr("alert protocol version"));
    Proxy older(Proxy::Setup{.tls = files.tls()});
    EXPECT_THAT(s_client(place_of(older), {"-tls1_2"}), HasSubstr("ECDHE"));
    for (std::string const cipher : {"AES128-SHA", "ECDHE-ECDSA-AES128-SHA", "AES128-GCM-SHA256"})
        EXPECT_THAT(s_client(place_of(older), {"-tls1_2", "-cipher", cipher}), HasSubstr("handshake failure")) << cipher;
    EXPECT_THAT(s_client(place_of(older), {"-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0"}), HasSubstr("alert protocol version"));
    EXPECT_THAT(s_client(place_of(older), {"-alpn", "spdy/3"}), HasSubstr("no application protocol"));
    EXPECT_THAT(s_client(place_of(older), {"-alpn", "http/1.1"}), HasSubstr("ALPN protocol: http/1.1"));
    EXPECT_THAT(s_client(place_of(older), {"-verify_return_error"}), HasSubstr("verify error"));
    auto const handshakes = older.stats()["tls"]["handshakes"];
    using Count = std::pair<std::string, int>;
    for (auto const& [result, count] :
         std::vector<Count>{{"ok", 2}, {"cipher", 3}, {"version", 1}, {"protocol", 1}, {"refused_by_client", 1}})
        EXPECT_EQ(handshakes[result], count) << result << " in " << handshakes;
}

TEST(RealTlsClients, a_browser_loads_a_page_through_an_HTTPS_proxy) {
    NEEDS("chromium");
    CertificateFiles files("localhost");
    Origin origin;
    origin.answer("/page", {.fields = {{"Content-Type", "text/html"}, {"Cache-Control", "max-age=600"}},
                            .body = "<!DOCTYPE html><link rel=icon href=data:,><p id=result></p>"
                                    "<script>result.textContent = location.protocol + ' works'</script>"});
    Proxy proxy(Proxy::Setup{.tls = files.tls()});
    auto const flag = "--ignore-certificate-errors-spki-list=" + files.certificate.spki_hash();
    for (int visit = 0; visit < 2; ++visit)
        EXPECT_THAT(browse(origin.url("/page"), "https://" + place_of(proxy), {flag}), HasSubstr("http: works"));
    EXPECT_EQ(origin.requests("/page"), 1u);
}

}   // namespace garner::test
