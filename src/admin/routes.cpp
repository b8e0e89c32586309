#include "admin/routes.hpp"

#include <algorithm>

#include "admin/cache_pages.hpp"
#include "admin/explain_json.hpp"
#include "admin/metrics.hpp"
#include "admin/page.hpp"
#include "admin/stats_json.hpp"
#include "http/uri.hpp"
#include "proxy/target.hpp"
#include "store/disk_store.hpp"
#include "util/text.hpp"

namespace garner::admin {

namespace {

Reply refusal(unsigned status, std::string text) {
    Reply reply;
    reply.status = status;
    reply.body = std::move(text) + "\n";
    return reply;
}

Reply wrong_method(std::string allow) {
    auto reply = refusal(405, "Here are only: " + allow);
    reply.allow = std::move(allow);
    return reply;
}

Reply not_meant() { return refusal(403, "To change something, send the field: Garner-Admin: 1"); }

Reply of_type(std::string type, std::string body) {
    Reply reply;
    reply.type = std::move(type);
    reply.body = std::move(body);
    return reply;
}

/// A name that an attacker points here (DNS rebinding) would make a foreign page's script one of our own: only the
/// address itself is taken, and what the operator has named.
bool is_own_name(std::string_view host, IpEndpoint const& own, std::span<std::string const> names) {
    http::UriError error;
    auto const authority = http::parse_authority(host, error);
    auto const is_it = [&](std::string const& name) { return equals_ignoring_case(name, authority->host); };
    if (authority && std::any_of(names.begin(), names.end(), is_it)) return true;   // on any port
    auto const address = authority ? parse_ip(authority->host) : std::nullopt;
    if (!address) return false;
    std::uint16_t const port = authority->port ? authority->port : 80;
    return IpEndpoint{*address, port} == own;
}

/// `{"purged": true, "peers": [{"name": "campus", "answer": "purged"}]}`; without peers only the first.
std::string purge_json(bool here, std::span<icp::PurgeResult const> peers) {
    std::string text = here ? "{\"purged\": true" : "{\"purged\": false";
    nlohmann::ordered_json list;
    for (auto const& peer : peers) list.push_back({{"name", peer.name}, {"answer", icp::words_of(peer)}});
    if (!list.empty()) text += ", \"peers\": " + list.dump();
    return text + "}\n";
}

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    c = to_lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

std::optional<std::string> form_decoded(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '+') {
            out += ' ';
        } else if (text[i] != '%') {
            out += text[i];
        } else {
            if (text.size() - i < 3) return std::nullopt;
            int const high = hex_digit(text[i + 1]), low = hex_digit(text[i + 2]);
            if (high < 0 || low < 0) return std::nullopt;
            out += static_cast<char>(high * 16 + low);
            i += 2;
        }
    }
    return out;
}

}  // namespace

Reply Routes::answer(Request const& request) {
    if (request.hosts.size() != 1) return refusal(400, "One Host field is wanted.");
    if (!is_own_name(request.hosts.front(), request.own, names_))
        return refusal(421, "This is http://" + request.own.text() + "/. To reach it under another name, list that in admin.names.");

    bool const absolute = !request.target.starts_with('/');
    if (absolute && request.method == "PURGE") return purge(request, request.target);
    if (absolute) return refusal(421, "This is not a proxy.");

    auto const mark = request.target.find('?');
    auto const path = request.target.substr(0, mark);
    if (path == "/purge") {
        if (request.method != "POST" && request.method != "PURGE") return wrong_method("POST, PURGE");
        auto url = mark == path.npos ? std::string() : form_value(request.target.substr(mark + 1), "url");
        if (url.empty()) url = form_value(request.body, "url");
        return purge(request, url);
    }
    if (path == "/explain") {
        // It changes nothing: a GET will do, and a POST takes what is too long for a target.
        if (request.method == "GET" || request.method == "HEAD")
            return explain(request, mark == path.npos ? std::string_view() : request.target.substr(mark + 1));
        return request.method == "POST" ? explain(request, request.body) : wrong_method("GET, HEAD, POST");
    }
    if (path == "/rebuild-digest") return request.method == "POST" ? rebuild_digest(request) : wrong_method("POST");
    constexpr std::string_view cache = "/cache/";
    if (path.starts_with(cache))
        return request.method == "POST" ? cache_page(request, path.substr(cache.size())) : wrong_method("POST");
    if (!shows_figures(path))
        return refusal(404, "There is /, /metrics, /stats.json, /explain?url=... and, for POST, /purge?url=..., "
                            "/cache/list, /cache/verify, /cache/purge?pattern=... and /rebuild-digest");
    if (request.method != "GET" && request.method != "HEAD") return wrong_method("GET, HEAD");
    return show(path);
}

bool Routes::shows_figures(std::string_view target) {
    auto const path = target.substr(0, target.find('?'));
    return path == "/" || path == "/metrics" || path == "/stats.json";
}

Reply Routes::show(std::string_view path) {
    auto const now = report();
    if (path == "/metrics") return of_type("text/plain; version=0.0.4; charset=utf-8", metrics_text(now));
    if (path == "/stats.json") return of_type("application/json", stats_json(now).dump(2) + "\n");
    auto reply = of_type("text/html; charset=utf-8", page(stats_json(now)));
    reply.content_policy = page_policy();
    return reply;
}

Reply Routes::purge(Request const& request, std::string_view url) {
    if (!request.meant) return not_meant();
    http::UriError error;
    if (url.empty()) return refusal(400, "A url is wanted: POST /purge?url=http%3A%2F%2Fexample.com%2F");
    auto const uri = http::parse_absolute(url, error);
    if (!uri) return refusal(400, std::string("The url is not one: ") + error.refusal);
    std::string normal;
    http::append_normalised(*uri, normal);
    bool found = server_.cache().purge_url(normal);
    auto const peers = server_.mesh().agent(0).purge_and_wait(normal);
    // A peer may have given the old object before it purged its own.
    found |= !peers.empty() && server_.cache().purge_url(normal);
    auto* disk = server_.cache().disk();
    if (disk && !disk->wait_until_settled(store::DiskStore::Survives::power))
        return refusal(503, "It is purged, but the disk does not take that in time: after a crash it may be there again.\n" +
                                icp::text_of(peers));
    return of_type("application/json", purge_json(found, peers));
}

Reply Routes::rebuild_digest(Request const& request) {
    if (!request.meant) return not_meant();
    bool const published = server_.mesh().peer_table()->options.digest.publish;
    if (published) server_.mesh().rebuild_digest();
    return of_type("application/json", published ? "{\"rebuilding\": true}\n" : "{\"rebuilding\": false}\n");
}

/// Reading a segment is work that a foreign page must not give us either.
Reply Routes::cache_page(Request const& request, std::string_view which) {
    if (!request.meant) return not_meant();
    PageQuestion question;
    using enum PageQuestion::What;
    auto const known = {list, verify, purge};
    auto const asked = std::find_if(known.begin(), known.end(), [&](auto what) { return name_of(what) == which; });
    if (asked == known.end()) return refusal(404, "There is /cache/list, /cache/verify and /cache/purge");
    question.what = *asked;
    question.pattern = form_value(request.body, "pattern");
    question.at = form_value(request.body, "at");
    if (question.what == purge && question.pattern.empty())
        return refusal(400, "A pattern is wanted: POST /cache/purge with pattern=http%3A%2F%2Fexample.com%2F, or * for all");
    auto& cache = server_.cache();
    auto const page = admin::cache_page(&cache, cache.disk(), question);
    if (page.contains("fault")) return refusal(400, page["fault"].get<std::string>());
    return of_type("application/json", page.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
}

Reply Routes::explain(Request const& request, std::string_view form) {
    proxy::ExplainQuestion question;
    question.url = form_value(form, "url");
    if (question.url.empty()) return refusal(400, "A url is wanted: /explain?url=http%3A%2F%2Fexample.com%2F");
    if (auto method = form_value(form, "method"); !method.empty()) question.method = std::move(method);
    question.fields = form_values(form, "field");
    question.accelerated = form_value(form, "accelerator") == "1";
    // A foreign page must not make us send what it likes to others, nor keep us waiting.
    question.asks_others = request.meant;
    if (auto const client = form_value(form, "client"); !client.empty()) {
        auto const address = parse_ip(client);
        if (!address) return refusal(400, "The client is not an IP address.");
        question.client = *address;
    }
    auto const explained = proxy::explain(server_, question);
    if (!explained.fault.empty()) return refusal(400, explained.fault);
    // A URL is bytes, not always UTF-8.
    auto const json = explain_json(explained).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    return of_type("application/json", json + "\n");
}

Report Routes::report() {
    Report report;
    report.figures = take_figures(server_);
    report.ratios = samples_.all(sample_of(report.figures));
    report.latencies = latencies_.over(report.figures.at, {report.figures.hit_time, report.figures.miss_time});
    report.disk_costs = laps_.costs(report.figures.disk);
    return report;
}

void Routes::sample() {
    auto const figures = take_figures(server_);
    samples_.add(sample_of(figures));
    latencies_.add(figures.at, {figures.hit_time, figures.miss_time});
    laps_.look(figures.disk);
}

std::vector<std::string> form_values(std::string_view form, std::string_view name) {
    std::vector<std::string> values;
    while (!form.empty()) {
        auto const part = form.substr(0, form.find('&'));
        form.remove_prefix(std::min(part.size() + 1, form.size()));
        if (part.substr(0, part.find('=')) != name || part.size() <= name.size()) continue;
        values.push_back(form_decoded(part.substr(name.size() + 1)).value_or(""));
    }
    return values;
}

std::string form_value(std::string_view form, std::string_view name) {
    auto values = form_values(form, name);
    return values.empty() ? std::string() : std::move(values.front());
}

}  // namespace garner::admin
