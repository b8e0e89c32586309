#include "admin/top_text.hpp"

#include <algorithm>

#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "admin/summary.hpp"
#include "util/numbers.hpp"

namespace garner::admin {

namespace {

constexpr std::size_t rows_of_list = 8;

// ---- figures ----

/// The increase in a second; nothing without two moments of one process.
std::optional<double> rate_of(Json const& before, Json const& now, std::string_view path) {
    auto const& was = at(before, path);
    auto const& is = at(now, path);
    auto const& begin = at(before, "uptime_seconds");
    auto const& end = at(now, "uptime_seconds");
    if (!was.is_number() || !is.is_number() || !begin.is_number() || !end.is_number()) return std::nullopt;
    double const time = end.get<double>() - begin.get<double>(), added = is.get<double>() - was.get<double>();
    return time > 0 && added >= 0 ? std::optional(added / time) : std::nullopt;
}

std::string rate_text(std::optional<double> rate, bool bytes) {
    if (!rate) return "-";
    return (bytes ? human_bytes(static_cast<std::uint64_t>(*rate)) : with_decimals(*rate, 1)) + " a second";
}

std::vector<TopView::Row> figures_of(Json const& before, Json const& now) {
    auto const rate = [&](char const* path) { return rate_text(rate_of(before, now, path), false); };
    auto const bytes = [&](char const* path) { return rate_text(rate_of(before, now, path), true); };
    auto const shown_as = [&](char const* path, char const* unit) { return shown(at(now, path), unit); };
    return {{"requests", {rate("requests.total")}},
            {"hits", {rate("requests.hit")}},
            {"failed", {rate("requests.failed")}},
            {"refused", {rate("requests.refused")}},
            {"hit ratio, 60 s", {shown_as("hit_ratio.60s", "0 to 1")}},
            {"byte hit ratio, 60 s", {shown_as("byte_hit_ratio.60s", "0 to 1")}},
            {"to clients", {bytes("client.sent_bytes")}},
            {"from origins", {bytes("origin.received_bytes")}},
            {"connections", {shown_as("connections.now", "connections")}},
            {"hit time, 60 s (p50)", {shown_as("latency.hit.60s.p50_us", "µs")}},
            {"miss time, 60 s (p50)", {shown_as("latency.miss.60s.p50_us", "µs")}}};
}

// ---- lists ----

/// Names are text of clients and origins.
std::string clean(std::string const& text) {
    auto out = printable(text);
    std::ranges::replace(out, '\n', '?');
    std::ranges::replace(out, '\t', '?');
    return out;
}

TopView::Row used_row(char const* kind, Json const& row) {
    auto const requests = shown(at(row, "requests"), "requests");
    return {kind,
            {clean(text_at(row, "name")), requests + (requests == "1" ? " request" : " requests"), shown(at(row, "bytes"), "bytes"),
             clean(text_at(row, "reason"))}};
}

TopView::Row refused_row(char const* kind, Json const& row) {
    return {kind,
            {clean(text_at(row, "url")), clean(text_at(row, "client")), clean(text_at(row, "time")), clean(text_at(row, "rule"))}};
}

void add_list(TopView& view, Json const& rows, char const* title, char const* kind,
              TopView::Row (*row_of)(char const*, Json const&)) {
    TopView::List list{title, {}};
    if (!rows.is_array()) return;
    for (auto const& row : rows)
        if (list.rows.size() < rows_of_list) list.rows.push_back(row_of(kind, row));
    if (!list.rows.empty()) view.lists.push_back(std::move(list));
}

// ---- screen ----

std::string padded(std::string text, std::size_t width) {
    auto const taken = columns(text);
    return taken < width ? text + std::string(width - taken, ' ') : text;
}

/// The first whole characters.
std::string within(std::string text, std::size_t width) {
    auto const is_inner = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
    while (columns(text) > width) {
        while (!text.empty() && is_inner(text.back())) text.pop_back();
        if (!text.empty()) text.pop_back();
    }
    return text;
}

std::string list_line(TopView::Row const& row, std::size_t width) {
    constexpr std::size_t narrow = 18, name_least = 20;
    auto const name = std::max(name_least, width > 3 * narrow ? width - 3 * narrow : 0);
    auto line = "  " + padded(within(row.cells.front(), name - 2), name - 2);
    for (std::size_t i = 1; i < row.cells.size(); ++i) line += padded(" " + within(row.cells[i], narrow - 2), narrow);
    return line;
}

}   // namespace

TopView top_view(Json const& before, Json const& now) {
    TopView view{summary_title(now), clean(text_at(now, "health.sentence")), {}, figures_of(before, now), {}};
    auto const& items = at(now, "health.items");
    if (items.is_array())
        for (auto const& item : items) view.problems.push_back(clean(text_at(item, "what") + " (" + text_at(item, "fix") + ")"));
    add_list(view, at(now, "top.hosts"), "Hosts", "host", used_row);
    add_list(view, at(now, "top.clients"), "Clients", "client", used_row);
    add_list(view, at(now, "top.misses"), "Misses", "miss", used_row);
    add_list(view, at(now, "refusals"), "Refused", "refused", refused_row);
    return view;
}

std::string top_screen(TopView const& view, std::size_t lines, std::size_t width) {
    constexpr std::size_t half = 40, name = 23;
    std::vector<std::string> all{view.health, view.title, ""};
    all.insert(all.begin() + 1, view.problems.begin(), view.problems.end());
    for (auto const& [kind, cells] : view.figures) {
        auto const figure = padded(kind, name) + cells.front();
        bool const beside = width >= 2 * half && columns(all.back()) < half && all.back().starts_with(' ');
        if (beside)
            all.back() = padded(all.back(), half) + figure;
        else
            all.push_back(" " + figure);
    }
    for (auto const& list : view.lists) {
        all.insert(all.end(), {"", list.title});
        for (auto const& row : list.rows) all.push_back(list_line(row, width));
    }
    std::string out;
    for (std::size_t i = 0; i < std::min(all.size(), lines); ++i) out += (i > 0 ? "\n" : "") + within(all[i], width);
    return out;
}

std::string top_lines(TopView const& view, std::string_view time) {
    std::string out;
    auto const add = [&](std::string const& kind, std::vector<std::string> const& cells) {
        out.append(time).append("\t" + kind);
        for (auto const& cell : cells) out += "\t" + cell;
        out += "\n";
    };
    add("health", {view.health});
    for (auto const& problem : view.problems) add("problem", {problem});
    for (auto const& [kind, cells] : view.figures) add(kind, cells);
    for (auto const& list : view.lists)
        for (auto const& [kind, cells] : list.rows) add(kind, cells);
    return out;
}

}   // namespace garner::admin
