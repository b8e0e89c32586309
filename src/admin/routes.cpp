#include "admin/routes.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "admin/cache_pages.hpp"
#include "admin/compressed.hpp"
#include "admin/events.hpp"
#include "admin/explain_json.hpp"
#include "admin/explanation.hpp"
#include "admin/form_fields.hpp"
#include "admin/group_json.hpp"
#include "admin/json_members.hpp"
#include "admin/metrics.hpp"
#include "admin/own_name.hpp"
#include "admin/page.hpp"
#include "admin/page_sections.hpp"
#include "admin/web_files.hpp"
#include "admin/purge_order.hpp"
#include "auth/authenticator.hpp"
#include "group/group.hpp"
#include "http/uri.hpp"
#include "proxy/moment.hpp"
#include "proxy/refusals.hpp"
#include "proxy/replication.hpp"
#include "store/disk_store.hpp"
#include "util/text.hpp"

namespace garner::admin {

using web::Reply;

struct Routes::Asked {
    web::Request const& request;
    std::string_view body;
    Visitor const& visitor;
};

/// A new page needs a function and a row here.
struct Routes::Row {
    std::string_view path, methods;
    Role role;      // the least that may send it
    bool changes;   // requires "Garner-Admin: 1" or a form token; a foreign page must not even make the proxy read a segment
    bool waits;     // for peers or the disk
    Reply (Routes::*answer)(Asked const&);
};

Routes::Row const Routes::rows[]{
    {"/", "GET, HEAD", Role::viewer, false, false, &Routes::page},
    {"/page.css", "GET, HEAD", Role::none, false, false, &Routes::style},
    {"/page.js", "GET, HEAD", Role::none, false, false, &Routes::script},
    {"/events", "GET", Role::viewer, false, false, &Routes::events},
    {"/explanation", "GET, HEAD", Role::viewer, false, true, &Routes::explanation},
    {"/metrics", "GET, HEAD", Role::viewer, false, false, &Routes::metrics},
    {"/stats.json", "GET, HEAD", Role::viewer, false, false, &Routes::stats},
    // Monitors and balancers have no tokens.
    {"/health.json", "GET, HEAD", Role::none, false, false, &Routes::health},
    {"/login", "GET, HEAD, POST", Role::none, false, false, &Routes::login},
    {"/logout", "POST", Role::viewer, true, false, &Routes::logout},
    // Changes nothing: GET is sufficient, and POST allows arguments that are too long for a target.
    {"/explain", "GET, HEAD, POST", Role::viewer, false, true, &Routes::explain},
    {"/purge", "POST, PURGE", Role::operator_, true, true, &Routes::purge},
    {"/group", "GET, HEAD", Role::viewer, false, true, &Routes::group},
    {"/group/fetch", "POST", Role::operator_, true, true, &Routes::fetch_for_group},
    {"/rebuild-digest", "POST", Role::operator_, true, true, &Routes::rebuild_digest},
    {"/log/reopen", "POST", Role::operator_, true, true, &Routes::reopen_logs},
    {"/bump/pins", "GET, HEAD", Role::viewer, false, false, &Routes::pins},
    {"/bump/pins/erase", "POST", Role::operator_, true, false, &Routes::erase_pins},
    {"/quota/reset", "POST", Role::operator_, true, false, &Routes::reset_quota},
    {"/refusal", "POST", Role::viewer, false, false, &Routes::refusal},
    {"/user", "POST", Role::viewer, false, true, &Routes::user},
    {"/cache/list", "POST", Role::viewer, true, true, &Routes::cache_page},
    {"/cache/verify", "POST", Role::operator_, true, true, &Routes::cache_page},
    {"/cache/purge", "POST", Role::operator_, true, true, &Routes::cache_page},
};

namespace {

/// A PURGE may name the URL of the object itself.
bool is_absolute(web::Request const& request) { return !request.target.starts_with('/'); }

Reply refused(unsigned status, std::string const& text) { return {status, text + "\n"}; }

/// URLs and text from origins are bytes, which may be invalid UTF-8.
Reply in_json(Json const& json, int indent = -1) {
    return {200, json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n", "application/json"};
}

bool has_field(web::Request const& request) { return request.value("Garner-Admin") == "1"; }

/// A foreign page must not make the proxy send requests to other servers.
bool may_ask_others(web::Request const& request) { return has_field(request) || request.value("Sec-Fetch-Site") == "same-origin"; }

double rounded(double milliseconds) { return std::round(milliseconds * 1'000) / 1'000; }

/// For the log: without control characters, and short.
std::string one_line(std::string_view text) {
    constexpr std::size_t most = 256;
    std::string out;
    for (char const c : text.substr(0, most)) out += c >= ' ' && c < 0x7f ? c : '?';
    return out + (text.size() > most ? "..." : "");
}

/// A logged-in client has a user, groups, or both; otherwise there is no identity.
std::optional<http::Identity> identity_in(std::string_view form) {
    http::Identity identity{.user = form_value(form, "user"), .groups = form_values(form, "group")};
    return identity.logged_in() ? std::optional(std::move(identity)) : std::nullopt;
}

constexpr std::size_t id_bytes_max = 64;
constexpr std::string_view kept_refusals =
    "The proxy keeps the last 50 of each client since its start: 403 of access rules and blocked destinations, and 407, 429 "
    "and 503 after credentials. Of accelerators it has those among the last 256 of all. It keeps no 407 without credentials.";

/// Names at most `named_max` of the ids.
std::string several_ids(std::string_view id, std::span<proxy::Refused const> all, std::size_t named_max) {
    auto text = "Several refused requests have an id that begins with " + std::string(id);
    for (std::size_t i = 0; i < std::min(named_max, all.size()); ++i) text.append(i == 0 ? ": " : ", ").append(all[i].id);
    return text + (all.size() > named_max ? " and more" : "") + "; write more of the id";
}

Json refusal_json(proxy::Refused const& one) {
    return {{"id", one.id},
            {"at", proxy::moment_text(one.at)},
            {"source", one.client.text()},
            {"listener", one.listener},
            {"user", one.user},
            {"groups", one.groups},
            {"unknown_groups", one.unknown_groups},
            {"method", one.method},
            {"url", one.url},
            {"destination", one.destination ? one.destination->text() : std::string()},
            {"rule", one.rule},
            {"because", one.because}};
}

}   // namespace

std::optional<Reply> Routes::refusal(web::Request const& request, std::span<IpNetwork const> allow,
                                     std::span<std::string const> names) {
    auto const& client = request.client;
    if (!client.is_loopback() && !is_among(client, allow))
        return refused(403, "The admin address does not serve " + client.text() + ": add its network to admin.allow.");
    if (request.count("Host") == 0) return refused(400, "The request must have one Host field.");
    if (is_own_name(request.value("Host"), request.own, names)) return std::nullopt;
    return refused(421, "This is http://" + request.own.text() + "/. To use another name, add it to admin.names.");
}

std::optional<Reply> Routes::denial(web::Request const& request, std::string_view body, Visitor const& visitor) {
    if (is_absolute(request) && request.method != "PURGE") return refused(421, "The admin address is not a proxy.");
    auto const* const row = row_of(request);
    if (!row)
        return refused(404, "Not found. Valid paths: /, /page.css, /page.js, /events, /explanation?url=..., /metrics, /stats.json, "
                            "/health.json, /group, /login, /explain?url=..., /bump/pins and, with POST, /purge?url=..., "
                            "/group/fetch?url=..., /log/reopen, "
                            "/bump/pins/erase, /quota/reset, /cache/list, /cache/verify, "
                            "/cache/purge?pattern=... and /rebuild-digest");
    if (auto const wrong = web::wrong_method(request, row->methods)) return wrong;
    if (visitor.role < row->role && visitor.role == Role::none) return needs_token(request);
    if (visitor.role < row->role)
        return refused(403, visitor.name + " has the role viewer. This request needs the role operator: see admin.tokens.");
    bool const only_reads = request.method == "GET" || request.method == "HEAD";
    if (only_reads ? is_embedded(request) : is_foreign(request))
        return refused(403, "A page of another site sent this request (Origin, Sec-Fetch-Site): it is refused.");
    bool const meant = has_field(request) || is_same_secret(visitor.form_token, form_value(body, "form_token"));
    if (row->changes && !meant) return refused(403, "A request that changes something needs the field Garner-Admin: 1");
    return std::nullopt;
}

Reply Routes::answer(web::Request const& request, std::string_view body, Visitor const& visitor) {
    return (this->*row_of(request)->answer)({request, body, visitor});
}

/// The later pages of a walk over the cache belong to the change that its first page begins.
std::string Routes::change(web::Request const& request, std::string_view body) {
    auto const* const row = row_of(request);
    if (!row || row->role != Role::operator_ || !form_value(body, "at").empty()) return {};
    auto text = std::string(request.method) + " " + std::string(row->path);
    auto what = is_absolute(request) ? std::string(request.target) : std::string();
    for (auto const* const name : {"url", "prefix", "tag", "all", "pattern", "host", "name"})
        for (auto const form : {request.query, body})
            if (auto const value = form_value(form, name); what.empty() && !value.empty()) what = name + (" " + value);
    if (auto const client = form_value(body, "client"); !client.empty()) what += " client " + client;
    return one_line(what.empty() ? text : text + " " + what);
}

Routes::Row const* Routes::row_of(web::Request const& request) {
    auto const* const row = std::ranges::find(rows, is_absolute(request) ? "/purge" : request.path, &Row::path);
    return row == std::end(rows) ? nullptr : row;
}

std::vector<Routes::Path> Routes::paths() {
    std::vector<Path> all;
    for (auto const& row : rows) all.push_back({row.path, row.methods, row.role, row.changes});
    return all;
}

bool Routes::waits(web::Request const& request) {
    auto const* const row = row_of(request);
    return row && row->waits;
}

bool Routes::changes(web::Request const& request) {
    auto const* const row = row_of(request);
    return row && row->changes;
}

Reply Routes::metrics(Asked const&) { return {200, metrics_text(report()), "text/plain; version=0.0.4; charset=utf-8"}; }

Reply Routes::stats(Asked const&) { return in_json(stats_json(whole_report()), 2); }

Reply Routes::page(Asked const& asked) { return page_with(asked.request, nullptr); }

Reply Routes::page_with(web::Request const& request, Explained const* explained) {
    Reply reply{200, admin::page(model(), explained), "text/html; charset=utf-8"};
    reply.content_policy = page_policy;
    return compressed(std::move(reply), request);
}

PageModel Routes::model() { return page_model(stats_json(whole_report())); }

bool Routes::explains(web::Request const& request) {
    return request.path == "/" && request.method == "GET" && !form_value(request.query, "url").empty();
}

Explained Routes::explain_first(web::Request const& request) const {
    return explanation_of(server_, form_value(request.query, "url"), may_ask_others(request));
}

Reply Routes::style(Asked const& asked) {
    return compressed({200, std::string(page_css), "text/css; charset=utf-8"}, asked.request);
}

Reply Routes::script(Asked const& asked) {
    return compressed({200, std::string(page_js), "text/javascript; charset=utf-8"}, asked.request);
}

/// The server sends the events after it.
Reply Routes::events(Asked const&) { return {200, "", std::string(Events::type)}; }

/// `{"title":"Client 10.0.0.7","lines":[["requests","3 requests in the last minutes"]]}`
Reply Routes::explanation(Asked const& asked) {
    if (form_value(asked.request.query, "url").empty()) return refused(400, "The url is missing: /explanation?url=example.com");
    auto const explained = explain_first(asked.request);
    Json lines = Json::array();
    for (auto const& line : explained.lines) lines.push_back(Json::array({line.subject, line.text}));
    return in_json({{"title", explained.title}, {"lines", std::move(lines)}});
}

/// `{"live":true,"ready":true,"state":"serving"}`. Monitors look at the status: 503 for "no".
Reply Routes::health(Asked const& asked) {
    auto const responds = [now = steady_now()](auto const* services) { return services->worker.responds(now); };
    bool const live = std::ranges::all_of(server_.shared().workers, responds);
    bool const ready = live && !server_.mesh().draining();
    auto const* const state = !live ? "stuck" : ready ? "serving" : "draining";
    Json json{{"live", live}, {"ready", ready}, {"state", state}};
    // Load balancers ask often, without a token, and need no figures.
    if (asked.visitor.role >= Role::viewer && form_value(asked.request.query, "problems") == "1") {
        auto const health = report().health;
        json["health"] = name_of(health.state);
        json["sentence"] = health.sentence;
    }
    auto reply = in_json(json);
    bool const wanted = form_value(asked.request.query, "ready") == "1" ? ready : live;
    if (!wanted) reply.status = 503;
    return reply;
}

Reply Routes::login(Asked const& asked) {
    return asked.request.method == "POST" ? access_.login(asked.request, asked.body)
                                          : access_.login_page(asked.request, asked.visitor);
}

Reply Routes::logout(Asked const& asked) { return access_.logout(asked.request); }

Reply Routes::reopen_logs(Asked const&) {
    auto const reopened = server_.reopen_log();
    if (!reopened) return refused(500, reopened.fault().text() + "; still writing to the former file");
    return in_json({{"reopened", true}});
}

Reply Routes::purge(Asked const& asked) {
    if (is_absolute(asked.request)) return purge_url(asked.request.target);
    auto const order = purge_order_in(asked.request.query, asked.body);
    if (!order) return refused(400, order.fault().text());
    if (order->is_for_one_url()) return purge_url(order->url);
    auto const what = invalidation_of(*order);
    return what ? invalidate(*what, order->wait) : refused(400, what.fault().text());
}

/// `{"purged":true,"accepted":"tag news","voters":3,"stored":2,"milliseconds":3.1}`
Reply Routes::invalidate(cache::Invalidation const& what, bool waits) {
    auto const begun = steady_now();
    auto& cache = server_.cache();
    bool const is_of_url = what.kind == cache::Invalidation::Kind::url;
    if (is_of_url && !cache.invalidations.covers_url(what.text))
        return refused(400, "group.objects does not cover this URL: purge it without group and soft");
    auto const outcome = submit(what, waits);
    if (!outcome.accepted) return refused(503, outcome.text());
    auto const disk = cache.disk().store();
    if (disk && !disk->wait_until_settled(store::Survives::power))
        return refused(503, "Accepted, but the disk did not confirm it in time: it may not hold after a crash.");
    Json json{{"purged", true},
              {"accepted", cache::text_of(what)},
              {"soft", what.soft},
              {"voters", outcome.voters},
              {"stored", outcome.stored}};
    std::chrono::duration<double, std::milli> const taken = steady_now() - begun;
    bool const is_shared = server_.group() != nullptr;
    auto const in_millis = [&](microseconds of_group) {
        std::chrono::duration<double, std::milli> const time = of_group;
        return rounded(is_shared ? time.count() : taken.count());
    };
    json["milliseconds"] = in_millis(outcome.took);
    if (waits) json["everywhere_milliseconds"] = in_millis(outcome.spread);
    return in_json(json);
}

/// A proxy without a group is a group of one.
group::SubmissionResult Routes::submit(cache::Invalidation const& what, bool waits) {
    if (server_.group()) return server_.group()->submit_and_wait(what, waits);
    auto& cache = server_.cache();
    cache.invalidate(what);
    if (what.kind == cache::Invalidation::Kind::url && !what.soft) cache.purge(what.text);
    return {.accepted = true, .everywhere = true, .stored = 1, .voters = 1, .took = {}, .spread = {}, .why = {}};
}

/// `{"purged":true,"peers":[{"name":"campus","answer":"purged"}]}`; without peers only the first member.
Reply Routes::purge_url(std::string_view url) {
    http::UriError error;
    auto const uri = http::parse_absolute(url, error);
    if (!uri) return refused(400, std::string("The url is not valid: ") + error.refusal);
    std::string normal;
    http::append_normalised(*uri, normal);
    bool found = server_.cache().purge(normal);
    auto const peers = server_.mesh().agent(0).purge_and_wait(normal);
    // A peer may have sent the old object before its own purge.
    found |= !peers.empty() && server_.cache().purge(normal);
    std::optional<group::SubmissionResult> of_group;
    if (server_.group() && server_.cache().invalidations.covers_url(normal))
        of_group = submit({.kind = cache::Invalidation::Kind::url, .soft = false, .origin = {}, .text = normal}, false);
    auto const disk = server_.cache().disk().store();
    if (disk && !disk->wait_until_settled(store::Survives::power))
        return refused(
            503, "Purged, but the disk did not confirm it in time: the object may be back after a crash.\n" + icp::text_of(peers));
    Json json{{"purged", found}};
    if (of_group) json["group"] = {{"accepted", of_group->accepted}, {"text", of_group->text()}};
    for (auto const& peer : peers) {
        auto& row = json["peers"].emplace_back(Json{{"name", peer.name}, {"answer", icp::words_of(peer)}});
        if (*peer.why) row["why"] = peer.why;
    }
    return in_json(json);
}

/// `{"state":"current", ...}`; "none" for a proxy that shares no invalidations.
Reply Routes::group(Asked const&) {
    if (!server_.group()) return in_json({{"state", "none"}});
    auto const state = server_.group()->state();
    return state ? in_json(group_json(*state), 2) : refused(503, "The group of this proxy does not respond.");
}

/// `{"accepted":"http://example.com/film","voters":3,"stored":3,"milliseconds":3.1}`
Reply Routes::fetch_for_group(Asked const& asked) {
    if (!server_.shared().replication) return refused(400, "This proxy is in no group: group.name is not set.");
    auto const normal = cache::url_invalidation(form_value(asked.body, "url"), false);
    if (!normal) return refused(400, normal.fault().text());
    if (!proxy::is_replicable(normal->text))
        return refused(400, "Only http:// URLs are replicated: members speak HTTP in clear text.");
    auto const outcome = server_.shared().replication->fetch_and_wait(normal->text);
    if (!outcome.accepted) return refused(503, outcome.voters == 0 ? outcome.why : outcome.text());   // nothing was submitted
    std::chrono::duration<double, std::milli> const took = outcome.took;
    return in_json({{"accepted", normal->text},
                    {"voters", outcome.voters},
                    {"stored", outcome.stored},
                    {"milliseconds", rounded(took.count())}});
}

Reply Routes::rebuild_digest(Asked const&) {
    bool const published = server_.mesh().peer_table()->options.digest.publish;
    if (published) server_.mesh().rebuild_digest();
    return in_json({{"rebuilding", published}});
}

/// `{"pins":[{"host":"www.example.com","client":"192.0.2.7","until":1764115200}]}`
Reply Routes::pins(Asked const&) {
    Json rows = Json::array();
    if (auto const interception = server_.interception())
        for (auto const& pin : interception->pins->list(wall_now()))
            rows.push_back({{"host", pin.host}, {"client", pin.client}, {"until", unix_seconds(pin.until)}});
    return in_json({{"pins", rows}});
}

/// `host` empty: all.
Reply Routes::erase_pins(Asked const& asked) {
    auto const interception = server_.interception();
    auto const host = form_value(asked.body, "host");
    return in_json({{"erased", interception ? interception->pins->erase(host, wall_now()) : 0}});
}

/// Without `client`: all subjects. An empty one may be a mistake of a script.
Reply Routes::reset_quota(Asked const& asked) {
    auto const name = form_value(asked.body, "name"), client = form_value(asked.body, "client");
    if (name.empty()) return refused(400, "The name is missing: POST /quota/reset with name=guests");
    bool const is_of_one = has_field(asked.body, "client");
    if (is_of_one && client.empty())
        return refused(400, "The client is empty: write client=10.9.0.7, or leave it out to reset the quota for all clients");
    auto const whose = is_of_one ? std::optional<std::string_view>(client) : std::nullopt;
    using enum share::Quotas::Reset;
    switch (server_.quotas().reset(name, whose, wall_now())) {
    case no_rule: return refused(404, "No quota has the name " + name.substr(0, id_bytes_max));
    case no_subject:
        return refused(404, "The quota " + name + " has not counted anything for " + client.substr(0, id_bytes_max) +
                                "; garner quota shows its clients");
    case ambiguous: {
        auto const shown = client.substr(0, id_bytes_max);
        return refused(409, "Both a user and a network have the name " + shown + ": write user:" + shown + " or source:" + shown);
    }
    case done: break;
    }
    return in_json({{"reset", name}, {"client", client}});
}

/// The refused request whose id begins with `id`, as `garner rules why --id` repeats it.
Reply Routes::refusal(Asked const& asked) {
    constexpr std::size_t shortest = 6, named_max = 10;
    auto const id = form_value(asked.body, "id");
    if (id.size() < shortest) return refused(400, "The id is too short: write at least its first 6 characters");
    auto const found = server_.shared().refusals.find(id, named_max + 1);
    if (found.empty())
        return refused(404, "No refused request has the id " + id.substr(0, id_bytes_max) + ". " + std::string(kept_refusals));
    if (found.size() > 1) return refused(409, several_ids(id, found, named_max));
    return in_json({{"refusal", refusal_json(found.front())}});
}

/// The groups of a user by name, for `garner rules why`.
Reply Routes::user(Asked const& asked) {
    auto const name = form_value(asked.body, "user");
    if (name.empty()) return refused(400, "The user is missing: POST /user with user=carol");
    auto const found = server_.logins().describe({.user = lower_case(name)}, wall_now(), auth::Authenticator::Asks::directory);
    return in_json({{"user", found->user},
                    {"groups", found->groups},
                    {"unknown_groups", found->unknown_groups},
                    {"why_unknown", found->why_unknown}});
}

Reply Routes::cache_page(Asked const& asked) {
    using enum PageQuestion::What;
    auto const path = asked.request.path;
    PageQuestion question{path.ends_with("list") ? list : path.ends_with("verify") ? verify : purge};
    question.pattern = form_value(asked.body, "pattern");
    question.at = form_value(asked.body, "at");
    if (question.what == purge && question.pattern.empty())
        return refused(400, "The pattern is missing: POST /cache/purge with pattern=http%3A%2F%2Fexample.com%2F, or * for all");
    auto& cache = server_.cache();
    auto const disk = cache.disk().store();
    auto const page = admin::cache_page(&cache, disk.get(), question);
    return page ? in_json(*page) : refused(400, page.fault().text());
}

Reply Routes::explain(Asked const& asked) {
    auto const form = asked.request.method == "POST" ? asked.body : asked.request.query;
    proxy::ExplainQuestion question;
    question.url = form_value(form, "url");
    if (question.url.empty()) return refused(400, "The url is missing: /explain?url=http%3A%2F%2Fexample.com%2F");
    if (auto method = form_value(form, "method"); !method.empty()) question.method = std::move(method);
    question.fields = form_values(form, "field");
    question.identity = identity_in(form);
    question.accelerated = form_value(form, "accelerator") == "1";
    if (auto const name = form_value(form, "sni"); !name.empty()) question.server_name = name == "-" ? "" : name;
    // A foreign page must not make the proxy send requests to other servers, or wait for them.
    question.asks_others = has_field(asked.request);
    if (auto const client = form_value(form, "client"); !client.empty()) {
        auto const address = parse_ip(client);
        if (!address) return refused(400, "The client is not an IP address.");
        question.client = *address;
    }
    if (auto const destination = form_value(form, "intercepted"); !destination.empty()) {
        question.intercepted = parse_ip(destination);
        if (!question.intercepted) return refused(400, "The address of intercepted is not an IP address.");
    }
    auto const explained = proxy::explain(server_, question);
    return explained.fault.empty() ? in_json(explain_json(explained), 2) : refused(400, explained.fault);
}

Report Routes::report() {
    Report report;
    report.figures = take_figures(server_);
    report.former = former_;
    auto const sample = sample_of(report.figures);
    report.ratios = samples_.all(sample);
    report.health = health_of(report.figures, samples_.trend(sample), wall_now());
    report.latencies = latencies_.over(report.figures.at, {report.figures.hit_time, report.figures.miss_time});
    report.disk_costs = laps_.costs(report.figures.disk);
    report.logins_failed = access_.logins_failed();
    report.sessions = access_.sessions();
    return report;
}

/// With the lists, too.
Report Routes::whole_report() {
    auto report = this->report();
    report.top = take_top(server_, report.figures.at);
    report.refusals = server_.shared().refusals.latest();
    report.failures = server_.shared().failures.latest();
    constexpr std::size_t subjects_max = 100;
    report.subjects = server_.shared().shares.largest(subjects_max);
    report.quotas = server_.shared().quotas.largest(subjects_max, wall_now());
    report.history = history_.all();
    return report;
}

Past Routes::past() const {
    auto const figures = take_figures(server_);
    return {.samples = samples_.handed(sample_of(figures)),
            .latencies = latencies_.handed(figures.at, {figures.hit_time, figures.miss_time}),
            .history = history_.handed(figures)};
}

void Routes::adopt(Past const& past) {
    auto const figures = take_figures(server_);
    samples_.adopt(past.samples, sample_of(figures));
    latencies_.adopt(past.latencies, figures.at);
    history_.adopt(past.history, figures);
}

void Routes::sample() {
    auto const figures = take_figures(server_);
    history_.add(figures);
    samples_.add(sample_of(figures));
    latencies_.add(figures.at, {figures.hit_time, figures.miss_time});
    laps_.look(figures.disk);
}

}   // namespace garner::admin
