#include "admin/page.hpp"

#include <openssl/sha.h>

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "admin/peers_text.hpp"
#include "admin/summary.hpp"
#include "util/base64.hpp"

namespace garner::admin {

namespace {

constexpr std::string_view style = R"(
:root { color-scheme: light dark; --page: #ffffff; --text: #111827; --bad: #b91c1c; --soft: #545b68; --line: #d1d5db; --tile: #f3f4f6; }
@media (prefers-color-scheme: dark) { :root { --page: #111827; --text: #f3f4f6; --bad: #fca5a5; --soft: #9ca3af; --line: #374151; --tile: #1f2937; } }
body { background: var(--page); color: var(--text); font: 16px/1.4 system-ui, sans-serif; margin: 0 auto; padding: 1rem; max-width: 70rem; }
h1 { font-size: 1.1rem; font-weight: 600; margin: 0 0 1rem; }
h2 { font-size: 1rem; margin: 0 0 .3rem; }
small, dd small { color: var(--soft); display: block; font-size: .8rem; }
.tiles { display: grid; gap: .7rem; grid-template-columns: repeat(auto-fill, minmax(10.5rem, 1fr)); }
.tiles { margin: 0 0 1.5rem; }
.tiles div { background: var(--tile); border-radius: .5rem; padding: .7rem .9rem; }
dt { color: var(--soft); font-size: .85rem; }
dd { font-size: 1.7rem; font-variant-numeric: tabular-nums; margin: 0; white-space: nowrap; }
dd small { white-space: normal; }
.tables { columns: 19rem; column-gap: 1.5rem; }
.wide { overflow-x: auto; }
.wide td, .wide thead th { overflow-wrap: normal; white-space: nowrap; }
.trouble th, .trouble td { color: var(--bad); font-weight: 600; }
button { font: inherit; padding: .3rem .8rem; }
section { break-inside: avoid; padding: 0 0 1.5rem; }
table { border-collapse: collapse; width: 100%; }
th, td { border-top: 1px solid var(--line); font-weight: 400; padding: .15rem 0; text-align: left; }
td, thead th { font-variant-numeric: tabular-nums; overflow-wrap: anywhere; padding-left: .8rem; text-align: right; }
thead th { color: var(--soft); font-size: .85rem; border: 0; }
footer { color: var(--soft); font-size: .85rem; }
)";

/// Loads newer statistics every 5 s, until the reader pauses it. Without scripts the page is static.
constexpr std::string_view script = R"(
const button = document.querySelector("button");
let paused = false;
async function renew() {
  if (paused || document.hidden) return;
  try {
    const answer = await fetch("/");
    if (!answer.ok || paused) return;
    const newer = new DOMParser().parseFromString(await answer.text(), "text/html");
    for (const part of ["#title", "#figures"])
      document.querySelector(part).replaceChildren(...newer.querySelector(part).childNodes);
  } catch (fault) {}
}
button.hidden = false;
button.addEventListener("click", () => {
  paused = !paused;
  button.textContent = paused ? "Resume updates" : "Pause updates";
});
setInterval(renew, 5000);
)";

std::string escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
        if (c == '<')
            out += "&lt;";
        else if (c == '>')
            out += "&gt;";
        else if (c == '&')
            out += "&amp;";
        else if (c == '"')
            out += "&quot;";
        else
            out += c;
    }
    return out;
}

std::string tile(Headline const& line) {
    return "<div><dt>" + escaped(line.title) + "</dt><dd>" + escaped(line.value) + "<small>" + escaped(line.note) +
           "</small></dd></div>\n";
}

constexpr std::size_t columns_in_narrow = 4;

/// A wide table scrolls separately, also by keyboard.
std::string section_table(SummarySection const& section) {
    auto const title = escaped(section.title);
    bool const wide = section.columns.size() > columns_in_narrow;
    std::string out = "<section><h2>" + title + "</h2>";
    if (wide) out += "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"" + title + "\">";
    out += "<table>\n";
    if (!section.columns.empty()) {
        out += "<thead><tr><td></td>";
        for (auto const& column : section.columns) out += "<th scope=\"col\">" + escaped(column) + "</th>";
        out += "</tr></thead>\n";
    }
    for (auto const& line : section.lines) {
        out += line.is_trouble ? "<tr class=\"trouble\">" : "<tr>";
        out += "<th scope=\"row\">" + escaped(line.name) + "</th>";
        for (auto const& value : line.values) out += "<td>" + escaped(value) + "</td>";
        out += "</tr>\n";
    }
    return out + (wide ? "</table></div></section>\n" : "</table></section>\n");
}

std::string base64_sha256(std::string_view text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest;
    ::SHA256(reinterpret_cast<unsigned char const*>(text.data()), text.size(), digest.data());
    return encode_base64({reinterpret_cast<char const*>(digest.data()), digest.size()});
}

}   // namespace

std::string page(nlohmann::ordered_json const& stats) {
    std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                      "<title>Garner</title>\n<style>";
    out += style;
    out += "</style>\n</head>\n<body>\n<main>\n<h1 id=\"title\">" + escaped(summary_title(stats)) + "</h1>\n<div id=\"figures\">\n";
    // Peers with problems come before all statistics.
    auto const peers = peers_table(stats);
    bool const trouble = peers && peers->lines.front().is_trouble;
    if (trouble) out += section_table(*peers);
    out += "<dl class=\"tiles\">\n";
    for (auto const& line : headlines(stats)) out += tile(line);
    out += "</dl>\n<div class=\"tables\">\n";
    for (auto const& section : summary(stats)) out += section_table(section);
    out += "</div>\n";
    if (peers && !trouble) out += section_table(*peers);
    if (auto const section = what_if(stats)) out += section_table(*section);
    out += "</div>\n<button type=\"button\" hidden>Pause updates</button>\n</main>\n"
           "<footer>For programs: /metrics (Prometheus), /stats.json</footer>\n<script>";
    out += script;
    out += "</script>\n</body>\n</html>\n";
    return out;
}

std::string const& page_policy() {
    static std::string const policy = "default-src 'none'; style-src 'sha256-" + base64_sha256(style) + "'; script-src 'sha256-" +
                                      base64_sha256(script) +
                                      "'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
    return policy;
}

}   // namespace garner::admin
