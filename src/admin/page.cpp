#include "admin/page.hpp"

#include <algorithm>

#include "admin/html.hpp"

namespace garner::admin {

namespace page_html {

std::string element(std::string_view name, std::string_view text, std::string const& attributes = "") {
    return "<" + std::string(name) + attributes + ">" + in_html(text) + "</" + std::string(name) + ">";
}

std::string stat_attributes(std::string const& stat, std::string const& value) {
    return stat.empty() ? std::string() : attribute("data-stat", stat) + attribute("data-value", value);
}

std::string figure(std::string_view name, PageFigure const& figure, std::string const& attributes = "") {
    return element(name, figure.text, stat_attributes(figure.stat, figure.value) + attributes);
}

// ---- charts ----

std::string path(PageCurve const& curve) {
    auto const id = curve.id.empty() ? "" : attribute("id", curve.id);
    auto const kind = curve.kind.empty() ? "" : attribute("class", curve.kind);
    auto const title = curve.title.empty() ? "" : element("title", curve.title);
    return "<path" + id + kind + attribute("d", curve.path) + ">" + title + "</path>";
}

std::string chart(PageCurve const& curve) {
    return "<svg viewBox=\"0 0 120 32\" preserveAspectRatio=\"none\" role=\"img\"" + attribute("aria-label", curve.title) + ">" +
           path(curve) + "</svg>";
}

/// Scrolls by itself where it is wider than the page, also by keyboard.
std::string scrolling(std::string const& title, std::string const& content) {
    return "<div class=\"wide\" role=\"region\" tabindex=\"0\"" + attribute("aria-label", title) + ">" + content + "</div>";
}

std::string text(PagePicture::Text const& text) {
    auto attributes = attribute("x", std::to_string(text.x)) + attribute("y", std::to_string(text.y));
    if (!text.id.empty()) attributes += attribute("id", text.id);
    if (!text.kind.empty()) attributes += attribute("class", text.kind);
    return figure("text", text.figure, attributes);
}

std::string picture(PageSection const& section) {
    if (!section.picture) return {};
    auto const& picture = *section.picture;
    auto const width = std::to_string(picture.width), height = std::to_string(picture.height);
    auto out = "<svg class=\"picture\" role=\"img\"" + attribute("width", width) + attribute("height", height) +
               attribute("viewBox", "0 0 " + width + " " + height) + attribute("aria-label", picture.title) + ">\n";
    for (auto const& part : picture.parts) {
        out += "<g>";
        for (auto const& line : part.lines) out += path(line);
        for (auto const& one : part.texts) out += text(one);
        out += "</g>\n";
    }
    return scrolling(section.title + ", picture", out + "</svg>") + "\n";
}

// ---- figures ----

std::string tile(PageTile const& tile) {
    auto out = "<div>" + element("dt", tile.title) + figure("dd", tile.figure, attribute("class", "large"));
    out += "<dd class=\"small\">";
    for (std::size_t i = 0; i < tile.notes.size(); ++i)
        out += (i == 0 ? "" : ", ") + in_html(tile.notes[i].title) + " " + figure("span", tile.notes[i].figure);
    out += "</dd>";
    for (auto const& curve : tile.curves) out += "<dd>" + chart(curve) + "</dd>";
    return out + "</div>\n";
}

std::string tiles(PageSection const& section) {
    if (section.tiles.empty()) return {};
    std::string out = "<dl class=\"tiles\">\n";
    for (auto const& one : section.tiles) out += tile(one);
    return out + "</dl>\n";
}

/// Numbers, missing ones and short texts are aligned at the right.
bool is_number(PageFigure const& figure) {
    constexpr std::size_t short_text = 24;
    return figure.stat.empty() || figure.text.size() <= short_text;
}

/// `link` empty: none.
std::string row_heading(std::string_view text, std::string const& attributes, std::string const& link) {
    if (link.empty()) return element("th", text, attributes);
    return "<th" + attributes + ">" + element("a", text, attribute("href", link)) + "</th>";
}

std::string lines_table(PageLines const& lines) {
    std::string out = "<table>";
    if (!lines.columns.empty()) {
        out += "<thead><tr><td></td>";
        for (auto const& column : lines.columns) out += element("th", column, " scope=\"col\" class=\"number\"");
        out += "</tr></thead>";
    }
    out += "<tbody>\n";
    for (auto const& line : lines.lines) {
        out += line.is_trouble ? "<tr class=\"trouble\">" : "<tr>";
        out += row_heading(line.name, " scope=\"row\"", line.why.empty() ? "" : link_to_why(line.why));
        for (auto const& one : line.figures) out += figure("td", one, is_number(one) ? " class=\"number\"" : "");
        out += "</tr>\n";
    }
    return out + "</tbody></table>";
}

std::string lines(PageSection const& section) {
    constexpr std::size_t narrow = 2;
    std::string columns, wide;
    for (auto const& one : section.lines) {
        auto const title = one.title.empty() ? "" : element("h3", one.title);
        auto const name = one.title.empty() ? section.title : one.title;
        if (one.columns.size() > narrow)
            wide += title + scrolling(name + ", table", lines_table(one)) + "\n";
        else
            columns += "<div>" + title + lines_table(one) + "</div>\n";
    }
    auto const all = (columns.empty() ? "" : "<div class=\"lines\">\n" + columns + "</div>\n") + wide;
    return section.folded.empty() ? all : "<details>" + element("summary", section.folded) + "\n" + all + "</details>\n";
}

// ---- lists ----

std::string heading(PageTable::Column const& column) {
    auto attributes = std::string(" scope=\"col\"") + (column.is_number ? " class=\"number\"" : "");
    if (!column.path.empty()) attributes += attribute("data-path", column.path);
    return element("th", column.title, attributes);
}

std::string path_in(PageTable::Column const& column, std::size_t index) {
    auto path = column.path;
    if (auto const star = path.find('*'); star != path.npos) path.replace(star, 1, std::to_string(index));
    return path;
}

std::string link_of(PageTable const& table, PageTable::Row const& row) {
    return table.why ? link_to_why(table.why_kind + row.cells[*table.why].text) : "";
}

std::string cell(PageTable const& table, PageTable::Row const& row, std::size_t i) {
    auto const& column = table.columns[i];
    auto const& one = row.cells[i];
    auto attributes = stat_attributes(path_in(column, row.index), one.value.empty() ? one.text : one.value);
    if (column.is_number) attributes += " class=\"number\"";
    if (i > 0) return element("td", one.text, attributes);
    return row_heading(one.text, attributes + " scope=\"row\"", link_of(table, row));
}

std::string list(PageSection const& section, PageTable const& table) {
    auto out = table.title.empty() ? "" : element("h3", table.title);
    auto const why = table.why ? attribute("data-why", std::to_string(*table.why)) : "";
    auto const kind = table.why_kind.empty() ? "" : attribute("data-kind", table.why_kind);
    std::string inner = "<table data-list" + attribute("id", table.id) + why + kind + "><thead><tr>";
    for (auto const& column : table.columns) inner += heading(column);
    inner += "</tr></thead><tbody>\n";
    for (auto const& row : table.rows) {
        inner += row.is_trouble ? "<tr class=\"trouble\">" : "<tr>";
        for (std::size_t i = 0; i < row.cells.size(); ++i) inner += cell(table, row, i);
        inner += "</tr>\n";
    }
    out += scrolling((table.title.empty() ? section.title : table.title) + ", table", inner + "</tbody></table>");
    auto const hidden = table.rows.empty() ? "" : " hidden";
    return out + element("p", table.none, " class=\"none\"" + attribute("id", table.id + "-none") + hidden) + "\n";
}

// ---- parts of the page ----

std::string words(PageSection const& section) {
    std::string out;
    for (std::size_t i = 0; i < section.words.size(); ++i)
        out += element("p", section.words[i], attribute("id", section.id + "-words-" + std::to_string(i))) + "\n";
    return out;
}

std::string section_part(PageSection const& section) {
    auto out = "<section" + attribute("id", section.id) + attribute("aria-labelledby", section.id + "-title") + ">\n" +
               element("h2", section.title, attribute("id", section.id + "-title")) + "\n" + words(section) + tiles(section) +
               picture(section);
    bool const opens = !section.tiles.empty();   // the lists repeat the charts
    out += lines(section);
    if (opens) out += "<details><summary>The figures of the charts</summary>\n";
    for (auto const& table : section.tables) out += list(section, table);
    if (opens) out += "</details>\n";
    return out + "</section>\n";
}

std::string health_part(PageHealth const& health) {
    auto out = "<section id=\"health\" aria-label=\"Health\"" + attribute("data-state", health.state) + ">\n" +
               figure("p", health.sentence, " role=\"status\"") + "\n<ul>";
    for (auto const& item : health.items) {
        bool const leads = !item.title.empty();
        out += "<li>" + (item.what.empty() ? "" : element("strong", item.what + ": ")) +
               element("span", item.fix + (leads ? ": " : ""));
        out += (leads ? element("a", item.title, attribute("href", "#" + item.section)) : "") + "</li>";
    }
    return out + "</ul>\n</section>\n";
}

std::string explain_form(Explained const* explained) {
    auto const value = explained ? attribute("value", explained->asked) : "";
    return "<form id=\"explain\" action=\"/\" method=\"get\" role=\"search\">\n"
           "<label for=\"url\">Why is a URL answered as it is?</label>\n"
           "<div><input id=\"url\" name=\"url\" autocomplete=\"off\" spellcheck=\"false\" autocapitalize=\"off\" "
           "aria-describedby=\"url-hint\"" +
           value +
           "><button>Explain</button></div>\n"
           "<small id=\"url-hint\">A URL, host:port, the address of a client, or the id of an error page. "
           "Keys: / goes here, ? lists keys.</small>\n</form>\n";
}

std::string explanation(Explained const* explained) {
    if (!explained) return "<div id=\"explanation\"></div>\n";
    auto out = "<div id=\"explanation\">" + element("h2", explained->title) + "\n<dl>\n";
    for (auto const& line : explained->lines)
        out += (line.subject.empty() ? "" : element("dt", line.subject)) + element("dd", line.text) + "\n";
    return out + "</dl></div>\n";
}

std::string header(PageModel const& model) {
    return "<header>\n" + element("h1", model.title, " id=\"title\"") + "\n<p>Figures of " +
           element("span", model.at, " id=\"at\"") +
           " (<span id=\"live\">as loaded</span>)</p>\n<button type=\"button\" id=\"pause\" hidden>Pause "
           "updates</button>\n</header>\n";
}

constexpr std::string_view head = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                                  "<link rel=\"icon\" href=\"data:,\">\n<link rel=\"stylesheet\" href=\"/page.css\">\n"
                                  "<script type=\"module\" src=\"/page.js\"></script>\n";

constexpr std::string_view end = R"(<p id="more" hidden>New figures have appeared: <a href="/">load the page again</a>.</p>
</main>
<dialog id="keys" aria-labelledby="keys-title"><h2 id="keys-title">Keys</h2>
<p><kbd>/</kbd> goes to the field for a URL.</p><p><kbd>?</kbd> shows this list.</p><p><kbd>Esc</kbd> closes it.</p>
<form method="dialog"><button>Close</button></form></dialog>
<footer>For programs: <a href="/metrics">/metrics</a> (Prometheus), <a href="/stats.json">/stats.json</a>.
<a href="/login">Log in or out</a></footer>
</body>
</html>
)";

}   // namespace page_html

std::string page(PageModel const& model, Explained const* explained) {
    using namespace page_html;
    auto const& state = model.health.state;
    auto out = std::string(head) + element("title", state.empty() || state == "ok" ? "Garner" : "Garner: " + state);
    out += "\n</head>\n<body>\n" + header(model) + "<main>\n" + health_part(model.health) + explain_form(explained) +
           explanation(explained);
    for (auto const& section : model.sections) out += section_part(section);
    out += end;
    return out;
}

}   // namespace garner::admin
