// The operator's page in a real browser: figures, events, explanations, the keyboard, narrow screens and hostile names.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "story/scene.hpp"
#include "support/devtools.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::IsEmpty;

/// A browser that reaches the admin address itself.
struct Viewer {
    explicit Viewer(Proxy const& proxy) : base("http://127.0.0.1:" + std::to_string(proxy.admin())), browser("direct://") {}

    void open(std::string const& path = "/") { browser.open(base + path); }
    json value_of(std::string const& stat) {
        return browser.evaluate("document.querySelector('[data-stat=\"" + stat + "\"]')?.dataset.value ?? null");
    }
    std::string text_of(std::string const& selector) {
        auto const text = browser.evaluate("document.querySelector('" + selector + "')?.innerText ?? ''");
        return text.get<std::string>();
    }
    bool is_live() {
        return eventually([&] { return text_of("#live") == "live"; });
    }

    std::string base;
    DevTools browser;
};

/// The figures of the page that differ from /stats.json. A path may have member names with dots.
constexpr char const* differing = R"js((async () => {
  const stats = await (await fetch("/stats.json")).json();
  const at = (json, path) => {
    if (json === null || typeof json !== "object") return undefined;
    if (path in json) return json[path];
    for (let dot = path.indexOf("."); dot > 0; dot = path.indexOf(".", dot + 1))
      if (path.slice(0, dot) in json) return at(json[path.slice(0, dot)], path.slice(dot + 1));
    return undefined;
  };
  const figures = [...document.querySelectorAll("[data-stat]")];
  const wrong = figures.filter((figure) => {
    const value = at(stats, figure.dataset.stat);
    return figure.dataset.value !== (typeof value === "string" ? value : JSON.stringify(value));
  });
  return { count: figures.length, wrong: wrong.map((one) => one.dataset.stat) };
})())js";

/// What makes the page hard to use: contrast below 4.5 (of pictures: to the box around the text), fields, buttons and regions
/// without a name, headers without a scope, an order of focus that is not that of the page, small targets.
constexpr char const* barriers = R"js((() => {
  const light = (color) => {
    const [r, g, b] = color.match(/[\d.]+/g).map(Number).map((part) => part / 255)
      .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    if (element.ownerSVGElement) {
      const box = element.parentElement.querySelector(".box");
      return box ? getComputedStyle(box).fill : ground(element.ownerSVGElement);
    }
    for (; element; element = element.parentElement) {
      const color = getComputedStyle(element).backgroundColor;
      if (!color.includes(", 0)")) return color;
    }
    return "rgb(255, 255, 255)";
  };
  const found = [];
  for (const element of document.querySelectorAll("body *:not(title)")) {
    if (![...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim())) continue;
    const style = getComputedStyle(element);
    const pair = [light(element.ownerSVGElement ? style.fill : style.color), light(ground(element))].sort((a, b) => b - a);
    const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
    if (contrast < 4.5) found.push("contrast " + contrast.toFixed(2) + ": " + element.outerHTML.slice(0, 80));
  }
  for (const element of document.querySelectorAll("input, button, a, summary, [role=region], [role=img], section"))
    if (!element.textContent.trim() && !element.ariaLabel && !element.labels?.length)
      found.push("no name: " + element.outerHTML.slice(0, 80));
  for (const image of document.querySelectorAll("svg")) if (image.getAttribute("role") !== "img") found.push("an image without role");
  for (const one of ["main", "h1", "header", "footer", "[role=search]"])
    if (document.querySelectorAll(one).length !== 1) found.push("not one " + one);
  const levels = [...document.querySelectorAll("h1, h2, h3")].map((heading) => Number(heading.tagName[1]));
  if (levels.some((level, i) => i > 0 && level > levels[i - 1] + 1)) found.push("headings skip a level");
  for (const header of document.querySelectorAll("th"))
    if (!header.scope || !header.textContent.trim()) found.push("header: " + header.outerHTML.slice(0, 80));
  for (const table of document.querySelectorAll("table"))
    if ([...table.tBodies[0].rows].some((row) => row.cells[0].tagName !== "TH")) found.push("row without header: " + table.id);
  for (const row of document.querySelectorAll("table[data-why] tbody tr"))
    if (!row.querySelector("a")) found.push("row without link: " + row.textContent);
  for (const element of document.querySelectorAll("[tabindex]"))
    if (element.tabIndex > 0) found.push("focus order: " + element.outerHTML.slice(0, 80));
  for (const element of document.querySelectorAll("button, input, summary"))
    if (element.checkVisibility() && element.getBoundingClientRect().height < 23)
      found.push("small: " + element.outerHTML.slice(0, 80));
  const regions = [...document.querySelectorAll("[role=region]")].map((region) => region.ariaLabel);
  if (new Set(regions).size !== regions.length) found.push("two regions have one name");
  if (/user-scalable|maximum-scale/.test(document.querySelector("meta[name=viewport]").content)) found.push("zoom is forbidden");
  if (!document.documentElement.lang || !document.title) found.push("no language or title");
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  if (new Set(ids).size !== ids.length) found.push("an id is there twice");
  return found;
})())js";

/// Keeps a picture of the visible part of the page in the folder $GARNER_SCREENSHOTS, if that is set, to be looked at.
void keep_screenshot(Viewer& viewer, std::string const& name) {
    auto const* const folder = std::getenv("GARNER_SCREENSHOTS");
    if (!folder) return;
    auto const taken = viewer.browser.command("Page.captureScreenshot", {{"format", "png"}});
    TempDir dir;
    std::vector<std::string> const decode{"base64", "-d", dir.write("base64", taken.at("data").get<std::string>())};
    std::ofstream(std::filesystem::path(folder) / (name + ".png"), std::ios::binary) << run(decode).output;
}

void set_media(Viewer& viewer, std::string const& name, std::string const& value) {
    json const feature{{"name", name}, {"value", value}};
    viewer.browser.command("Emulation.setEmulatedMedia", {{"features", {feature}}});
}

void set_screen(Viewer& viewer, int width, int height, int scale, bool is_mobile) {
    viewer.browser.command("Emulation.setDeviceMetricsOverride",
                           {{"width", width}, {"height", height}, {"deviceScaleFactor", scale}, {"mobile", is_mobile}});
}

void open_details(Viewer& viewer) {
    viewer.browser.evaluate("document.querySelectorAll('details').forEach((details) => details.open = true)");
}

json width_of(Viewer& viewer) { return viewer.browser.evaluate("document.documentElement.scrollWidth"); }

constexpr char const* mobile = R"({"width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": true})";

std::string const hostile = "<img src=x onerror=document.hurt=1>";

/// Access rules, peers and URLs with markup.
Proxy::Setup hostile_setup() {
    json const peer{{"name", hostile},     {"type", "parent"}, {"host", "127.0.0.1"},
                    {"http", free_port()}, {"icp", 0},         {"no_query", true}};
    json const rules{{{"deny", {{"host", {".games.test"}}}}, {"name", hostile}}, {{"allow", {{"destination", {"127.0.0.0/8"}}}}}};
    return {.patch = json{{"peers", {peer}}, {"access", rules}}.dump()};
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

    json found;
    EXPECT_TRUE(eventually(
        [&] {
            found = viewer.browser.evaluate(differing);
            std::erase(found["wrong"].get_ref<json::array_t&>(), json("resident_bytes"));   // may change in each second
            return found["wrong"].empty();
        },
        30s))
        << found;
    EXPECT_GT(found["count"], 100);
    EXPECT_THAT(viewer.browser.console(), IsEmpty());
    for (auto const& url : viewer.browser.requests()) EXPECT_THAT(url, AnyOf(StartsWith(viewer.base), StartsWith("data:")));
}

TEST(OperatorPage, shows_refusals_and_dead_peers_without_reloading) {
    NEEDS("chromium");
    auto const port = free_port();
    json const campus{{"name", "campus"}, {"type", "parent"}, {"host", "127.0.0.1"}, {"http", port},
                      {"icp", 0},         {"no_query", true}, {"default", true}};
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
    auto const stats = run({garner_binary(), "stats", "--config", proxy.dir().path("garner.json").string()}).output;
    EXPECT_THAT(stats, StartsWith("Attention: parent campus is dead.\n")) << "garner stats begins with the same words";

    auto const id = viewer.value_of("refusals.0.id").get<std::string>();
    viewer.open("/?url=" + id);
    EXPECT_THAT(viewer.text_of("#explanation"), AllOf(HasSubstr("refused by exams"), HasSubstr("http://chess.games.test/")));
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
    for (auto const* part : {"OK: no problem is known.", "Hit ratio, 5 min", "127.0.0.1", "uri-miss", "hit: ", "in memory"})
        EXPECT_THAT(text, HasSubstr(part));
}

TEST(OperatorPage, takes_hostile_names_as_text_on_a_narrow_screen) {
    NEEDS("chromium");
    Origin origin;
    auto const path = "/" + std::string(120, 'w') + "'><svg/onload=document.hurt=1>";
    origin.answer(path, no_store("body"));
    Proxy proxy(hostile_setup());
    Viewer viewer(proxy);
    viewer.browser.command("Emulation.setDeviceMetricsOverride", json::parse(mobile));
    viewer.open();
    ASSERT_TRUE(viewer.is_live());
    get(proxy, origin, path).body();
    EXPECT_EQ(Client(proxy).get("http://chess.games.test/").status(), 403);
    EXPECT_TRUE(eventually([&] { return viewer.value_of("refusals.0.rule").dump().find("<img") != std::string::npos; }));
    for (bool const reloaded : {false, true}) {
        if (reloaded) viewer.open("/?url=" + std::string("%3Cimg%20src%3Dx%20onerror%3Ddocument.hurt%3D1%3E"));
        open_details(viewer);
        EXPECT_THAT(viewer.text_of("#mesh"), HasSubstr(hostile));
        EXPECT_THAT(viewer.text_of("#rules"), HasSubstr(hostile));
        EXPECT_EQ(viewer.browser.evaluate("document.querySelectorAll('img, body script, svg:not([role])').length"), 0);
        EXPECT_EQ(viewer.browser.evaluate("document.hurt === undefined"), true);
        EXPECT_LE(viewer.browser.evaluate("document.documentElement.scrollWidth"), 360);
    }
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
        set_media(viewer, "prefers-color-scheme", scheme);
        viewer.open("/?url=" + origin.authority());
        keep_screenshot(viewer, std::string("page-") + scheme);
        open_details(viewer);
        EXPECT_EQ(viewer.browser.evaluate(barriers), json::array()) << scheme;
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
        viewer.open("/?url=" + origin.authority());
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
    for (auto const* section : {"#mesh", "#rules"}) {
        viewer.open();
        auto const target =
            viewer.browser.evaluate("document.querySelector('" + std::string(section) + " tbody a').getAttribute('href')");
        viewer.open(target.get<std::string>());
        auto const is_peer = std::string(section) == "#mesh";
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

}   // namespace garner::test
