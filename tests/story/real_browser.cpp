// A real browser loads a page through Garner; its second visit is served from memory.
#include <algorithm>

#include "story/scene.hpp"
#include "support/credentials.hpp"
#include "support/devtools.hpp"
#include "support/programs.hpp"
#include "support/websocket.hpp"

namespace garner::test {

namespace {

constexpr int parts = 100;

/// A page whose scripts and images report that they were loaded.
void write_page(Nginx& origin) {
    std::string page = "<!DOCTYPE html><title>parts</title><link rel=icon href=data:,><body>\n<script>var came = 0;</script>\n";
    for (int i = 0; i < parts / 2; ++i) {
        auto const name = "part/" + std::to_string(i);
        origin.file(name + ".js", "came++; // " + pattern(2000, i));
        origin.file(name + ".svg",
                    "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><!-- " + pattern(3000, i) + " --></svg>");
        page += "<script src='/" + name + ".js'></script><img onload='came++' src='/" + name + ".svg'>\n";
    }
    page += "<p id=result></p><script>onload = () => result.textContent = 'came: ' + came;</script>\n";
    origin.file("page.html", page);
}

/// A page that uses a WebSocket and finishes loading after its answer.
void script_chat(Origin& origin) {
    origin.answer("/page", no_store("<!DOCTYPE html><link rel=icon href=data:,><body><p id=result>silence</p><script>\n"
                                    "var socket = new WebSocket('ws://' + location.host + '/chat');\n"
                                    "socket.onopen = () => socket.send('hello');\n"
                                    "socket.onmessage = (m) => { result.textContent = 'heard: ' + m.data;\n"
                                    "  fetch('/heard'); };\n"
                                    "</script><img src=/gate>"));
    origin.by_hand("/chat", websocket_echo);
    origin.answer("/heard", no_store("good"));
    origin.by_hand("/gate", [&origin](Hand& hand) {
        eventually([&] { return origin.requests("/heard") > 0; });
        hand.answer(no_store(""));
    });
}

}   // namespace

TEST(RealBrowser, the_second_visit_to_a_page_of_a_hundred_parts_asks_the_origin_for_nothing) {
    NEEDS("chromium");
    NEEDS("nginx");
    Nginx origin;
    write_page(origin);
    Proxy proxy;
    auto const came = "came: " + std::to_string(parts);
    EXPECT_THAT(browse(origin.url("/page.html"), proxy.url()), HasSubstr(came));
    EXPECT_EQ(origin.requests("/page.html", 1u), 1u);
    EXPECT_EQ(origin.requests("/part/", std::size_t{parts}), std::size_t{parts});
    EXPECT_THAT(browse(origin.url("/page.html"), proxy.url()), HasSubstr(came));
    EXPECT_EQ(origin.requests("/page.html", 1u), 1u);
    EXPECT_EQ(origin.requests("/part/", std::size_t{parts}), std::size_t{parts});
}

TEST(RealBrowser, an_HTTPS_page_comes_through_CONNECT) {
    NEEDS("chromium");
    Certificate certificate;
    Origin origin({.certificate = &certificate});
    origin.answer("/page", {.fields = {{"Content-Type", "text/html"}},
                            .body = "<!DOCTYPE html><link rel=icon href=data:,><p id=result></p>"
                                    "<script>result.textContent = location.protocol + ' works'</script>"});
    Proxy proxy;
    auto const page =
        browse(origin.url("/page"), proxy.url(), {"--ignore-certificate-errors-spki-list=" + certificate.spki_hash()});
    EXPECT_THAT(page, HasSubstr("https: works"));
    EXPECT_EQ(origin.requests("/page"), 1u);
    EXPECT_EQ(proxy.logged(origin.authority()).method, "CONNECT");
}

TEST(RealBrowser, a_WebSocket_speaks_through_the_proxy) {
    NEEDS("chromium");
    Origin origin;
    script_chat(origin);
    Proxy proxy;
    EXPECT_THAT(browse(origin.url("/page"), proxy.url()), HasSubstr("heard: hello"));
    EXPECT_EQ(origin.requests("/chat"), 1u);
}

TEST(RealBrowser, a_WebSocket_speaks_through_an_accelerator) {
    NEEDS("chromium");
    Origin origin;
    script_chat(origin);
    Proxy proxy(Proxy::Setup{.accelerates = origin.url()});
    auto const url = "http://127.0.0.1:" + std::to_string(proxy.accelerator()) + "/page";
    EXPECT_THAT(browse(url, ""), HasSubstr("heard: hello"));
    EXPECT_EQ(origin.requests("/chat"), 1u);
}

TEST(RealBrowser, a_user_logs_in_for_http_and_https_pages) {
    NEEDS("chromium");
    Certificate certificate;
    Origin origin, secure({.certificate = &certificate});
    for (auto* one : {&origin, &secure})
        one->answer("/page", {.fields = {{"Content-Type", "text/html"}},
                              .body = "<!DOCTYPE html><link rel=icon href=data:,><p id=result></p>"
                                      "<script>result.textContent = location.protocol + ' works'</script>"});
    TempDir dir;
    nlohmann::json const patch{
        {"log", {{"format", "json"}}},
        {"auth", {{"realm", "Uni"}, {"sources", {{{"type", "htpasswd"}, {"file", dir.write("users", alice)}}}}}},
        {"access", {{{"allow", {{"user", "*"}, {"destination", "127.0.0.0/8"}, {"port", "1-65535"}}}}, {{"deny", "all"}}}}};
    Proxy proxy(patch.dump());
    std::vector<std::string> const trusts{"--ignore-certificate-errors-spki-list=" + certificate.spki_hash()};
    {
        DevTools browser(proxy.url(), trusts);
        browser.log_in_as("alice", "guess");
        EXPECT_THAT(browser.open(origin.url("/page")), HasSubstr("This proxy requires a login"));
        EXPECT_EQ(origin.requests("/page"), 0u);
        browser.log_in_as("alice", "wonder");
        EXPECT_EQ(browser.open(origin.url("/page")), "http: works");
        EXPECT_EQ(browser.open(secure.url("/page")), "https: works");
        ASSERT_FALSE(browser.challenges().empty());
        EXPECT_EQ(browser.challenges().back().source, "Proxy");
        EXPECT_EQ(browser.challenges().back().realm, "Uni");
    }
    {
        DevTools browser(proxy.url(), trusts);   // its first request is a CONNECT
        browser.log_in_as("alice", "wonder");
        EXPECT_EQ(browser.open(secure.url("/page")), "https: works");
    }
    auto const is_alices = [](Logged const& line) { return line.method == "CONNECT" && line.all["user"] == "alice"; };
    EXPECT_TRUE(eventually([&] { return std::ranges::count_if(proxy.log(), is_alices) >= 2; }));
}

TEST(RealBrowser, an_error_page_is_a_page) {
    NEEDS("chromium");
    Proxy proxy(R"({"access": [{"deny": {"host": [".example"]}}]})");
    auto const page = browse("http://www.example/", proxy.url());
    EXPECT_THAT(page, HasSubstr("403 Forbidden"));
    EXPECT_THAT(page, HasSubstr("<h1>This request is not allowed</h1>"));
    EXPECT_THAT(page, HasSubstr("access[0]"));
}

}   // namespace garner::test
