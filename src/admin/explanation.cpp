#include "admin/explanation.hpp"

#include <algorithm>

#include "admin/explain_json.hpp"
#include "admin/explain_rows.hpp"
#include "admin/explain_text.hpp"
#include "admin/figures.hpp"
#include "admin/human.hpp"
#include "http/uri.hpp"
#include "proxy/explain.hpp"
#include "proxy/moment.hpp"
#include "proxy/refusals.hpp"
#include "util/ip.hpp"
#include "util/text.hpp"

namespace garner::admin {

namespace explanation_part {

constexpr std::size_t id_shortest = 6, refusals_max = 5;
constexpr char const* no_refusal =
    "no refused request has this id. The last 50 of each client and the last 256 of all are kept; the "
    "access log in JSON has every request with its id";

/// Ids are made of digits, hexadecimal letters, '.' and '-'.
bool may_be_id(std::string_view text) {
    constexpr std::string_view letters = "0123456789abcdef.-";
    return text.size() >= id_shortest && text.find_first_not_of(letters) == text.npos;
}

/// A form like that of 1764078120.123-9f3a0c1d, which is no host.
bool is_whole_id(std::string_view text) {
    auto const dot = text.find('.'), dash = text.find('-');
    return may_be_id(text) && dot != text.npos && dash == dot + 4 && text.size() == dash + 9;
}

void add_refusal(Explained& out, proxy::Refused const& one) {
    auto const add = [&](char const* subject, std::string const& text) {
        if (!text.empty()) out.lines.push_back({subject, text});
    };
    add("verdict", "refused by " + one.rule);
    add("because", one.because);
    add("time", proxy::moment_text(one.at));
    add("client", one.client.text());
    add("user", one.user);
    add("request", one.method + " " + one.url);
    add("destination", one.destination ? one.destination->text() : "");
    add("id", one.id);
}

/// Whether the text is the id of a request; then the lines of a refused one are added.
bool explain_id(proxy::Server& server, Explained& out) {
    if (!may_be_id(out.asked)) return false;
    auto const found = server.shared().refusals.find(out.asked, 2);
    if (found.empty() && !is_whole_id(out.asked)) return false;
    if (found.empty()) {
        out.title = "Request " + out.asked;
        out.lines.push_back({"note", no_refusal});
        return true;
    }
    out.title = "Refused request " + found.front().id;
    if (found.size() > 1) out.lines.push_back({"note", "several ids begin with this text; this is one of them"});
    add_refusal(out, found.front());
    return true;
}

/// Adds the last refusals that match.
template <class Match>
void add_refusals(proxy::Server& server, Explained& out, Match match) {
    std::size_t count = 0;
    for (auto const& one : server.shared().refusals.latest())
        if (match(one) && count++ < refusals_max)
            out.lines.push_back({"refused", proxy::moment_text(one.at) + ": " + one.method + " " + one.url + " of " +
                                                one.client.text() + " by " + one.rule + " (id " + one.id + ")"});
}

std::string counted(TopRow const& row, std::string thing) {
    if (row.requests != 1) thing += thing.ends_with('s') ? "es" : "s";
    return human_count(row.requests) + " " + thing + " in the last minutes, " + human_bytes(row.bytes) + " sent";
}

TopRow const* row_of(std::vector<TopRow> const& rows, std::string_view name) {
    auto const found = std::ranges::find(rows, name, &TopRow::name);
    return found == rows.end() ? nullptr : &*found;
}

void explain_client(proxy::Server& server, Explained& out) {
    out.title = "Client " + out.asked;
    auto const top = take_top(server, steady_now());
    if (auto const* row = row_of(top.clients, out.asked))
        out.lines.push_back({"requests", counted(*row, "request") + ", hits: " + human_count(row->hits)});
    add_refusals(server, out, [&](proxy::Refused const& one) { return one.client.text() == out.asked; });
    if (out.lines.empty()) out.lines.push_back({"requests", "none are known of a client with this address"});
    auto const address = parse_ip(out.asked);
    auto const host = address && !address->is_v4() ? "[" + address->text() + "]" : out.asked;
    out.lines.push_back({"note", "For a server with this address write http://" + host + "/"});
}

/// Adds the last misses and refusals of the URL.
void add_past(proxy::Server& server, Explained& out, std::string const& url) {
    auto const top = take_top(server, steady_now());
    auto const before = out.lines.size();
    if (auto const* row = row_of(top.misses, url))
        out.lines.push_back({"lately", counted(*row, "miss") + (row->reason.empty() ? "" : "; the last one: " + row->reason)});
    auto const without_query = url.substr(0, url.find('?'));
    add_refusals(server, out, [&](proxy::Refused const& one) { return one.url == without_query; });
    if (out.lines.size() == before)
        out.lines.push_back({"lately", "no miss among the most frequent ones, and no refusal; hits are counted by host"});
}

void explain_url(proxy::Server& server, Explained& out, bool asks_others) {
    proxy::ExplainQuestion question;
    question.url = url_of(out.asked);
    question.asks_others = asks_others;
    auto const explained = proxy::explain(server, question);
    out.title = "The next request for " + out.asked;
    if (!explained.fault.empty()) {
        out.lines.push_back({"error", printable(explained.fault)});
        if (may_be_id(out.asked)) out.lines.push_back({"note", no_refusal});
        return;
    }
    for (auto& line : explain_lines(explain_json(explained))) out.lines.push_back({std::move(line.subject), std::move(line.text)});
    add_past(server, out, explained.url);
}

}   // namespace explanation_part

Explained explanation_of(proxy::Server& server, std::string const& asked, bool asks_others) {
    using namespace explanation_part;
    Explained out{std::string(trim(asked)), ""};
    if (explain_id(server, out) || explain_row(server, out)) return out;
    if (parse_ip(out.asked))
        explain_client(server, out);
    else
        explain_url(server, out, asks_others);
    return out;
}

std::string url_of(std::string const& asked) {
    constexpr std::uint16_t http_port = 80;
    if (asked.find("://") != asked.npos) return asked;
    auto const slash = std::min(asked.find('/'), asked.size());
    auto const authority = http::parse_authority(std::string_view(asked).substr(0, slash));
    if (!authority) return asked;
    if (slash < asked.size()) return "http://" + asked;
    bool const secure = authority->port != 0 && authority->port != http_port;
    return (secure ? "https://" : "http://") + asked + "/";
}

}   // namespace garner::admin
