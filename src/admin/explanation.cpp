#include "admin/explanation.hpp"

#include <algorithm>

#include "admin/explain_json.hpp"
#include "admin/explain_rows.hpp"
#include "admin/explain_text.hpp"
#include "admin/figures.hpp"
#include "admin/human.hpp"
#include "cache/key.hpp"
#include "http/uri.hpp"
#include "proxy/explain.hpp"
#include "proxy/moment.hpp"
#include "proxy/recent_requests.hpp"
#include "proxy/refusals.hpp"
#include "util/ip.hpp"
#include "util/text.hpp"

namespace garner::admin {

namespace explanation_part {

constexpr std::size_t id_shortest = 6, refusals_max = 5, recent_max = 5;
constexpr char const* no_id =
    "no refused or failed request has this id. Kept are the last 50 refused ones of each client, the last 256 of all, "
    "and the last 256 failed ones; the access log in JSON has every request with an id";

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

void add_refusal(Explained& out, proxy::Refused const& one, char const* verdict) {
    auto const add = [&](char const* subject, std::string const& text) {
        if (!text.empty()) out.lines.push_back({subject, text});
    };
    add("verdict", verdict + one.rule);
    add("because", one.because);
    add("time", proxy::moment_text(one.at));
    add("client", one.client.text());
    add("user", one.user);
    add("request", one.method + " " + one.url);
    add("destination", one.destination ? one.destination->text() : "");
    add("id", one.id);
}

/// Whether the text is the id of an error page; then the lines of its request are added.
bool explain_id(proxy::Server& server, Explained& out) {
    if (!may_be_id(out.asked)) return false;
    auto found = server.shared().refusals.find(out.asked, 2);
    bool const is_refused = !found.empty();
    if (!is_refused) found = server.shared().failures.find(out.asked, 2);
    if (found.empty() && !is_whole_id(out.asked)) return false;
    if (found.empty()) {
        out.title = "Request " + out.asked;
        out.lines.push_back({"note", no_id});
        return true;
    }
    out.title = (is_refused ? "Refused request " : "Failed request ") + found.front().id;
    if (found.size() > 1) out.lines.push_back({"note", "several ids begin with this text; this is one of them"});
    add_refusal(out, found.front(), is_refused ? "refused by " : "failed: ");
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

/// Adds the last error pages of the URL that are no refusals.
void add_failures(proxy::Server& server, Explained& out, std::string_view url) {
    std::size_t count = 0;
    for (auto const& one : server.shared().failures.latest())
        if (one.url == url && count++ < refusals_max)
            out.lines.push_back({"failed", proxy::moment_text(one.at) + ": " + one.rule + " (id " + one.id + ")"});
}

/// "2026-11-26T12:03:10Z: miss (uri-miss), status 200, in 1.25 ms, client 10.0.0.7"
std::string text_of(proxy::RecentRequest const& one, SteadyTime now) {
    auto const end = wall_now() - std::chrono::duration_cast<WallTime::duration>(now - one.end);
    auto text = proxy::moment_text(end) + ": " + std::string(name_of(one.answer));
    if (auto const fwd = http::text(one.fwd); !fwd.empty() && one.answer != proxy::Answer::hit)
        text += " (" + std::string(fwd) + ")";
    if (one.status != 0) text += ", status " + std::to_string(one.status);
    return text + ", in " + human_micros(one.took_us) + ", client " + one.client.text();
}

/// The last requests for the URLs, on all workers. Requests through an accelerator have keys of their own.
void add_recent(proxy::Server& server, Explained& out, std::initializer_list<std::string_view> urls) {
    std::vector<Fingerprint> prints;
    std::string key;
    for (auto const url : urls)
        for (auto const partition : cache::partitions) {
            cache::write_key_text(partition, url, key);
            prints.push_back(server.cache().key(key).fingerprint);
        }
    std::vector<proxy::RecentRequest> found;
    std::size_t searched = 0;
    for (auto const* services : server.shared().workers) {
        services->recent->find(prints, recent_max, found);
        searched += services->recent->capacity();
    }
    std::ranges::sort(found, std::ranges::greater(), &proxy::RecentRequest::end);
    found.resize(std::min(found.size(), recent_max));
    auto const now = steady_now();
    for (auto const& one : found) out.lines.push_back({&one == found.data() ? "last requests" : "", text_of(one, now)});
    if (found.empty())
        out.lines.push_back({"last requests", "none for this URL among the last " + human_count(searched) + " of the proxy"});
}

/// Adds what the last requests for the URL met. `url` is that of the tunnel if the URL asked about is https.
void add_past(proxy::Server& server, Explained& out, std::string const& url) {
    http::UriError error;
    std::string asked;
    if (auto const text = url_of(out.asked); auto const uri = http::parse_absolute(text, error))
        http::append_normalised(*uri, asked);
    add_recent(server, out, {url, asked});
    auto const top = take_top(server, steady_now());
    if (auto const* row = row_of(top.misses, url))
        out.lines.push_back({"lately", counted(*row, "miss") + (row->reason.empty() ? "" : "; the last one: " + row->reason)});
    auto const without_query = url.substr(0, url.find('?'));
    add_refusals(server, out, [&](proxy::Refused const& one) { return one.url == without_query; });
    add_failures(server, out, without_query);
}

/// Through the forward proxy, or else through the accelerator of this origin.
proxy::Explanation explain_anywhere(proxy::Server& server, proxy::ExplainQuestion question) {
    auto explained = proxy::explain(server, question);
    if (explained.fault.empty()) return explained;
    question.accelerated = true;
    auto through_accelerator = proxy::explain(server, question);
    bool const is_better = through_accelerator.fault.empty() || explained.fault.starts_with("no listener");
    return is_better ? std::move(through_accelerator) : std::move(explained);
}

void explain_url(proxy::Server& server, Explained& out, bool asks_others) {
    proxy::ExplainQuestion question;
    question.url = url_of(out.asked);
    question.asks_others = asks_others;
    auto const explained = explain_anywhere(server, question);
    out.title = "The next request for " + out.asked;
    if (!explained.fault.empty()) {
        out.lines.push_back({"error", printable(explained.fault)});
        if (may_be_id(out.asked)) out.lines.push_back({"note", no_id});
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
