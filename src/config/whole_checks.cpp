#include "config/whole_checks.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <variant>

#include "config/address_form.hpp"
#include "config/form.hpp"
#include "config/rule_context.hpp"
#include "config/rule_notices.hpp"
#include "util/ip.hpp"

namespace garner::config {
namespace {

/// The address of a `listen` item, or nothing when it is faulty, which was reported already.
std::optional<IpEndpoint> listens_on(Json const& item) {
    if (!item.is_object() || !item.contains("address") || !item["address"].is_string()) return std::nullopt;
    IpEndpoint endpoint;
    std::string why;
    if (!parse_endpoint(item["address"].get_ref<std::string const&>(), endpoint, why)) return std::nullopt;
    return endpoint;
}

void check_listen(Reader& reader, Json const& list, Admin const& admin, seen::Options const& seen) {
    if (list.is_array() && list.empty()) {
        reader.fault({"listen"}, "nothing to listen on", R"(add { "address": "127.0.0.1:3128" })");
        return;
    }
    std::vector<IpEndpoint> before;
    for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
        auto const endpoint = listens_on(list[i]);
        if (!endpoint) continue;
        Reader::Step const at_address(reader, Reader::Below{"listen", i, "address"});
        if (std::find(before.begin(), before.end(), *endpoint) != before.end())
            reader.fault(endpoint->text() + " is already the address of another listener", "give each its own address or port");
        else if (admin.enabled && endpoint->address.text() == admin.address && endpoint->port == admin.port)
            reader.fault(endpoint->text() + " is also admin.address", "give each its own address or port");
        else if (endpoint->address.text() == seen.address && endpoint->port == seen.port)
            reader.fault(endpoint->text() + " is also seen.address", "give each its own address or port");
        before.push_back(*endpoint);
    }
}

std::string text_of(proxy::Listen const& listen) {
    auto const address = parse_ip(listen.address);
    return address ? IpEndpoint{*address, listen.port}.text() : listen.address;
}

/// ":3128" also accepts connections to 127.0.0.1:3128 if that address has no listener: it is easy to mistake which of the
/// two listeners applies to a client.
void check_overlap(Reader& reader, std::vector<proxy::Listen> const& all) {
    for (std::size_t i = 0; i < all.size(); ++i)
        for (auto const& other : all) {
            auto const address = parse_ip(all[i].address), wide = parse_ip(other.address);
            bool const overlaps = wide && address && wide->is_unspecified() && !address->is_unspecified();
            if (overlaps && other.port == all[i].port)
                reader.notice({"listen", i}, text_of(all[i]) + " is included in the address of another listener",
                              "remove one of them, or give each its own port");
        }
}

/// Notices an open proxy.
void check_access(Reader& reader, Config const& config) {
    auto const& rules = config.proxy.access.rules();
    auto const all = std::ranges::find_if(rules, [](auto const& rule) { return rule.match.matches_all(); });
    if (all == rules.end()) return;
    auto const index = static_cast<std::size_t>(all - rules.begin());
    auto const is_public = [](proxy::Listen const& listen) {
        auto const address = parse_ip(listen.address);
        bool const takes_requests = !listen.origin && listen.intercept == net::Intercept::off;
        return takes_requests && address && !address->is_loopback();
    };
    auto const open = std::ranges::find_if(config.proxy.listen, is_public);
    if (all->allow && open != config.proxy.listen.end())
        reader.notice({"access", index}, "allows every client that can reach " + text_of(*open) + ": this is an open proxy",
                      R"(name the clients' networks: { "allow": { "source": ["10.0.0.0/8"] } })");
}

/// Wider than the network of any single owner: more than an IPv4 /8, or an IPv6 /16.
bool is_wide(IpNetwork const& network) { return network.prefix < (network.address.is_v4() ? 96 + 8 : 16); }

void notice_wide(Reader& reader, Reader::Below list, std::vector<IpNetwork> const& networks, char const* text,
                 char const* suggestion) {
    auto const wide = std::ranges::find_if(networks, is_wide);
    if (wide == networks.end()) return;
    Reader::Step const at_list(reader, list);
    reader.notice({static_cast<std::size_t>(wide - networks.begin())}, wide->text() + text, suggestion);
}

/// A condition on the client that only a few clients meet, in the matcher or one that it uses. A field may be a secret.
bool is_for_few(http::Matcher const& match) {
    bool const by_source = !match.source.empty() && std::ranges::none_of(match.source, is_wide);
    bool const by_name = !match.user.empty() || !match.group.empty() || !match.certificate.empty() || !match.header.empty();
    auto const is_narrow = [](http::NamedMatcher const& one) { return is_for_few(*one.matcher); };
    return match.never || by_source || by_name || std::ranges::any_of(match.is, is_narrow);
}

bool is_about_clients(http::Matcher const& match) {
    auto const is_about = [](http::NamedMatcher const& one) { return is_about_clients(*one.matcher); };
    return !match.source.empty() || std::ranges::any_of(match.is, is_about) || std::ranges::any_of(match.is_not, is_about);
}

/// Clients of other machines connect there, to a port that the rule may name.
bool is_open_for(http::Matcher const& match, proxy::Listen const& listen) {
    auto const address = parse_ip(listen.address);
    auto const is_port = [&](http::PortRange const& range) { return range.contains(listen.port); };
    bool const is_meant = match.listener.empty() || std::ranges::any_of(match.listener, is_port);
    return is_meant && !(address && address->is_loopback());
}

/// PURGE and invalidations by clients. An earlier rule that denies networks is assumed to leave out all that are not meant.
void check_purgers(Reader& reader, proxy::Options const& proxy) {
    auto const rules = proxy.purge.rules();
    for (std::size_t i = 0; i < rules.size(); ++i) {
        auto const& match = rules[i].match;
        bool const allow = rules[i].allow;
        if (!allow && (match.matches_all() || is_about_clients(match))) return;
        auto const is_open = [&](proxy::Listen const& listen) { return is_open_for(match, listen); };
        if (allow && !is_for_few(match) && std::ranges::any_of(proxy.listen, is_open))
            reader.notice({"purge", i}, "lets almost any client remove stored objects",
                          R"(name the operators: { "allow": { "source": ["127.0.0.1", "10.0.0.9"] } })");
    }
}

/// On loopback the programs and users of this machine are trusted.
void check_admin(Reader& reader, Json const& root, Admin const& admin) {
    auto const tokens = Json::json_pointer("/admin/tokens");   // faulty ones count, too: they have a fault of their own
    auto const address = parse_ip(admin.address);
    bool const has_tokens = root.contains(tokens) && !root[tokens].empty();
    if (admin.enabled && !has_tokens && address && !address->is_loopback())
        reader.fault(
            {"admin", "address"}, "is not on loopback, and there are no admin.tokens: each client that reaches it could purge",
            "add the line of garner token NAME to admin.tokens, or write \"127.0.0.1:" + std::to_string(admin.port) + "\"");
}

/// Notices rights that are granted to almost any address.
void check_rights(Reader& reader, Config const& config) {
    if (config.admin.enabled && config.admin.tokens.empty())
        notice_wide(reader, {"admin", "allow"}, config.admin.allow, " lets almost any address purge objects and read statistics",
                    R"(name the operators' networks: ["10.0.0.0/8"])");
    auto const& htcp = config.mesh.htcp;
    if (!htcp.address.empty() && htcp.secret.empty())
        notice_wide(reader, {"htcp", "clear_allow"}, htcp.clear_allow, " lets almost any address purge objects without a signature",
                    "name the networks of the other caches, or set htcp.secret");
    check_purgers(reader, config.proxy);
    notice_wide(reader, {"seen", "allow"}, config.seen.allow, " lets almost any address change the sets of URLs",
                R"(name the crawlers' networks: ["10.0.0.0/8"])");
    auto const* const claims = " lets almost any client claim the address of another one, with its rights and quotas";
    auto const* const gateways = "name the networks of the gateways alone";
    notice_wide(reader, {"forwarded_trust"}, config.proxy.forwarded_trust, claims, gateways);
    for (std::size_t i = 0; i < config.proxy.listen.size(); ++i)
        notice_wide(reader, {"listen", i, "proxy_protocol"}, config.proxy.listen[i].proxy_protocol, claims, gateways);
}

void check_peer_names(Reader& reader, std::vector<icp::PeerOptions> const& peers) {
    std::set<std::string> names;
    for (auto const& peer : peers)
        if (!names.insert(peer.name).second)
            reader.fault({"peers"}, "two peers are named " + in_quotes(peer.name), "give each its own name");
}

/// A proxy that is its own peer would wait for its own reply.
void check_mesh(Reader& reader, Config const& config) {
    auto const& mesh = config.mesh;
    for (std::size_t i = 0; i < mesh.peers.size(); ++i) {
        auto const& peer = mesh.peers[i];
        auto const ours = [&](proxy::Listen const& listen) { return listen.address == peer.host && listen.port == peer.http; };
        if (std::ranges::any_of(config.proxy.listen, ours))
            reader.fault({"peers", i}, "is this proxy itself", "write the address of the other cache, or remove this peer");
        bool const is_queried = !peer.no_query && (peer.icp != 0 || peer.htcp != 0);
        if (peer.type == icp::PeerOptions::Type::sibling && !is_queried && !peer.digest)
            reader.notice({"peers", i}, "is never used: a sibling must be queried, or have a digest",
                          R"(add icp_port, htcp_port or "digest": true and remove no_query, or remove this peer)");
    }
    if (!mesh.address.empty() && mesh.address == mesh.htcp.address && mesh.port == mesh.htcp.port)
        reader.fault({"htcp"}, "uses the same address and port as icp", "give each its own port, such as 3130 and 4827");
}

/// Anyone on the way can read a password of Basic (RFC 7617 4).
void check_passwords(Reader& reader, Config const& config) {
    auto const by_password = [](auth::SourceOptions const& source) {
        return std::holds_alternative<auth::HtpasswdOptions>(source) || std::holds_alternative<auth::LdapOptions>(source);
    };
    if (std::ranges::none_of(config.auth.sources, by_password)) return;
    for (std::size_t i = 0; i < config.proxy.listen.size(); ++i) {
        auto const& listen = config.proxy.listen[i];
        auto const address = parse_ip(listen.address);
        bool const asks_for_login = !listen.origin && listen.intercept == net::Intercept::off;
        if (listen.tls || !asks_for_login || (address && address->is_loopback())) continue;
        reader.notice({"listen", i}, "clients send passwords to this address unencrypted", "add tls, or use negotiate");
        return;
    }
}

/// In doubt a deny by group matches every user, and an allow none.
void check_directory(Reader& reader, Config const& config) {
    auto const& sources = config.auth.sources;
    auto const of_directory = [](auth::GroupOptions const& group) { return !group.ldap.empty(); };
    auto const first = std::ranges::find_if(config.auth.groups, of_directory);
    if (first == config.auth.groups.end()) return;
    auto const is_directory = [](auto const& source) { return std::holds_alternative<auth::LdapOptions>(source); };
    if (std::ranges::none_of(sources, is_directory)) {
        reader.notice({"groups", first->name, "ldap"}, "no source of users is a directory, so the members are unknown",
                      R"(add a source to auth.sources: {"type": "ldap", "url": …, "base": …})");
        return;
    }
    for (std::size_t i = 0; i < sources.size(); ++i) {
        auto const* const negotiate = std::get_if<auth::NegotiateOptions>(&sources[i]);
        if (negotiate && negotiate->realm.empty())
            reader.notice({"auth", "sources", i}, "names from tickets keep their realm, and the directory is asked for user@REALM",
                          "set realm to that of the directory's users, or let the filter of ldap find user@REALM");
    }
}

/// The kernel sends packets from other machines to no address on loopback.
void check_interception(Reader& reader, Config const& config) {
    for (std::size_t i = 0; i < config.proxy.listen.size(); ++i) {
        auto const& listen = config.proxy.listen[i];
        auto const address = parse_ip(listen.address);
        if (listen.intercept == net::Intercept::redirect && address && address->is_loopback())
            reader.notice(
                {"listen", i, "intercept"}, "connections of other machines cannot be redirected to loopback",
                "listen on all addresses, such as \":" + std::to_string(listen.port) + "\", or on that of the inner network");
    }
}

void check_group_address(Reader& reader, Config const& config) {
    auto const& own = config.group.address;
    if (own.port == 0) return;
    auto const compare = [&](std::string const& text, std::uint16_t port, char const* whose) {
        auto const address = parse_ip(text);
        if (address && *address == own.address && port == own.port)
            reader.fault({"group", "address"}, own.text() + " is " + whose, "give each its own address or port");
    };
    for (auto const& listen : config.proxy.listen) compare(listen.address, listen.port, "already the address of a listener");
    if (config.admin.enabled) compare(config.admin.address, config.admin.port, "also admin.address");
    compare(config.seen.address, config.seen.port, "also seen.address");
}

/// Settings that undo the promise of a group.
void check_group(Reader& reader, Config const& config) {
    if (!config.group.has_members()) return;
    if (config.proxy.caching.offline)
        reader.notice({"caching", "offline"},
                      "stored responses are used although the group has invalidated them softly, or this "
                      "member is cut off",
                      "remove it, or remove group.name");
    auto const& rules = config.proxy.caching.rules;
    for (std::size_t i = 0; i < rules.size(); ++i)
        if (rules[i].reload == http::Reload::ignore)
            reader.notice({"caching", "rules", i, "reload"},
                          "members of the group that use this proxy as a parent may get what was invalidated a moment before",
                          R"(remove "reload": "ignore")");
    check_group_address(reader, config);
    constexpr std::size_t short_bytes = 16;
    if (auto const bytes = config.group.secret.size(); bytes > 0 && bytes < short_bytes)
        reader.notice({"group", "secret"},
                      "has only " + std::to_string(bytes) +
                          " bytes: a host that records one message of the group can try all secrets of this length",
                      "write at least 16 random characters, such as those of: openssl rand -hex 32");
}

/// The disk has the objects, and this file would bring back those that were removed from the disk.
void check_memory_file(Reader& reader, Config const& config) {
    if (!config.memory.save.empty() && !config.disk.path.empty())
        reader.fault({"memory", "save"}, "cannot be used together with disk.path, which keeps the objects", "remove one of them");
}

/// Notices rules of the line of which an earlier one leaves no request. In doubt a rule with a limit matches more requests than one
/// that exempts.
template <class Rule>
void check_first_matches(Reader& reader, std::string_view list, std::vector<Rule> const& rules) {
    constexpr std::size_t rules_compared = 2'000;
    for (std::size_t i = 0; i < std::min(rules.size(), rules_compared); ++i) {
        auto const covers = [&rule = rules[i]](Rule const& earlier) {
            bool const is_certain = earlier.has_limit() || !earlier.match.has(http::Matcher::Member::doubtful);
            return (is_certain || !rule.has_limit()) && earlier.match.covers(rule.match);
        };
        auto const end = rules.begin() + static_cast<std::ptrdiff_t>(i);
        auto const by = std::find_if(rules.begin(), end, covers);
        if (by != end)
            reader.notice({list, i}, "is never reached: the earlier " + in_quotes(by->name) + " matches all of its requests",
                          "move it before that rule, or remove it");
    }
}

void check_quotas(Reader& reader, Config const& config) {
    check_first_matches(reader, "caps", config.proxy.caps);
    check_first_matches(reader, "quotas", config.proxy.quotas);
    bool const has_limits = std::ranges::any_of(config.proxy.quotas, &share::QuotaRule::has_limit);
    if (has_limits && config.state.path.empty())
        reader.notice({"quotas"}, "what was used is forgotten at a restart", R"(add "state": { "path": "/var/lib/garner" })");
}

}   // namespace

void check_whole(Reader& reader, Json const& value, Config& config) {
    static Json const default_listen = Json::parse(R"([{"address": "127.0.0.1:3128"}])");
    check_listen(reader, value.contains("listen") ? value["listen"] : default_listen, config.admin, config.seen);
    check_overlap(reader, config.proxy.listen);
    check_access(reader, config);
    reader.rules().named.notice_unused(reader);
    notice_rules(reader, config);
    settle_learning(reader, value.contains(Json::json_pointer("/bump/learn")), config);
    check_admin(reader, value, config.admin);
    check_rights(reader, config);
    check_peer_names(reader, config.mesh.peers);
    check_mesh(reader, config);
    check_passwords(reader, config);
    check_directory(reader, config);
    check_interception(reader, config);
    check_memory_file(reader, config);
    check_group(reader, config);
    check_quotas(reader, config);
}

}   // namespace garner::config
