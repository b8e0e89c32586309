// The operator's page in a real browser: figures, events, explanations, the keyboard, narrow screens and hostile names.
#include "story/page_scene.hpp"
#include "support/credentials.hpp"

namespace garner::test {

namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::IsEmpty;

void set_media(Viewer& viewer, std::string const& name, std::string const& value) {
    json const feature{{"name", name}, {"value", value}};
    viewer.browser.command("Emulation.setEmulatedMedia", {{"features", {feature}}});
}

void set_screen(Viewer& viewer, int width, int height, int scale, bool is_mobile) {
    viewer.browser.command("Emulation.setDeviceMetricsOverride",
                           {{"width", width}, {"height", height}, {"deviceScaleFactor", scale}, {"mobile", is_mobile}});
}

json width_of(Viewer& viewer) { return viewer.browser.evaluate("document.documentElement.scrollWidth"); }

constexpr char const* mobile = R"({"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": true})";

std::string const hostile = "<img src=x onerror=document.hurt=1>";

/// Access rules, peers and URLs with markup.
Proxy::Setup hostile_setup() {
    json const peer{{"name", hostile},          {"type", "parent"}, {"host", "127.0.0.1"},
                    {"http_port", free_port()}, {"icp_port", 0},    {"no_query", true}};
    json const rules{{{"deny", {{"host", {".games.test"}}}}, {"name", hostile}, {"because", hostile}},
                     {{"allow", {{"destination", {"127.0.0.0/8"}}}}}};
    return {.patch = json{{"peers", {peer}}, {"access", rules}}.dump()};
}

/// Also a user with such a name, who has a share of the line and a cap.
Proxy::Setup hostile_users(TempDir const& dir) {
    auto patch = json::parse(hostile_setup().patch);
    auto const users = dir.write("users", hostile + ":{SHA}w3QkzGJswDXW5OKZHAJw0FELjfM=\n");   // "wonder"
    patch["auth"] = {{"sources", {{{"type", "htpasswd"}, {"file", users}}}}};
    for (auto& rule : patch["access"]) (rule.contains("deny") ? rule["deny"] : rule["allow"])["user"] = "*";
    patch["share"] = {{"down", "1 GB/s"}};
    patch["caps"] = json::array({json{{"name", hostile}, {"down", "1 GB/s"}}});
    return {.patch = patch.dump()};
}

}   // namespace

TEST(OperatorPage, has_the_figures_of_stats_json_and_renews_them) {
    NEEDS("chromium");
    Origin origin;
    origin.answer("/page", fresh("body"));
    origin.answer("/never", no_store("never"));
    Proxy proxy;
    for (auto const* path : {"/page", "/page", "/never"}) get(proxy, origin, path).body();
    ASSERT_TRUE(eventually([&] { return proxy.stats()["requests"]["total"] == 3; }));
    Viewer viewer(proxy);
    viewer.open();
    EXPECT_EQ(viewer.value_of("requests.total"), "3");
    ASSERT_TRUE(viewer.is_live());

    get(proxy, origin, "/page").body();
    EXPECT_TRUE(eventually([&] { return viewer.value_of("requests.total") == "4"; }, 2s)) << "a request is shown within 2 s";
    EXPECT_EQ(viewer.value_of("top.hosts.0.requests"), "4");
    EXPECT_EQ(Client(proxy).get("http://" + origin.authority() + "@/").status(), 400);

    auto const found = differing_at_last(viewer);
    EXPECT_EQ(found["wrong"], json::array());
    EXPECT_GT(found["count"], 100);
    EXPECT_THAT(viewer.browser.console(), IsEmpty());
    for (auto const& url : viewer.browser.requests()) EXPECT_THAT(url, AnyOf(StartsWith(viewer.base), StartsWith("data:")));
}

TEST(OperatorPage, shows_refusals_and_dead_peers_without_reloading) {
    NEEDS("chromium");
    auto const port = free_port();
    json const campus{{"name", "campus"}, {"type", "parent"}, {"host", "127.0.0.1"}, {"http_port", port},
                      {"icp_port", 0},    {"no_query", true}, {"default", true}};
    json const rules{{{"deny", {{"host", {".games.test"}}}}, {"name", "exams"}}, {{"allow", {{"destination", {"127.0.0.0/8"}}}}}};
    Origin origin;
    origin.answer("/page", no_store("body"));
    Proxy proxy(json{{"peers", {campus}}, {"access", rules}}.dump());
    Viewer viewer(proxy);
    viewer.open();
    ASSERT_TRUE(viewer.is_live());
    EXPECT_EQ(viewer.text_of("#health p"), "OK: no problem is known.");

    EXPECT_EQ(Client(proxy).get("http://chess.games.test/").status(), 403);
    EXPECT_TRUE(eventually([&] { return viewer.value_of("refusals.0.url") == "http://chess.games.test/"; }, 3s));
    EXPECT_EQ(viewer.value_of("rules.0.hits"), "1");

    get(proxy, origin, "/page").body();
    EXPECT_TRUE(eventually([&] { return viewer.text_of("#health p") == "Attention: parent campus is dead."; }, 15s));
    EXPECT_THAT(viewer.text_of("#mesh tr.trouble"), HasSubstr("campus"));
    viewer.browser.evaluate("document.querySelector('#health a').click()");
    EXPECT_EQ(viewer.browser.evaluate("location.hash"), "#mesh") << "the problem leads to its section";
    auto const stats = run({garner_binary(), "stats", "--config", proxy.dir().path("garner.json").string()}).output;
    EXPECT_THAT(stats, StartsWith("Attention: parent campus is dead.\n")) << "garner stats begins with the same words";

    auto const id = viewer.value_of("refusals.0.id").get<std::string>();
    viewer.open("/?url=" + id);
    EXPECT_THAT(viewer.text_of("#explanation"), AllOf(HasSubstr("refused by exams"), HasSubstr("http://chess.games.test/")));
    EXPECT_THAT(viewer.browser.console(), IsEmpty());
}

TEST(OperatorPage, shows_failures_with_their_reason_without_reloading) {
    NEEDS("chromium");
    Proxy proxy;
    Viewer viewer(proxy);
    viewer.open();
    ASSERT_TRUE(viewer.is_live());
    auto const gone = "http://127.0.0.1:" + std::to_string(free_port()) + "/";
    EXPECT_EQ(Client(proxy).get(gone + "0").status(), 502);
    EXPECT_TRUE(eventually([&] { return viewer.value_of("failures.0.url") == gone + "0"; }, 3s));
    EXPECT_THAT(viewer.value_of("failures.0.reason"), StartsWith("502 "));
    for (int i = 1; i < 20; ++i) EXPECT_EQ(Client(proxy).get(gone + std::to_string(i)).status(), 502);
    EXPECT_TRUE(eventually([&] { return viewer.text_of("#health p") == "Trouble: 20 requests failed in the last minute."; }, 15s))
        << viewer.text_of("#health");
    EXPECT_EQ(viewer.text_of("#health a"), "Last failures");

    // The link keeps the focus when the number of failures changes.
    viewer.browser.evaluate("document.querySelector('#health a').focus()");
    EXPECT_EQ(Client(proxy).get(gone + "20").status(), 502);
    EXPECT_TRUE(eventually([&] { return viewer.text_of("#health p").find("21 requests failed") != std::string::npos; }, 15s));
    EXPECT_EQ(viewer.browser.evaluate("document.activeElement.textContent"), "Last failures");
    auto const id = viewer.value_of("failures.0.id").get<std::string>();
    viewer.open("/?url=" + id);
    EXPECT_THAT(viewer.text_of("#explanation"), AllOf(HasSubstr("Failed request " + id), HasSubstr("GET " + gone + "20")));
    EXPECT_THAT(viewer.browser.console(), IsEmpty());
}

TEST(OperatorPage, explains_a_URL_by_keyboard_alone) {
    NEEDS("chromium");
    Origin origin;
    origin.answer("/page", fresh("body"));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    Viewer viewer(proxy);
    viewer.open();
    auto const focus = [&] { return viewer.browser.evaluate("document.activeElement.id").get<std::string>(); };
    int tabs = 0;
    for (; focus() != "url" && tabs <= 12; ++tabs) viewer.browser.press("Tab");
    EXPECT_LE(tabs, 12);

    viewer.open();
    viewer.browser.press("?");
    EXPECT_EQ(viewer.browser.evaluate("document.querySelector('#keys').open"), true);
    EXPECT_THAT(viewer.text_of("#keys"), HasSubstr("goes to the field"));
    viewer.browser.press("Escape");
    EXPECT_EQ(viewer.browser.evaluate("document.querySelector('#keys').open"), false);
    viewer.browser.press("/");
    EXPECT_EQ(focus(), "url");
    viewer.browser.type(origin.url("/page"));
    viewer.browser.press("Enter");
    EXPECT_TRUE(eventually([&] { return !viewer.text_of("#explanation").empty(); }));
    EXPECT_THAT(viewer.text_of("#explanation"), AllOf(HasSubstr("hit:"), HasSubstr("in memory"), HasSubstr("lifetime")));
    EXPECT_THAT(viewer.text_of("#explanation"), HasSubstr("miss (uri-miss), status 200, in ")) << "the last request";

    viewer.browser.evaluate("document.querySelector('#url').value = 'http://no URL'");
    viewer.browser.evaluate("document.querySelector('#explain').requestSubmit()");
    EXPECT_TRUE(eventually([&] { return viewer.text_of("#explanation").find("the URL is not valid") != std::string::npos; }));
    EXPECT_THAT(viewer.browser.console(), IsEmpty());
}

TEST(OperatorPage, is_whole_without_scripts) {
    NEEDS("chromium");
    Origin origin;
    origin.answer("/page", fresh("body"));
    Proxy proxy;
    get(proxy, origin, "/page").body();
    ASSERT_TRUE(eventually([&] { return proxy.stats()["requests"]["total"] == 1; }));
    Viewer viewer(proxy);
    viewer.browser.command("Emulation.setScriptExecutionDisabled", {{"value", true}});
    auto const text = viewer.browser.open(viewer.base + "/?url=" + origin.authority() + "%2Fpage");
    for (auto const* part : {"OK: no problem is known.", "Hit ratio, 5 min", "127.0.0.1", "uri-miss", "hit: ", "in memory",
                             "Hosts with the most requests", "Clients with the most requests", "URLs with the most misses",
                             "Last failures", "Last refusals", "Origins and peers", "Effect of more memory or another policy",
                             "Disk", "Access rules", "Certificates", "Configuration", "All counters"})
        EXPECT_THAT(text, HasSubstr(part));
    auto const as_loaded = "requests.total\" data-value=\"1\"";
    EXPECT_THAT(Client("127.0.0.1", proxy.admin()).get("/").body(), HasSubstr(as_loaded)) << "figures are in the document";
}

TEST(OperatorPage, takes_hostile_names_as_text_on_a_narrow_screen) {
    NEEDS("chromium");
    Origin origin;
    auto const path = "/" + std::string(120, 'w') + "'><svg/onload=document.hurt=1>";
    origin.answer(path, no_store("body"));
    TempDir dir;
    Proxy proxy(hostile_users(dir));
    Viewer viewer(proxy);
    viewer.browser.command("Emulation.setDeviceMetricsOverride", json::parse(mobile));
    viewer.open();
    ASSERT_TRUE(viewer.is_live());
    auto const user = login(hostile + ":wonder");
    EXPECT_EQ(get(proxy, origin, path, user).body(), "body");
    for (auto const* host : {"%3Cimg%20src=x%20onerror=document.hurt=1%3E.games.test", "<img/src=x/onerror=document.hurt=1>"})
        EXPECT_EQ(Client(proxy).get("http://" + std::string(host) + "/", user).status(), 400) << "no host";
    auto const quotes = "'onerror=document.hurt=1'.games.test", markup = "/'><img/src=x/onerror=document.hurt=1>";
    EXPECT_EQ(Client(proxy).get("http://" + std::string(quotes) + markup, user).status(), 403);
    EXPECT_TRUE(eventually([&] { return viewer.value_of("refusals.0.rule").dump().find("<img") != std::string::npos; }));
    EXPECT_EQ(viewer.value_of("refusals.0.user"), hostile);
    EXPECT_TRUE(eventually([&] { return viewer.text_of("#top-hosts").find(quotes) != std::string::npos; }))
        << viewer.text_of("#top-hosts");
    EXPECT_THAT(viewer.text_of("#refusals"), HasSubstr(markup));
    EXPECT_TRUE(eventually([&] { return viewer.value_of("share.subjects.0.name") == hostile; })) << viewer.text_of("#share");
    auto const encoded = "%3Cimg%20src%3Dx%20onerror%3Ddocument.hurt%3D1%3E";
    for (auto const& opened : {std::string(), std::string("/?url=") + encoded, std::string("/?url=user%20") + encoded,
                               std::string("/?url=cap%20") + encoded}) {
        if (!opened.empty()) viewer.open(opened);
        open_details(viewer);
        for (auto const* section : {"#mesh", "#rules", "#refusals", "#share", "#caps-table"})
            EXPECT_THAT(viewer.text_of(section), HasSubstr(hostile)) << section;
        EXPECT_EQ(viewer.browser.evaluate("document.querySelectorAll('img, body script, svg:not([role])').length"), 0);
        EXPECT_EQ(viewer.browser.evaluate("document.hurt === undefined"), true);
        EXPECT_LE(viewer.browser.evaluate("document.documentElement.scrollWidth"), 360);
    }
    EXPECT_THAT(viewer.text_of("#explanation"), HasSubstr("Cap " + hostile));
    EXPECT_THAT(viewer.browser.console(), IsEmpty());
}

TEST(OperatorPage, has_contrast_names_and_landmarks_in_both_schemes) {
    NEEDS("chromium");
    Origin origin;
    origin.answer("/page", no_store("body"));
    Proxy proxy(hostile_setup());
    get(proxy, origin, "/page").body();
    EXPECT_EQ(Client(proxy).get("http://chess.games.test/").status(), 403);
    ASSERT_TRUE(eventually([&] { return proxy.stats()["health"]["state"] == "attention"; }, 15s)) << proxy.stats()["health"];
    Viewer viewer(proxy);
    for (auto const* scheme : {"light", "dark"}) {
        set_scheme(viewer, scheme);
        viewer.open("/?url=" + origin.authority());
        keep_screenshot(viewer, std::string("page-") + scheme);
        open_details(viewer);
        EXPECT_EQ(viewer.browser.evaluate(barriers), json::array()) << scheme;
        EXPECT_EQ(axe_findings(viewer), "") << scheme;
    }
}

TEST(OperatorPage, fits_with_zoom_large_text_and_on_a_narrow_screen) {
    NEEDS("chromium");
    Origin origin;
    origin.answer("/page", no_store("body"));
    Proxy proxy(hostile_setup());
    get(proxy, origin, "/page").body();
    EXPECT_EQ(Client(proxy).get("http://chess.games.test/").status(), 403);
    ASSERT_TRUE(eventually([&] { return proxy.stats()["health"]["state"] == "attention"; }, 15s)) << proxy.stats()["health"];
    Viewer viewer(proxy);
    struct Screen {
        char const* name;
        int width, height, scale;
        bool is_mobile;
        char const* text;
    };
    for (auto const& [name, width, height, scale, is_mobile, text] :
         {Screen{"200-percent", 640, 450, 2, false, "100%"}, Screen{"large-text", 1280, 900, 1, false, "200%"},
          Screen{"360-px", 360, 740, 1, true, "100%"}, Screen{"320-px", 320, 640, 1, true, "100%"}}) {
        set_screen(viewer, width, height, scale, is_mobile);
        viewer.open("/?url=" + origin.authority() + "/" + std::string(300, 'w'));
        viewer.browser.evaluate("document.documentElement.style.fontSize = '" + std::string(text) + "'");
        open_details(viewer);
        EXPECT_LE(width_of(viewer), width) << name;
        EXPECT_EQ(viewer.browser.evaluate("getComputedStyle(document.querySelector('main p')).fontSize.split('px')[0] >= 16"),
                  true);
        keep_screenshot(viewer, std::string("page-") + name);
    }
}

TEST(OperatorPage, has_forced_colours_and_no_motion_that_is_not_wanted) {
    NEEDS("chromium");
    Proxy proxy(hostile_setup());
    Viewer viewer(proxy);
    set_media(viewer, "forced-colors", "active");
    viewer.open();
    EXPECT_EQ(viewer.browser.evaluate("matchMedia('(forced-colors: active)').matches"), true);
    for (auto const* selector : {".tiles path", ".picture .box", ".picture .link"})
        EXPECT_EQ(viewer.browser.evaluate("getComputedStyle(document.querySelector('" + std::string(selector) + "')).stroke"),
                  viewer.browser.evaluate("getComputedStyle(document.body).color"))
            << selector;
    auto const picture = viewer.browser.evaluate("document.querySelector('#mesh .picture').textContent").get<std::string>();
    EXPECT_THAT(picture, HasSubstr("alive")) << "a state is also a word";
    keep_screenshot(viewer, "page-forced-colors");
    set_media(viewer, "prefers-reduced-motion", "reduce");
    viewer.open();
    EXPECT_EQ(viewer.browser.evaluate("getComputedStyle(document.documentElement).scrollBehavior"), "auto");
    auto const moving = "[...document.querySelectorAll('*')].filter((one) => { const style = getComputedStyle(one); return "
                        "style.animationName !== 'none' || style.transitionDuration !== '0s'; }).length";
    EXPECT_EQ(viewer.browser.evaluate(moving), 0);
}

TEST(OperatorPage, moves_while_a_download_runs) {
    NEEDS("chromium");
    Origin origin;
    auto held = origin.hold("/film");
    Proxy proxy;
    Viewer viewer(proxy);
    viewer.open();
    ASSERT_TRUE(viewer.is_live());
    Client client(proxy, origin);
    auto const reply = client.get("/film");
    held.head(no_store(""), 100'000'000);
    for (std::size_t sent = 250'000; sent <= 750'000; sent += 250'000) {
        held.piece(std::string(250'000, 'x'));
        ASSERT_EQ(reply.early(sent).size(), sent);
        EXPECT_TRUE(eventually([&] { return viewer.value_of("client.body_bytes") == std::to_string(sent); }, 3s))
            << viewer.value_of("client.body_bytes");
    }
    EXPECT_EQ(viewer.value_of("requests.total"), "0") << "the request is not over";
    held.close();
}

TEST(OperatorPage, explains_peers_and_rules_of_its_rows) {
    NEEDS("chromium");
    Proxy proxy(hostile_setup());
    Viewer viewer(proxy);
    for (std::string const table : {"#peers", "#rules"}) {
        viewer.open();
        auto const target = viewer.browser.evaluate("document.querySelector('" + table + " tbody a').getAttribute('href')");
        viewer.open(target.get<std::string>());
        auto const is_peer = table == "#peers";
        EXPECT_THAT(viewer.text_of("#explanation"),
                    AllOf(HasSubstr((is_peer ? "Peer " : "Access rule ") + hostile), HasSubstr(is_peer ? "state" : "hits")));
        EXPECT_THAT(viewer.text_of("#explanation"), Not(HasSubstr("none of this name")));
    }
    EXPECT_THAT(viewer.browser.console(), IsEmpty());
}

TEST(OperatorPage, goes_on_after_its_stream_was_cut) {
    NEEDS("chromium");
    Origin origin;
    origin.answer("/page", fresh("body"));
    Proxy proxy;
    Viewer viewer(proxy);
    viewer.open();
    ASSERT_TRUE(viewer.is_live());
    viewer.browser.command("Network.enable", json::object());
    auto const offline = [&](bool is) {
        viewer.browser.command("Network.emulateNetworkConditions",
                               {{"offline", is}, {"latency", 0}, {"downloadThroughput", -1}, {"uploadThroughput", -1}});
    };
    viewer.browser.evaluate("document.querySelector('#pause').click()");
    EXPECT_EQ(viewer.text_of("#live"), "paused");
    get(proxy, origin, "/page").body();
    offline(true);
    viewer.browser.evaluate("document.querySelector('#pause').click()");
    EXPECT_TRUE(eventually([&] { return viewer.text_of("#live") == "not updated: no connection"; }));
    offline(false);
    EXPECT_TRUE(eventually([&] { return viewer.value_of("requests.total") == "1"; }, 30s));
    EXPECT_EQ(viewer.text_of("#live"), "live");
}

TEST(OperatorPage, rests_in_a_hidden_tab) {
    NEEDS("chromium");
    Origin origin;
    origin.answer("/page", fresh("body"));
    Proxy proxy;
    Viewer viewer(proxy);
    viewer.open();
    ASSERT_TRUE(viewer.is_live());
    // A headless browser has no tabs that cover each other.
    auto const hide = [&](char const* is) {
        viewer.browser.evaluate("Object.defineProperty(document, 'hidden', { configurable: true, value: " + std::string(is) +
                                " }); document.dispatchEvent(new Event('visibilitychange')); 0");
    };
    hide("true");
    get(proxy, origin, "/page").body();
    ASSERT_TRUE(eventually([&] { return proxy.stats()["requests"]["total"] == 1; }));
    pause_for(2'500ms);
    EXPECT_EQ(viewer.value_of("requests.total"), "0");
    hide("false");
    EXPECT_TRUE(eventually([&] { return viewer.value_of("requests.total") == "1"; }, 5s));
}

TEST(OperatorPage, goes_on_with_a_proxy_that_was_restarted) {
    NEEDS("chromium");
    Origin origin;
    origin.answer("/page", fresh("body"));
    auto proxy = std::make_unique<Proxy>();
    Viewer viewer(*proxy);
    viewer.open();
    ASSERT_TRUE(viewer.is_live());
    for (int i = 0; i < 3; ++i) get(*proxy, origin, "/page").body();
    EXPECT_TRUE(eventually([&] { return viewer.value_of("requests.total") == "3"; }));
    auto const admin = proxy->admin();
    proxy->stop();
    EXPECT_TRUE(eventually([&] { return viewer.text_of("#live") == "not updated: no connection"; }));
    EXPECT_EQ(viewer.value_of("requests.total"), "3") << "the last figures stay";
    proxy = std::make_unique<Proxy>(Proxy::Setup{.admin_port = admin});
    get(*proxy, origin, "/page").body();
    EXPECT_TRUE(eventually([&] { return viewer.value_of("requests.total") == "1"; }, 30s));
    EXPECT_EQ(viewer.text_of("#live"), "live");
}

}   // namespace garner::test
