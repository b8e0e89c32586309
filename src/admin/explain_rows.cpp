#include "admin/explain_rows.hpp"

#include <algorithm>
#include <array>

#include "admin/health.hpp"
#include "admin/human.hpp"
#include "proxy/moment.hpp"
#include "proxy/rule_hits.hpp"
#include "util/ip.hpp"

namespace garner::admin {

namespace explain_rows_part {

constexpr std::size_t refusals_max = 10;
constexpr std::string_view of_peer = "peer ", of_rule = "rule ", of_certificate = "certificate ";
constexpr std::array kinds{of_peer, of_rule, of_certificate};

std::string count(std::uint64_t number, std::string const& thing) {
    return human_count(number) + " " + thing + (number == 1 ? "" : "s");
}

// ---- peers ----

std::string state_of(icp::PeerStats const& peer) {
    bool const is_queried = !peer.options.no_query && (peer.options.icp != 0 || peer.options.htcp != 0);
    switch (peer.health) {
    case icp::Health::alive:
        if (!is_queried) return "alive: Garner uses it without queries";
        return "alive: Garner queries it and waits for its replies";
    case icp::Health::suspect: return "suspect: it did not reply in time to the last query, so Garner does not wait for it";
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

void explain_peer(icp::PeerStats const& peer, Explained& out) {
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

void add_refusals(std::span<proxy::Refused const> refusals, std::string const& rule, Explained& out) {
    std::size_t found = 0;
    for (auto const& one : refusals)
        if (one.rule == rule && found++ < refusals_max)
            out.lines.push_back({"refused", proxy::moment_text(one.at) + ": " + one.method + " " + one.url + " of " +
                                                one.client.text() + " (id " + one.id + ")"});
}

void explain_rule(Figures const& figures, std::span<proxy::Refused const> refusals, std::string const& label, Explained& out) {
    auto const& options = figures.options;
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
    add_refusals(refusals, label, out);
}

// ---- certificates ----

void explain_certificate(WallTime end, WallTime now, Explained& out) {
    auto const days = std::chrono::floor<std::chrono::days>(end - now).count();
    out.lines.push_back(
        {"end", proxy::moment_text(end) + (end <= now ? ": it has expired" : ", in " + std::to_string(days) + " days")});
    auto const fix = "put a new certificate into its file, then run garner reload";
    out.lines.push_back(
        {"renewal", end - now <= HealthLimits::certificate ? fix : std::string("none is needed yet; later: ") + fix});
}

// ---- unknown names ----

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

/// The rest of the text after "peer ", if it begins with that.
bool begins_with(std::string const& asked, std::string_view kind, std::string& rest) {
    if (!asked.starts_with(kind)) return false;
    rest = asked.substr(kind.size());
    return true;
}

}   // namespace explain_rows_part

bool explain_row(Figures const& figures, std::span<proxy::Refused const> refusals, WallTime now, Explained& out) {
    using namespace explain_rows_part;
    std::string name;
    if (begins_with(out.asked, of_peer, name)) {
        out.title = "Peer " + name;
        for (auto const& peer : figures.peers)
            if (peer.options.name == name) explain_peer(peer, out);
    } else if (begins_with(out.asked, of_rule, name)) {
        out.title = "Access rule " + name;
        explain_rule(figures, refusals, name, out);
    } else if (begins_with(out.asked, of_certificate, name)) {
        out.title = "Certificate " + name;
        for (auto const& [subject, end] : figures.certificates)
            if (subject == name) explain_certificate(end, now, out);
    } else {
        return false;
    }
    if (out.lines.empty()) out.lines.push_back({"error", unknown_name(out.asked)});
    return true;
}

bool explain_row(proxy::Server& server, Explained& out) {
    using namespace explain_rows_part;
    auto const is_asked = [&](std::string_view kind) { return out.asked.starts_with(kind); };
    if (std::ranges::none_of(kinds, is_asked)) return false;
    if (explain_service(server.mesh().peer_table()->options.peers, out)) return true;
    return explain_row(take_figures(server), server.shared().refusals.latest(), wall_now(), out);
}

}   // namespace garner::admin
