// Included by the scenes of the operator's page: its viewer, and what the page must be for each reader.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "story/scene.hpp"
#include "support/devtools.hpp"
#include "support/programs.hpp"

namespace garner::test {

/// A browser that reaches the admin address itself.
struct Viewer {
    explicit Viewer(Proxy const& proxy) : base("http://127.0.0.1:" + std::to_string(proxy.admin())), browser("direct://") {}

    void open(std::string const& path = "/") { browser.open(base + path); }
    nlohmann::json value_of(std::string const& stat) {
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
inline constexpr char const* differing = R"js((async () => {
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
    if (typeof value === "number") return Number(figure.dataset.value) !== value;   // 0.0 is 0
    return figure.dataset.value !== (typeof value === "string" ? value : JSON.stringify(value));
  });
  return { count: figures.length, wrong: wrong.map((one) => one.dataset.stat) };
})())js";

/// Barriers of the page for its readers: contrast below 4.5 (of pictures: to the box around the text), fields, buttons and regions
/// without a name, rows that lead nowhere, headers without a scope, an order of focus that is not that of the page, small targets.
inline constexpr char const* barriers = R"js((() => {
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
  for (const row of document.querySelectorAll("table:not(#history) tbody tr"))
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
inline void keep_screenshot(Viewer& viewer, std::string const& name) {
    auto const* const folder = std::getenv("GARNER_SCREENSHOTS");
    if (!folder) return;
    auto const taken = viewer.browser.command("Page.captureScreenshot", {{"format", "png"}});
    TempDir dir;
    std::vector<std::string> const decode{"base64", "-d", dir.write("base64", taken.at("data").get<std::string>())};
    std::ofstream(std::filesystem::path(folder) / (name + ".png"), std::ios::binary) << run(decode).output;
}

/// The serious and critical findings of axe-core, if $GARNER_AXE names its axe.min.js; nothing without it.
inline std::string axe_findings(Viewer& viewer) {
    auto const* const file = std::getenv("GARNER_AXE");
    if (!file) return "";
    viewer.browser.evaluate(read_file(file) + "; 0");
    auto const found = viewer.browser.evaluate(
        "axe.run().then((found) => found.violations.filter((one) => ['serious', 'critical'].includes(one.impact))"
        ".map((one) => one.id + ': ' + one.nodes.map((node) => node.html.slice(0, 120)).join(' | ')).join('; '))");
    return found.get<std::string>();
}

inline void set_scheme(Viewer& viewer, std::string const& scheme) {
    nlohmann::json const feature{{"name", "prefers-color-scheme"}, {"value", scheme}};
    viewer.browser.command("Emulation.setEmulatedMedia", {{"features", {feature}}});
}

inline void open_details(Viewer& viewer) {
    viewer.browser.evaluate("document.querySelectorAll('details').forEach((details) => details.open = true)");
}

/// The figures of the page that differ from /stats.json, once at most those do that change at any time, such as a rate that decays.
inline nlohmann::json differing_at_last(Viewer& viewer) {
    nlohmann::json found;
    eventually(
        [&] {
            found = viewer.browser.evaluate(differing);
            std::erase_if(found["wrong"].get_ref<nlohmann::json::array_t&>(), [](nlohmann::json const& stat) {
                return stat == "resident_bytes" || stat.get<std::string>().ends_with("_bytes_per_second");
            });
            return found["wrong"].empty();
        },
        30s);
    return found;
}

}   // namespace garner::test
