// The table of keys: name, member, form with bounds, description. Most keys are in the files of their parts: see key_parts.hpp.
#include "config/keys.hpp"

#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"
#include "config/rule_context.hpp"
#include "config/rule_form.hpp"
#include "config/rule_tests.hpp"
#include "config/whole_checks.hpp"

namespace garner::config {
namespace {

/// The matchers are kept by the rules that use them: the configuration has no member for them.
Row<Config> matchers_key() {
    auto const matcher = matcher_form();
    auto read = [](Reader& reader, Json const& value, Config&) { return reader.rules().named.read_all(reader, value); };
    auto describe = [matcher]() -> Description {
        std::string const what = "Matchers with names, for `is` and `not` in rules and in other matchers.";
        auto schema = type_schema("object").object("additionalProperties", matcher.describe().schema).text("description", what);
        return {std::move(schema), {{"matchers.NAME", matcher.written, "", what}}};
    };
    return {"matchers", read, std::move(describe)};
}

// Editors find the schema by this key in the file.
Row<Config> schema_key() {
    auto read = [](Reader& reader, Json const& value, Config&) {
        std::string ignored;
        return text().read(reader, value, ignored);
    };
    auto describe = []() -> Description {
        std::string const what = "Location of the JSON schema, for editors.";
        return {type_schema("string").text("description", what), {{"$schema", "text", "", what}}};
    };
    return {"$schema", read, describe};
}

Table<Config> keys() {
    // clang-format off
    return {
        schema_key(),
        key<Config>("listen", [](Config& c) -> auto& { return c.proxy.listen; }, list_of(lazy(listen)),
                    "Addresses that accept client connections. A reload opens new ones and closes removed ones; connections "
                    "continue."),
        key<Config>("workers", &Config::workers, count(0, 1'024), "Worker threads; 0: one per core."),
        key<Config>("user", &Config::user, text(),
                    "User that Garner becomes if it is started as root, after it has opened its ports except that of `seen`. "
                    "Empty: `garner`, or `nobody` if that user does not exist. `root`: Garner stays root."),
        key<Config>("memory", &Config::memory, memory, "The memory tier."),
        key<Config>("disk", &Config::disk, disk, "The disk tier."),
        key<Config>("caching", [](Config& c) -> auto& { return c.proxy.caching; }, caching, "Caching."),
        key<Config>("group", &Config::group, group,
                    "Invalidations of many objects at once: by tag, by prefix, of everything; here or in a group of proxies."),
        matchers_key(),
        key<Config>("access", [](Config& c) -> auto& { return c.proxy.access; }, access_rules(),
                    "Access rules (Squid: http_access): the first that matches decides. If none matches, only clients on "
                    "loopback are allowed."),
        key<Config>("auth", &Config::auth, logins, "Logins."),
        key<Config>("groups", [](Config& c) -> auto& { return c.auth.groups; }, groups(),
                    "Groups of users for `group` in rules, by name."),
        key<Config>("purge", [](Config& c) -> auto& { return c.proxy.purge; }, purge_rules(),
                    "Access rules for PURGE, as for `access`, but a request that no rule matches is denied. Without rules, clients "
                    "on loopback may purge, except at an accelerator."),
        key<Config>("refusals", [](Config& c) -> auto& { return c.proxy.refusals; }, refusals, "Requests that the rules refused."),
        key<Config>("pac", [](Config& c) -> auto& { return c.proxy.pac; }, pac,
                    "The proxy auto-configuration file (PAC), which each forward listener offers at `/proxy.pac`."),
        key<Config>("private_networks", [](Config& c) -> auto& { return c.proxy.private_closed; },
                    one_of<bool>({{"open", false}, {"closed", true}}),
                    "`closed`: private, shared, multicast, reserved, documentation and benchmark networks and the addresses of "
                    "cloud services are blocked, like loopback, link-local and own addresses. A rule that names `destination`, or "
                    "the address itself as `host`, unblocks them."),
        key<Config>("misses", [](Config& c) -> auto& { return c.proxy.misses; }, miss_rules(),
                    "Access rules for cache misses (Squid: miss_access), without `destination`. If none matches, all clients are "
                    "allowed. Denied clients get 504."),
        key<Config>("tests", &Config::tests, list_of(lazy(rule_test)),
                    "Requests, and the decisions of `access` that they must get. A start or a reload whose tests fail is refused."),
        key<Config>("dns", &Config::dns, dns, "Name resolution."),
        key<Config>("connect", &Config::connect, connect, "Connections to origins."),
        key<Config>("tls", &Config::tls, origin_tls, "TLS towards origins."),
        key<Config>("pool", &Config::pool, pool, "Idle connections to origins."),
        key<Config>("http2", [](Config& c) -> auto& { return c.proxy.http2; }, http2,
                    "HTTP/2 with clients: limits of each connection."),
        key<Config>("share", [](Config& c) -> auto& { return c.proxy.share; }, line_share,
                    "Fair shares of the line to the origins."),
        key<Config>("caps", [](Config& c) -> auto& { return c.proxy.caps; }, line_caps(),
                    "Rates that clients do not exceed, even if the line is free. The first rule that matches a request applies; "
                    "without matchers, a rule matches every request."),
        key<Config>("quotas", [](Config& c) -> auto& { return c.proxy.quotas; }, line_quotas(),
                    "Limits of the traffic of clients in a day, week or month. The first rule that matches a request counts it; "
                    "stored responses are free."),
        key<Config>("state", &Config::state, lazy(state), "State that outlives the process."),
        key<Config>("bump", &Config::bump, interception, "Interception of TLS tunnels, only by explicit rules."),
        key<Config>("limits", [](Config& c) -> auto& { return c.proxy.limits; }, limits,
                    "Limits of messages and connections."),
        key<Config>("deadlines", [](Config& c) -> auto& { return c.proxy.deadlines; }, deadlines,
                    "Time limits."),
        key<Config>("forwarded", [](Config& c) -> auto& { return c.proxy.forwarded; }, forwarded(),
                    "Field that reports the client's address to origins. `auto`: accelerators send X-Forwarded-For, "
                    "X-Forwarded-Proto and X-Forwarded-Host (the host of the cache key, not the one that the client sent); "
                    "forward proxies send none."),
        key<Config>("forwarded_received", [](Config& c) -> auto& { return c.proxy.forwarded_received; }, forwarded_received(),
                    "Treatment of request fields that only gateways should send, or that override the request line: Forwarded, "
                    "X-Forwarded-*, X-Real-IP, X-Host, X-Original-URL, X-Rewrite-URL, X-HTTP-Method-Override and similar ones. "
                    "`auto`: accelerators delete the fields, forward proxies keep them. Proxy is always deleted, and a response to "
                    "a request with a method override is never stored."),
        key<Config>("forwarded_trust", [](Config& c) -> auto& { return c.proxy.forwarded_trust; }, list_of(network()),
                    "Networks of gateways that name the client of each request in X-Forwarded-For or, if that is missing, in "
                    "Forwarded. The client is the last address there that is not in these networks; rules, logins, limits of "
                    "requests and the access log use it. An address of loopback or of this machine counts as the gateway's. "
                    "`forwarded_received` does not delete the fields of these gateways.")
            .was("forwarded_trusted"),
        key<Config>("via", [](Config& c) -> auto& { return c.proxy.via_name; }, via_name(),
                    "Name of this proxy in Via; empty: a name that is unique to the process."),
        key<Config>("log", [](Config& c) -> auto& { return c.proxy.log; }, log, "Logs."),
        key<Config>("admin", &Config::admin, admin, "Admin page, metrics and purges."),
        key<Config>("control", &Config::control, lazy(control), "Commands to the running proxy that change its configuration."),
        key<Config>("seen", &Config::seen, seen_urls, "URL-seen service for crawlers."),
        key<Config>("icp", [](Config& c) -> auto& { return c.mesh; }, icp, "ICP queries between caches."),
        key<Config>("htcp", [](Config& c) -> auto& { return c.mesh.htcp; }, htcp, "HTCP queries and purges between caches."),
        key<Config>("digest", [](Config& c) -> auto& { return c.mesh.digest; }, digest, "Cache digest of this proxy."),
        key<Config>("peers", [](Config& c) -> auto& { return c.mesh.peers; }, list_of(lazy(peer)),
                    "Other caches that this proxy uses."),
        key<Config>("direct", [](Config& c) -> auto& { return c.mesh.direct; }, direct,
                    "Requests that bypass the peers or must use them."),
    };
    // clang-format on
}

}   // namespace

Form<Config> const& configuration() {
    static Form<Config> const form = object_of<Config>(keys(), check_whole);
    return form;
}

std::vector<std::string> const& key_paths() {
    static auto const paths = [] {
        std::vector<std::string> made;
        for (auto const& note : configuration().describe().notes) made.push_back(note.path);
        return made;
    }();
    return paths;
}

}   // namespace garner::config
