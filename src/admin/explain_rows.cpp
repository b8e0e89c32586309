#include "admin/explain_rows.hpp"

#include <algorithm>

#include "admin/health.hpp"
#include "admin/human.hpp"
#include "admin/metrics.hpp"
#include "admin/share_json.hpp"
#include "icp/peer_lookup.hpp"
#include "policy/policies.hpp"
#include "proxy/moment.hpp"
#include "proxy/rule_hits.hpp"
#include "util/ip.hpp"
#include "util/units.hpp"

namespace garner::admin {

namespace explain_rows_part {

constexpr std::size_t refusals_max = 10, subjects_max = 100;
constexpr std::string_view of_peer = "peer ";

std::string count(std::uint64_t number, std::string const& thing) {
    return human_count(number) + " " + thing + (number == 1 ? "" : "s");
}

// ---- peers ----

std::string state_of(icp::PeerStats const& peer) {
    bool const is_queried = !peer.options.no_query && icp::has_query_port(peer.options);
    switch (peer.health) {
    case icp::Health::alive:
        if (!is_queried) return "alive: Garner uses it without queries";
        return "alive: Garner queries it and waits for its replies";
    case icp::Health::suspect:
        return "suspect: it did not reply in time to the last query or request, so Garner does not wait for it";
    case icp::Health::dead: return "dead: Garner uses it only if no other source is left";
    }
    return "";
}

/// The most probable cause first.
std::string cause_of(icp::PeerStats const& peer) {
    if (peer.denied > 0 && peer.denied >= peer.answers / 2)
        return "it denies the queries of this cache: allow this address there (icp.allow of Garner, icp_access of Squid)";
    if (peer.connect_failures > 0)
        return count(peer.connect_failures, "connection") + " failed: check that it listens on port " +
               std::to_string(peer.options.http) + " of " + peer.options.host;
    if (peer.queries > 0 && peer.answers == 0)
        return "it has replied to no query: check that it runs, and that UDP reaches it and comes back";
    return "";
}

/// The host, and its address if the host is a name.
std::string place_of(icp::PeerStats const& peer) {
    auto const& host = peer.options.host;
    return peer.address.empty() || parse_ip(host) ? host : host + ", " + peer.address;
}

void explain_peer(RowFacts const& facts, std::string const& name, Explained& out) {
    auto const found = std::ranges::find(facts.figures.peers, name, [](auto const& peer) { return peer.options.name; });
    if (found == facts.figures.peers.end()) return;
    auto const& peer = *found;
    auto const add = [&](char const* subject, std::string const& text) {
        if (!text.empty()) out.lines.push_back({subject, text});
    };
    add("state", state_of(peer));
    add("cause", peer.health == icp::Health::alive ? "" : cause_of(peer));
    add("type", std::string(name_of(peer.options.type)) + " at " + place_of(peer));
    add("queries", "sent: " + human_count(peer.queries) + ", replies: " + human_count(peer.answers) +
                       ", not answered in time: " + human_count(peer.expired) + ", denied: " + human_count(peer.denied));
    add("hits", human_count(peer.hits) + ", of which it did not have the object: " + human_count(peer.false_hits));
    add("fetched", count(peer.fetches, "response") + ", " + human_bytes(peer.bytes));
}

// ---- access rules ----

template <class Match>
void add_refusals(RowFacts const& facts, Explained& out, Match match) {
    std::size_t found = 0;
    for (auto const& one : facts.refusals)
        if (match(one) && found++ < refusals_max)
            out.lines.push_back({"refused", proxy::moment_text(one.at) + ": " + one.method + " " + one.url + " of " +
                                                one.client.text() + " (id " + one.id + ")"});
}

void explain_rule(RowFacts const& facts, std::string const& label, Explained& out) {
    auto const& options = facts.figures.options;
    if (!options || !options->rule_hits) return;
    auto const rules = options->access.rules();
    auto const found = std::ranges::find_if(rules, [&](http::AccessRule const& rule) { return rule.label() == label; });
    if (found == rules.end()) return;
    auto const index = static_cast<std::size_t>(found - rules.begin());
    auto const hits = options->rule_hits->sums()[index];
    out.lines.push_back({"hits", count(hits, "request") + " decided since the start or the last change of the rules"});
    if (!found->because.empty()) out.lines.push_back({"because", found->because});
    for (auto const& dead : options->access.dead())
        if (dead.rule == index) out.lines.push_back({"dead", "it decides no request: " + dead.why});
    add_refusals(facts, out, [&](proxy::Refused const& one) { return one.rule == label; });
}

// ---- certificates ----

void explain_certificate(RowFacts const& facts, std::string const& name, Explained& out) {
    auto const found = facts.figures.certificates.find(name);
    if (found == facts.figures.certificates.end()) return;
    auto const end = found->second, now = facts.now;
    auto const days = std::chrono::floor<std::chrono::days>(end - now).count();
    out.lines.push_back(
        {"end", proxy::moment_text(end) + (end <= now ? ": it has expired" : ", in " + std::to_string(days) + " days")});
    auto const fix = "put a new certificate into its file, then run garner reload";
    out.lines.push_back(
        {"renewal", end - now <= HealthLimits::certificate ? fix : std::string("none is needed yet; later: ") + fix});
}

// ---- the line ----

/// "down 8 Mbit/s, up no limit"
std::string rates(Bytes down, Bytes up) {
    auto const one = [](Bytes rate) { return rate == 0 ? std::string("no limit") : rate_text(rate); };
    return "down " + one(down) + ", up " + one(up);
}

std::string volumes(Bytes down, Bytes up) { return "down " + human_bytes(down) + ", up " + human_bytes(up); }

void explain_user(RowFacts const& facts, std::string const& name, Explained& out) {
    auto const found = std::ranges::find(facts.subjects, name, &share::SubjectFigures::name);
    if (found == facts.subjects.end()) return;
    auto const& [down, up] = found->flows;
    auto const& line = facts.figures.share.rates;
    auto const waiting = down.waiting + up.waiting;
    auto const now = [](share::FlowFigures const& flow) { return static_cast<Bytes>(flow.bytes_per_second); };
    out.lines.push_back({"line", rates(line[0], line[1]) + "; users that wait for it get bytes in proportion to their weights"});
    out.lines.push_back({"weight", weight_in_json(down.weight).dump()});
    out.lines.push_back({"waiting", waiting == 0 ? "no transfer: the line has enough for what this user takes"
                                                 : count(waiting, "transfer") + ": the line is full"});
    out.lines.push_back({"a second", volumes(now(down), now(up))});
    out.lines.push_back({"moved", volumes(down.bytes, up.bytes)});
    add_refusals(facts, out, [&](proxy::Refused const& one) { return one.user == name || one.client.text() == name; });
}

void explain_cap(RowFacts const& facts, std::string const& name, Explained& out) {
    auto const& options = facts.figures.options;
    if (!options) return;
    auto const found = std::ranges::find(options->caps, name, &share::CapRule::name);
    if (found == options->caps.end()) return;
    out.lines.push_back({"cap", rates(found->down, found->up) + ", each: " + share::text(found->each)});
    for (auto const& figures : facts.figures.caps)
        if (figures.name == name) out.lines.push_back({"moved", volumes(figures.bytes[0], figures.bytes[1])});
    out.lines.push_back({"note", "The first cap that matches a request applies to it. The explanation of a URL has its cap."});
}

// ---- the group ----

std::string since(microseconds time) { return human_micros(static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0))); }

void explain_voter(RowFacts const& facts, std::string const& address, Explained& out) {
    auto const& group = facts.figures.group;
    if (!group) return;
    auto const found = std::ranges::find(group->voters, address, &group::GroupState::VoterRow::address);
    if (found == group->voters.end()) return;
    auto const& voter = *found;
    bool const holds = voter.left > group::Time(0);
    out.lines.push_back({"lease", holds ? "for " + since(voter.left) + " more"
                                        : "none: without the leases of a majority this proxy validates what the group covers"});
    if (!holds)
        out.lines.push_back({"cause", voter.trouble.empty() ? "it has answered no poll: check that it runs, and that its port is "
                                                              "reachable from here"
                                                            : voter.trouble});
    out.lines.push_back({"connection", voter.connected ? "established" : "none"});
    out.lines.push_back({"sequence", human_count(voter.sequence) + " of its invalidations have arrived here"});
}

void explain_member(RowFacts const& facts, std::string const& name, Explained& out) {
    auto const& group = facts.figures.group;
    if (!group) return;
    auto const found = std::ranges::find(group->members, name, &group::GroupState::MemberRow::name);
    if (found == group->members.end()) return;
    auto const& member = *found;
    out.lines.push_back({"address", member.address});
    out.lines.push_back({"heard", since(member.heard_before) + " ago"});
    out.lines.push_back({"lag", member.lag == 0
                                    ? "none: it has acknowledged all invalidations of this voter"
                                    : "it has not acknowledged the last " + count(member.lag, "invalidation") + " yet"});
}

/// Watermarks of one second have the same name.
void explain_watermark(RowFacts const& facts, std::string const& at, Explained& out) {
    auto const& group = facts.figures.group;
    if (!group) return;
    for (auto const& one : group->watermarks)
        if (proxy::moment_text(one.at) == at) out.lines.push_back({"cause", one.reason});
    if (!out.lines.empty()) out.lines.push_back({"effect", "responses stored before it are validated before they are used again"});
}

// ---- quotas ----

/// "2 GB, 100 requests in a month"
std::string limits_of(share::QuotaRule const& rule) {
    std::string text;
    auto const add = [&text](std::string limit) { text += (text.empty() ? "" : ", ") + limit; };
    if (rule.bytes > 0) add(share::used_text({"bytes", rule.bytes, 0}));
    if (rule.requests > 0) add(share::used_text({"requests", rule.requests, 0}));
    if (rule.minutes() > 0) add(share::used_text({"minutes", rule.minutes(), 0}));
    return text.empty() ? "none: it exempts what it matches" : text + " in a " + share::text(rule.per);
}

void explain_quota(RowFacts const& facts, std::string const& name, Explained& out) {
    auto const& options = facts.figures.options;
    if (!options) return;
    auto const found = std::ranges::find(options->quotas, name, &share::QuotaRule::name);
    if (found == options->quotas.end()) return;
    auto const& rule = *found;
    out.lines.push_back({"limits", limits_of(rule) + ", each: " + share::text(rule.each)});
    if (rule.slow > 0)
        out.lines.push_back(
            {"slow lane", rate_text(rule.slow) + " in each direction, from " + human_share(rule.soft) + " of a limit on"});
    for (auto const& totals : facts.figures.quotas.rules)
        if (totals.name == name)
            out.lines.push_back({"counted", count(totals.requests, "request") + ", " + human_bytes(totals.bytes) +
                                                " since the start; refused: " + human_count(totals.refused)});
    out.lines.push_back({"reset", "garner quota reset NAME [CLIENT] begins it anew"});
    out.lines.push_back({"note", "The first quota that matches a request counts it. The explanation of a URL has its quota."});
}

// ---- policies ----

void explain_policy(RowFacts const& facts, std::string const& name, Explained& out) {
    auto const spec = policy::read_spec(name);
    if (!spec) return;
    out.lines.push_back({"policy", std::string(spec->row->what)});
    if (!facts.figures.what_if) return;
    auto const& sampled = *facts.figures.what_if;
    out.lines.push_back({"in use", name == sampled.policy ? "yes"
                                                          : "no: " + sampled.policy +
                                                                " is. To use it, set memory.policy, then run "
                                                                "garner reload"});
    auto const& what_if = sampled.what_if;
    if (!what_if.is_enough()) return;
    for (auto const& row : what_if.rows)
        if (row.policy == name)
            out.lines.push_back({human_bytes(row.size), "hit ratio " + human_share(what_if.object_hit_ratio(row)) +
                                                            ", byte hit ratio " + human_share(what_if.byte_hit_ratio(row)) +
                                                            " (estimate)"});
}

// ---- single figures ----

/// The figure at this path of /stats.json, or the object that has it.
void explain_figure(RowFacts const&, std::string const& path, Explained& out) {
    Metric const* found = nullptr;
    for (auto const& metric : metrics()) {
        bool const is_it = path == metric.path || path.starts_with(std::string(metric.path) + ".");
        if (is_it && !metric.path.empty() && (!found || found->path.size() < metric.path.size())) found = &metric;
    }
    if (!found) return;
    out.lines.push_back({"meaning", std::string(found->help)});
    out.lines.push_back({"unit", std::string(found->unit)});
    if (!found->name.empty()) out.lines.push_back({"in /metrics", std::string(found->name)});
    out.lines.push_back({"in /stats.json", path});
}

// ---- kinds of rows ----

struct Kind {
    std::string_view prefix;
    char const* title;
    void (*explain)(RowFacts const&, std::string const& name, Explained&);   // adds no line if there is none of this name
};

/// A new kind needs a function and a row here.
constexpr Kind kinds[]{{of_peer, "Peer ", explain_peer},
                       {"rule ", "Access rule ", explain_rule},
                       {"certificate ", "Certificate ", explain_certificate},
                       {"user ", "User of the line: ", explain_user},
                       {"cap ", "Cap ", explain_cap},
                       {"quota ", "Quota ", explain_quota},
                       {"voter ", "Voter ", explain_voter},
                       {"member ", "Member of the group: ", explain_member},
                       {"watermark ", "Watermark of the group: ", explain_watermark},
                       {"policy ", "Policy ", explain_policy},
                       {"figure ", "The figure ", explain_figure}};

Kind const* kind_of(std::string_view asked) {
    auto const found = std::ranges::find_if(kinds, [&](Kind const& kind) { return asked.starts_with(kind.prefix); });
    return found == std::end(kinds) ? nullptr : found;
}

std::string unknown_name(std::string const& asked) {
    std::string const text = "the configuration in use has none of this name; ";
    return text + (asked.starts_with(of_peer) ? "garner peers prints the names" : "the page has a link with the name in each row");
}

/// True if the asked peer stands for the servers that DNS names.
bool explain_service(std::span<icp::PeerOptions const> configured, Explained& out) {
    auto const is_asked = [&](icp::PeerOptions const& peer) {
        return !peer.srv.empty() && out.asked == std::string(of_peer) + peer.name;
    };
    auto const found = std::ranges::find_if(configured, is_asked);
    if (found == configured.end()) return false;
    out.title = "Peer " + found->name;
    out.lines.push_back({"servers", "DNS names them by " + found->srv + ": each is the peer " + found->name +
                                        "/HOST:PORT, and garner peers prints those in use"});
    return true;
}

}   // namespace explain_rows_part

bool explain_row(RowFacts const& facts, Explained& out) {
    using namespace explain_rows_part;
    auto const* const kind = kind_of(out.asked);
    if (!kind) return false;
    auto const name = out.asked.substr(kind->prefix.size());
    out.title = kind->title + name;
    kind->explain(facts, name, out);
    if (out.lines.empty()) out.lines.push_back({"error", unknown_name(out.asked)});
    return true;
}

bool explain_row(proxy::Server& server, Explained& out) {
    using namespace explain_rows_part;
    if (!kind_of(out.asked)) return false;
    if (explain_service(server.mesh().peer_table()->options.peers, out)) return true;
    auto const figures = take_figures(server);
    auto const refusals = server.shared().refusals.latest();
    auto const subjects = server.shared().shares.largest(subjects_max);
    return explain_row({figures, refusals, subjects, wall_now()}, out);
}

}   // namespace garner::admin
