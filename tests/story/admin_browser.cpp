// The admin address in a real browser: the login form, its session, and what pages of other sites can do beside it.
#include "story/scene.hpp"
#include "support/devtools.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using ::testing::Each;

/// A proxy with one operator, and a browser in which another site has a name of its own.
struct Desk {
    Desk() {
        auto const made = run({garner_binary(), "token", "desk", "--role", "operator"});
        auto const end = made.output.find('\n');
        token = made.output.substr(0, end);
        proxy = std::make_unique<Proxy>(R"({"admin": {"tokens": [)" + made.output.substr(end) + "]}}");
        base = "http://127.0.0.1:" + std::to_string(proxy->admin());
        browser =
            std::make_unique<DevTools>("direct://", std::vector<std::string>{"--host-resolver-rules=MAP evil.example 127.0.0.1"});
    }
    std::string text() { return browser->evaluate("document.body?.innerText ?? ''").get<std::string>(); }
    bool shows(std::string const& part) {
        return eventually([&] { return text().find(part) != std::string::npos; });
    }
    void log_in() {
        browser->open(base + "/");
        browser->evaluate("document.querySelector('#token').focus()");
        browser->type(token);
        browser->press("Enter");
        EXPECT_TRUE(shows("Log in or out")) << text();   // the page
    }

    std::string token, base;
    std::unique_ptr<Proxy> proxy;
    std::unique_ptr<DevTools> browser;
};

}   // namespace

TEST(AdminBrowser, logs_in_by_the_form_and_out_again) {
    NEEDS("chromium");
    Desk desk;
    EXPECT_THAT(desk.browser->open(desk.base + "/?url=http%3A%2F%2Fa.example%2F"), HasSubstr("Log in to Garner"));
    desk.log_in();
    EXPECT_EQ(desk.browser->evaluate("document.cookie"), "");   // scripts do not get it
    EXPECT_THAT(desk.browser->open(desk.base + "/login"), HasSubstr("You are desk (operator)."));
    desk.browser->evaluate("document.querySelector('#url').focus()");
    desk.browser->type("http://a.example/");
    desk.browser->press("Enter");
    EXPECT_TRUE(desk.shows("{\"purged\":false}")) << desk.text();
    desk.browser->open(desk.base + "/login");
    desk.browser->evaluate("document.querySelector('form[action=\"/logout\"] button').click()");
    EXPECT_TRUE(desk.shows("Log in to Garner")) << desk.text();
    EXPECT_THAT(desk.browser->open(desk.base + "/"), HasSubstr("Log in to Garner"));
    EXPECT_THAT(desk.browser->console(), Each(HasSubstr("a status of 401")));   // the form
}

TEST(AdminBrowser, pages_of_other_sites_read_and_change_nothing) {
    NEEDS("chromium");
    Desk desk;
    desk.log_in();
    Origin evil;
    auto const page = [&](std::string const& html) {
        return Answer{.status = 200, .fields = {{"Content-Type", "text/html"}}, .body = "<!DOCTYPE html><body>" + html};
    };
    auto const field = [](std::string const& name, std::string const& value) {
        return "<input name=" + name + " value='" + value + "'>";
    };
    evil.answer("/page", page("a page"));
    evil.answer("/purge",
                page("<form method=post action='" + desk.base + "/purge'>" + field("url", "http://a.example/") + "</form>"));
    evil.answer("/login", page("<form method=post action='" + desk.base + "/login'>" + field("token", desk.token) + "</form>"));
    evil.answer("/frame", page("<iframe src='" + desk.base + "/'></iframe>"));
    auto const site = "http://evil.example:" + std::to_string(evil.port());

    EXPECT_THAT(desk.browser->open(site + "/page"), HasSubstr("a page"));
    for (auto const* options :
         {"{credentials: 'include'}", "{method: 'POST', credentials: 'include'}",
          "{method: 'POST', headers: {'Garner-Admin': '1'}, credentials: 'include', body: 'url=http://a.example/'}"})
        EXPECT_EQ(
            desk.browser->evaluate("fetch('" + desk.base + "/purge', " + options + ").then(r => r.text()).catch(() => 'refused')"),
            "refused")
            << options;
    for (auto const* form : {"/purge", "/login"}) {
        desk.browser->open(site + form);
        desk.browser->evaluate("document.forms[0].submit()");
        auto const refused = std::string(form) == "/purge" ? "A token is needed" : "A page of another site sent this request";
        EXPECT_TRUE(desk.shows(refused)) << desk.text();   // the purge comes without the cookie of the session
    }
    desk.browser->open(site + "/frame");
    EXPECT_EQ(desk.browser->evaluate("document.querySelector('iframe').contentDocument"), nullptr);
    EXPECT_TRUE(eventually([&] { return !desk.browser->console().empty(); }));   // the browser reports frame-ancestors
    EXPECT_THAT(desk.proxy->errors(), Not(HasSubstr("POST /purge")));

    // Its name points here: the page would be of the same origin.
    EXPECT_THAT(desk.browser->open("http://evil.example:" + std::to_string(desk.proxy->admin()) + "/"),
                HasSubstr("This is http://127.0.0.1:"));
    // The session has gone on.
    EXPECT_THAT(desk.browser->open(desk.base + "/login"), HasSubstr("You are desk"));
}

TEST(AdminBrowser, pages_of_other_sites_load_nothing_of_a_proxy_without_tokens) {
    NEEDS("chromium");
    Origin origin, evil;
    origin.answer("/page", fresh("body"));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    auto const base = "http://127.0.0.1:" + std::to_string(proxy.admin());
    auto const form = [&](std::string const& path) {
        return "<form id=" + path + " action='" + base + "/" + path + "'><input name=url value='" + origin.url("/page") +
               "'></form>";
    };
    evil.answer("/page", {.fields = {{"Content-Type", "text/html"}},
                          .body = "<!DOCTYPE html><body>a page" + form("purge") + form("logout") + form("rebuild-digest") +
                                  "<a href='" + base + "/'>a link</a>"});
    DevTools browser("direct://", {"--host-resolver-rules=MAP evil.example 127.0.0.1"});
    auto const site = "http://evil.example:" + std::to_string(evil.port()) + "/page";
    auto const paths = {"/",       "/stats.json", "/metrics", "/health.json",
                        "/events", "/page.js",    "/login",   "/explanation?url=127.0.0.1"};
    browser.open(site);
    for (std::string const path : paths) {
        auto const url = "'" + base + path + "'";
        for (auto const* options : {"{}", "{mode: 'no-cors'}", "{credentials: 'include'}"})
            EXPECT_EQ(browser.evaluate("fetch(" + url + ", " + options + ").then(r => r.type + r.status).catch(() => 'refused')"),
                      "refused")
                << path << options;
        for (auto const* tag : {"img", "script"})
            EXPECT_EQ(browser.evaluate("new Promise(done => { const one = document.createElement('" + std::string(tag) +
                                       "'); one.onload = "
                                       "() => done('loaded'); one.onerror = () => done('refused'); one.src = " +
                                       url + "; document.body.append(one); })"),
                      "refused")
                << path << tag;
    }
    EXPECT_EQ(browser.evaluate("new Promise(done => { const one = new EventSource('" + base +
                               "/events'); one.onmessage = () => done('a message'); one.onerror = () => done(one.readyState); })"),
              2)
        << "closed for good";
    for (auto const* path : {"purge", "logout", "rebuild-digest"}) {
        browser.open(site);
        browser.evaluate("document.getElementById('" + std::string(path) + "').submit()");
        EXPECT_TRUE(eventually([&] {
            auto const text = browser.evaluate("document.body?.innerText ?? ''").get<std::string>();
            return text.find("Allowed methods: POST") != text.npos;
        })) << path;
    }
    EXPECT_TRUE(get(proxy, origin, "/page").hit());
    EXPECT_THAT(proxy.errors(), Not(HasSubstr("admin: 127.0.0.1: ")));

    browser.open(site);
    browser.evaluate("document.querySelector('a').click()");
    EXPECT_TRUE(eventually([&] {
        return browser.evaluate("document.querySelector('#health p')?.innerText") == "OK: no problem is known.";
    })) << "a link of a wiki leads to the page";
}

}   // namespace garner::test
