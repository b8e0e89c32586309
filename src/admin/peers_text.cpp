#include "admin/peers_text.hpp"

#include <algorithm>
#include <vector>

#include "admin/human.hpp"
#include "admin/json_members.hpp"
#include "util/ip.hpp"

namespace garner::admin {

namespace {

/// "10.0.0.3:3128"; the host name while the address is unknown.
std::string where(Json const& peer) {
    auto const& port = at(peer, "http");
    auto const address = parse_ip(shown(at(peer, "address"), "text"));
    if (address && port.is_number_unsigned()) return IpEndpoint{*address, port.get<std::uint16_t>()}.text();
    return shown(at(peer, "host"), "text") + ":" + shown(port, "port");
}

std::string security(Json const& peer) {
    auto const& tls = at(peer, "tls");
    return !tls.is_boolean() ? "-" : tls.get<bool>() ? "yes" : "no";
}

/// The round-trip time of queries, or of connections if the peer is not queried.
std::string round_trip(Json const& peer) {
    for (auto const* name : {"query_rtt_ms", "connect_rtt_ms"})
        if (auto const& time = at(peer, name); time.is_number() && time.get<double>() >= 0)
            return human_micros(static_cast<std::uint64_t>(time.get<double>() * 1e3 + 0.5));
    return "-";
}

Json const* list_of_peers(Json const& stats) {
    auto const& peers = at(stats, "peers");
    return peers.is_array() && !peers.empty() ? &peers : nullptr;
}

// ---- as text ----

constexpr std::size_t width_max = 112;
constexpr std::size_t name_least = 8;
constexpr std::size_t place = 3;   // the column with the address
constexpr std::size_t texts = 6;   // the first columns are text, left-aligned; the others are numbers, right-aligned

using Row = std::vector<std::string>;

std::vector<std::size_t> widths_of(std::vector<Row> const& rows) {
    std::vector<std::size_t> widths(rows.front().size());
    for (auto const& row : rows)
        for (std::size_t i = 0; i < widths.size(); ++i) widths[i] = std::max(widths[i], columns(row[i]));
    return widths;
}

std::size_t total(std::vector<std::size_t> const& widths, std::size_t gap) {
    std::size_t sum = gap * (widths.size() - 1);
    for (auto width : widths) sum += width;
    return sum;
}

/// Names and hosts may have any length, so these columns are narrowed.
std::size_t fit(std::vector<std::size_t>& widths) {
    if (total(widths, 2) <= width_max) return 2;
    for (std::size_t const giving : {std::size_t{0}, place}) {
        auto const sum = total(widths, 1);
        if (sum <= width_max) break;
        auto const least = std::min(widths[giving], name_least);
        widths[giving] -= std::min(sum - width_max, widths[giving] - least);
    }
    return 1;
}

std::string line_of(Row const& row, std::vector<std::size_t> const& widths, std::size_t gap) {
    std::string out;
    for (std::size_t i = 0; i < row.size(); ++i) {
        auto const shown = cut(row[i], widths[i]);
        std::string const padding(widths[i] - columns(shown), ' ');
        if (i != 0) out.append(gap, ' ');
        out += i < texts ? shown + padding : padding + shown;
    }
    return out + "\n";
}

}   // namespace

std::optional<SummarySection> peers_table(Json const& stats) {
    auto const* peers = list_of_peers(stats);
    if (!peers) return std::nullopt;
    SummarySection table{
        "Peers",
        {"type", "state", "where", "tls", "https", "rtt", "queries", "replies", "hits", "false hits", "fetched", "saved"},
        {}};
    for (auto const& peer : *peers) {
        auto text = [&peer](char const* path) { return shown(at(peer, path), "text"); };
        auto count = [&peer](char const* path) { return shown(at(peer, path), "short count"); };
        table.lines.push_back(
            {text("name"),
             {text("type"), text("state"), where(peer), security(peer), text("https"), round_trip(peer), count("queries"),
              count("answers"), count("hits"), count("false_hits"), count("fetches"), shown(at(peer, "bytes_saved"), "bytes")},
             text("state") == "dead"});
    }
    std::ranges::stable_partition(table.lines, [](auto const& line) { return line.is_trouble; });
    return table;
}

std::string peers_text(Json const& stats) {
    auto const table = peers_table(stats);
    if (!table) return "no peers: none are configured, or DNS has named no server for them\n";
    std::vector<Row> rows;
    auto add = [&rows](std::string const& name, std::vector<std::string> const& values) {
        rows.push_back({name});
        rows.back().insert(rows.back().end(), values.begin(), values.end());
    };
    add("name", table->columns);
    for (auto const& line : table->lines) add(line.name, line.values);
    auto widths = widths_of(rows);
    auto const gap = fit(widths);
    std::string out;
    for (auto const& row : rows) out += line_of(row, widths, gap);
    return out;
}

}   // namespace garner::admin
