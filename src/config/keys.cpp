// The table of keys: name, member, form with bounds, description. A new key is one line, here or in its part's file.
#include "config/keys.hpp"

#include <set>
#include <span>

#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"
#include "config/rule_context.hpp"
#include "config/rule_form.hpp"
#include "config/rule_notices.hpp"
#include "config/rule_tests.hpp"
#include "http/uri.hpp"
#include "seen/link_status.hpp"
#include "util/text.hpp"

namespace garner::config {
namespace {

// ---- parts, in the order of the documentation ----

Form<proxy::Listen> listen() {
    return object_of<proxy::Listen>({
        required(
            address_key<proxy::Listen>(endpoint(false), "", "An IP address, `localhost` or nothing (all addresses), and a port.")),
        key<proxy::Listen>(
            "origin", &proxy::Listen::origin, origin(),
            "Makes this an accelerator (reverse proxy) for `http://host:port` or `https://host:port`. The origin receives its own "
            "name in Host, and the other request fields except those of gateways (`forwarded_received`). Fields are not part of "
            "the cache key: if a response depends on one, name it in Vary or in `caching.key_fields`. All clients are allowed "
            "unless a rule of `access` denies them (`listener` matches the port)."),
        key<proxy::Listen>("http2", &proxy::Listen::http2, flag(), "With `tls`: `true` offers HTTP/2 to clients (ALPN h2)."),
        key<proxy::Listen>("tls", &proxy::Listen::tls, listen_tls, "Accepts TLS connections instead of clear ones."),
    });
}

Form<proxy::Http2> http2() {
    using T = proxy::Http2;
    return object_of<T>({
        key<T>("streams", &T::streams, count(1, 10'000), "Maximum number of concurrent requests of a connection."),
        key<T>("window", &T::window, size(64 * KiB, 128 * MiB), "Largest receive window of a stream."),
        key<T>("glitches", &T::glitches, count(1, 1'000'000),
               "Frames a second that no orderly client sends (resets, pings, settings, empty data); up to ten times as many at "
               "once. Above it, the connection is closed with ENHANCE_YOUR_CALM."),
    });
}

Form<std::string> field_name() {
    auto const accept = [](std::string const& text, std::string&) { return http::is_token(text); };
    return checked("field name", "a field name", R"(write it like "CDN-Cache-Control")", accept);
}

Form<std::string> key_field() {
    auto const accept = [](std::string const& text, std::string& why) {
        bool const seen_by_origin = !equals_ignoring_case(text, "Proxy-Authorization");
        if (!seen_by_origin) why = "is meant for this proxy: origins never receive it";
        return http::is_token(text) && seen_by_origin;
    };
    return checked("field name", "a field name", R"(write it like "X-Language")", accept);
}

Form<proxy::Caching> caching() {
    using T = proxy::Caching;
    return object_of<T>({
        key<T>("never", &T::never, list_of(part_of_url()),
               "URLs that contain one of these texts, as for `url_contains`, are not cached."),
        key<T>("default_ttl", &T::default_ttl, time(milliseconds{0}, year),
               "Freshness lifetime of responses without explicit or heuristic freshness."),
        key<T>("negative_ttl", &T::negative_ttl, time(milliseconds{0}, day),
               "Maximum lifetime of a negative cache entry (a failed fetch); 0s: none. If the request itself may have caused the "
               "failure, the entry applies to other clients only after two clients have had it."),
        key<T>("negative_first", &T::negative_first, time(never_zero, day), "First lifetime of a negative cache entry."),
        key<T>("negative_backoff", &T::negative_backoff, flag(),
               "`true`: the lifetime doubles with each consecutive failure, from `negative_first` to `negative_ttl`. `false`: it "
               "is always `negative_ttl`."),
        key<T>("offline", &T::offline, flag(),
               "`true`: stored responses are served fresh or stale, without revalidation; misses are still fetched."),
        key<T>("store_set_cookie", &T::store_set_cookie, flag(),
               "`true`: a response with Set-Cookie is stored if it has explicit freshness; every client then receives the cookie. "
               "`false`: it also needs `public` or `s-maxage`."),
        key<T>("key_fields", &T::key_fields, list_of(key_field()),
               "Request fields that select among stored responses, as if every response named them in Vary; for responses stored "
               "from then on."),
        key<T>("range_fetches_whole", &T::range_fetches_whole, flag(),
               "`true`: a range request for an object that is not stored fetches the whole object, if it is cacheable."),
        key<T>(
            "follow_timeout", &T::follow_patience, time(never_zero, hour),
            "Minimum time that a collapsed request waits for the response head of the fetch it joined; 4 times the origin's usual "
            "time if that is longer. Then it fetches for itself: at most 4 such requests at once, and one for each client address.")
            .was("follow_patience"),
        key<T>("targeted_cache_control", &T::targeted_cache_control, list_of(field_name()),
               "Targeted fields (RFC 9213) such as CDN-Cache-Control: the first valid one replaces Cache-Control and Expires. "
               "Origins intend them for caches that they can purge."),
        key<T>("rules", &T::rules, list_of(caching_rule()),
               "Rules with all matchers except `destination`; without matchers, a rule matches every request. The settings of all "
               "matching rules apply; if two set the same key, the first one counts."),
    });
}

Form<http::AccessRules> rules_of(Form<http::AccessRule> rule) {
    auto const rules = list_of(std::move(rule));
    auto read = [rules](Reader& reader, Json const& value, http::AccessRules& into) {
        std::vector<http::AccessRule> all;
        bool const good = rules.read(reader, value, all);
        into = http::AccessRules(std::move(all));
        return good;
    };
    return {rules.written, rules.describe, read, nullptr};
}

/// An access rule for a check without an address, where a destination could never match.
Form<http::AccessRule> rule_without_destination(char const* why_not) {
    auto form = access_rule();
    form.read = [rule = form.read, why_not](Reader& reader, Json const& value, http::AccessRule& into) {
        if (!rule(reader, value, into)) return false;
        if (!into.match.has(http::Matcher::Member::destination)) return true;
        return reader.fault(why_not, "use source, host, port or URL");
    };
    // The keys are documented at `access`.
    form.describe = [describe = std::move(form.describe)]() -> Description { return describe().schema; };
    return form;
}

Form<http::AccessRules> purge() { return rules_of(rule_without_destination("a purge has no destination")); }

Form<http::AccessRule> miss_rule() {
    auto form = rule_without_destination("the destination is not known when this rule is checked");
    form.read = [rule = form.read](Reader& reader, Json const& value, http::AccessRule& into) {
        return rule(reader, value, into) && check_without_users(reader, into.match);
    };
    return form;
}

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

Form<proxy::Limits> limits() {
    using T = proxy::Limits;
    auto const check = [](Reader& reader, Json const&, T& limits) {
        if (limits.head.target >= limits.head.bytes)
            reader.fault({"target_max"}, "is not below limits.head_max, which includes the target", "lower it, or raise head_max");
    };
    // clang-format off
    return object_of<T>(
        {
            key<T>("head_max", [](T& l) -> auto& { return l.head.bytes; }, size(KiB, 16 * MiB),
                   "Size of a message head: start line and fields.").was("head_bytes"),
            key<T>("heads_max", &T::heads, size(256 * KiB, size_max),
                   "Size of the incomplete request heads of all clients together, without the first 4 KiB of each. Above it, the "
                   "largest head is rejected with 431.")
                .was("heads"),
            key<T>("fields_max", [](T& l) -> auto& { return l.head.fields; }, count(8, 100'000),
                   "Field lines in a head.")
                .was("fields"),
            key<T>("target_max", [](T& l) -> auto& { return l.head.target; }, size(256, 16 * MiB),
                   "Size of a request target (URL).").was("target_bytes"),
            key<T>("connections_max", &T::connections, count(1, 10 * million),
                   "Client connections, lowered to what the limit of open files allows. At the limit, the connection idle "
                   "longest is closed, of the client with the most connections.")
                .was("connections"),
            key<T>("connections_per_client", &T::connections_per_client, count(0, 10 * million),
                   "Maximum number of connections of one client. 0: a quarter of `connections_max`, and no limit for clients on "
                   "loopback. The value of `connections_max` disables the limit."),
            key<T>("client_prefix4", &T::client_prefix4, count(8, 32),
                   "IPv4 addresses that share this many leading bits are one client."),
            key<T>("client_prefix6", &T::client_prefix6, count(16, 128),
                   "IPv6 addresses that share this many leading bits are one client."),
            retired<T>("pipelined_per_turn"),
            retired<T>("interim_responses"),
            key<T>("rate_min", [](T& l) -> auto& { return l.min_rate.per_second; }, size(0, GiB),
                   "Bytes per second of a client that reads a response or sends a request body, and of an origin that sends a "
                   "body of known length: the average over the time that Garner waits for them. Slower connections are closed. "
                   "0: no limit.")
                .was("min_rate"),
            key<T>("rate_min_after", [](T& l) -> auto& { return l.min_rate.after; }, time(never_zero, day),
                   "Total time that Garner waits for a client or origin before `rate_min` applies.").was("min_rate_after"),
            key<T>("hops_max", &T::max_hops, count(1, 1'000),
                   "Entries in Via; a request with more is treated as a forwarding loop.")
                .was("max_hops"),
        },
        check);
    // clang-format on
}

Form<proxy::Deadlines> deadlines() {
    using T = proxy::Deadlines;
    auto const some = time(never_zero, year);
    return object_of<T>({
        key<T>("head", &T::head, some,
               "From the first byte of a request head to the last; also from the connection to the first byte."),
        key<T>("keep_alive", &T::keep_alive, some, "Idle time between two requests of a client."),
        key<T>("body", &T::body, some, "Time without progress of a body, in either direction."),
        key<T>("first_byte", &T::first_byte, some,
               "From the end of a request (with its body) to the end of the response head; each interim response restarts it."),
        key<T>("abandoned", &T::abandoned, some,
               "Time that a fetch continues after all clients have aborted, if little of the body is missing."),
        key<T>("laggard", &T::laggard, time(never_zero, hour),
               "Total time that a slow client may delay other clients that read the same uncacheable body. Then it continues with "
               "a range request of its own, or is disconnected."),
        key<T>("fill", &T::fill, some, "Time that a collapsed request waits for progress of the fetch it joined."),
        key<T>("tunnel_idle", &T::tunnel_idle, some, "Idle time of a tunnel."),
        key<T>("tunnel_total", &T::tunnel_total, some, "Lifetime of a tunnel."),
        key<T>("drain_delay", &T::drain_delay, time(milliseconds{0}, hour),
               "Time from SIGTERM, which ends readiness, until the listening sockets are closed."),
        key<T>("drain_idle", &T::drain_idle, time(milliseconds{0}, hour),
               "Then the time in which an idle connection may send one more request."),
        key<T>("drain", &T::drain, time(milliseconds{0}, hour), "Then the time for requests in progress."),
    });
}

Form<net::ResolverOptions> dns() {
    using T = net::ResolverOptions;
    auto const some = time(never_zero, year);
    auto const check = [](Reader&, Json const&, T& dns) { dns.negative_first = std::min(dns.negative_first, dns.negative_ttl); };
    return object_of<T>(
        {
            key<T>("servers", &T::servers, list_of(name_server()),
                   "DNS servers, with or without port; empty: those of /etc/resolv.conf."),
            key<T>("negative_first", &T::negative_first, some,
                   "First lifetime of a negative DNS cache entry; doubles up to `negative_ttl`."),
            key<T>("negative_ttl", &T::negative_ttl, some, "Maximum lifetime of a negative DNS cache entry."),
            retired<T>("positive_min"),
            key<T>("positive_max", &T::positive_max, some, "Lifetime of a positive DNS cache entry."),
            key<T>("entries_max", &T::entries_max, count(1, 100 * million), "DNS cache entries."),
            key<T>("hosts_file", &T::hosts_file, text(), "Hosts file, read at start and on SIGHUP; empty: none."),
        },
        check);
}

Form<net::ConnectorOptions> connect() {
    using T = net::ConnectorOptions;
    return object_of<T>({
        key<T>("attempt_delay", &T::attempt_delay, time(milliseconds{10}, milliseconds{60'000}),
               "Time after which the next address of an origin is tried in parallel (Happy Eyeballs, RFC 8305)."),
        key<T>("timeout", &T::timeout, time(never_zero, hour),
               "Maximum time to connect to an origin, for all its addresses "
               "together."),
    });
}

Form<net::TlsOptions> tls() {
    using T = net::TlsOptions;
    return object_of<T>({
        key<T>("verify", &T::verify, flag(), "`true`: certificates of origins are verified."),
        key<T>("ca_file", &T::ca_file, text(), "Trusted CA certificates (PEM); empty: the system's."),
    });
}

Form<net::PoolOptions> pool() {
    using T = net::PoolOptions;
    return object_of<T>({
        key<T>("idle_per_origin_max", &T::idle_per_origin, count(0, 100'000), "Idle connections to one origin, for each worker.")
            .was("idle_per_origin"),
        key<T>("idle_max", &T::idle_total, count(0, million),
               "Idle connections to all origins, for each worker; together at most half as many as clients may have. The oldest "
               "are closed if a client needs a descriptor.")
            .was("idle_total"),
        key<T>("idle_timeout", &T::idle_timeout, time(never_zero, day),
               "Time after which an idle connection to an origin is closed."),
    });
}

Form<proxy::Log> log() {
    using T = proxy::Log;
    using enum proxy::LogFormat;
    return object_of<T>({
        key<T>("access", &T::access, text(), "Access log file; `-`: standard output; empty: none."),
        key<T>("format", &T::format, one_of<proxy::LogFormat>({{"squid", squid}, {"combined", combined}, {"json", json}}),
               "Format of the access log."),
        key<T>("query", &T::query, flag(), "`false`: URLs and Referer are logged without query (from `?` on)."),
        key<T>("level", &T::level, choice({"debug", "info", "warn", "error"}), "Minimum severity of messages on standard error."),
    });
}

Form<Admin> admin() {
    return object_of<Admin>({
        address_key<Admin>(endpoint(true), R"("127.0.0.1:3131")", "Address of the admin page, metrics and purges; empty: none."),
        key<Admin>("allow", &Admin::allow, list_of(network()), "Networks that may use the admin address, in addition to loopback."),
        key<Admin>("names", &Admin::names, list_of(host_name()),
                   "Names and addresses that Host may have in addition to the admin address itself, such as a DNS name, or "
                   "`localhost` behind an ssh forward. Other requests are rejected, because a web site could point its own name at "
                   "this address (DNS rebinding)."),
    });
}

Form<seen::Peer> seen_peer() {
    auto parse = [](std::string const& text, seen::Peer& into, std::string&) {
        auto const peers = seen::read_peers(text);
        bool const is_one = peers && peers->size() == 1;
        if (is_one) into = peers->front();
        return is_one;
    };
    auto form = parsed<seen::Peer>("address", "a host and a port", "write \"10.0.0.3:3132\"", parse);
    form.show = [](seen::Peer const& peer) { return in_quotes(peer.text()); };
    return form;
}

Form<seen::Options> seen_urls() {
    using T = seen::Options;
    auto const check = [](Reader& reader, Json const&, T& seen) {
        if (seen.address.empty()) return;
        if (auto const fits = seen::validate(seen); !fits)
            reader.fault(fits.fault().text(), "docs/guides/crawlers.md lists the values");
    };
    auto address = address_key<T>(endpoint(true), R"("")", "Address of the URL-seen service for crawlers; empty: none.");
    return object_of<T>(
        {
            std::move(address),
            key<T>("allow", &T::allow, list_of(network()), "Networks that may use the URL-seen service, in addition to loopback."),
            key<T>("path", &T::directory, text(), "Directory of the URL set; empty: it is kept in memory and lost at exit."),
            key<T>("memory", &T::memory, size(16 * MiB, size_max), "Memory budget of the URL set."),
            key<T>("set", &T::set, text(), "Kind of URL set, such as `lines` or `runs`; empty: chosen by whether `path` is set."),
            key<T>("cache", &T::cache, text(), "Kind of cache in front of the URL set; empty: none."),
            key<T>("cache_entries", &T::cache_entries, count(1, 1u << 31), "Maximum number of entries in `seen.cache`."),
            key<T>("layers", &T::layers, text(), "Additional steps of URL canonicalization, such as `query-sort,www-strip`."),
            key<T>("partition", &T::partition, count(0, seen::partitions_max - 1),
                   "Number of this process's partition of hosts, from 0."),
            key<T>("peers", &T::peers, list_of(seen_peer()),
                   "The processes that share the hosts, in the order of partitions, including this one. Empty: this process has "
                   "all hosts."),
            key<T>("batch_links_max", &T::batch_links, count(1, 100 * million), "Links in a batch.").was("batch_links"),
            key<T>("body_max", &T::body_bytes, size(KiB, size_max), "Size of a batch.").was("body"),
            key<T>("waiting_links_max", &T::waiting_links, count(1, 1'000 * million),
                   "Links that wait for the URL set or for another partition; batches beyond it get 503.")
                .was("waiting_links"),
            key<T>("peer_timeout", &T::peer_answer, time(seen::peer_answer_least, seen::peer_answer_most),
                   "Time for the replies of all other partitions to a batch; then they count as unreachable.")
                .was("peer_answer"),
        },
        check);
}

Form<proxy::RefusalOptions> refusals() {
    using T = proxy::RefusalOptions;
    auto const accept = [](std::string const& text, std::string&) {
        return text.empty() || http::parse_authority(text).has_value();
    };
    auto page = checked("text", "a host name", R"(write it like "garner.internal")", accept);
    page.show = [](std::string const& value) { return in_quotes(value); };
    return object_of<T>({
        key<T>(
            "page", &T::page, page,
            "Host of the page that lists a client's own last 50 refused requests, by plain HTTP through this proxy; empty: none."),
    });
}

Form<std::string> via_name() {
    auto const accept = [](std::string const& text, std::string&) {
        constexpr std::size_t longest = 255;   // every response contains it twice
        if (text.size() > longest) return false;
        return text.empty() || http::is_token(text) || http::parse_authority(text).has_value();
    };
    auto form = checked("text", "a name for Via", "write a word or host:port, at most 255 bytes", accept);
    form.show = [](std::string const& value) { return in_quotes(value); };
    return form;
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

// ---- checks across the parts ----

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

std::string text_of(proxy::Listen const& listen) { return listen.address + ":" + std::to_string(listen.port); }

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
        return !listen.origin && address && !address->is_loopback();
    };
    auto const open = std::ranges::find_if(config.proxy.listen, is_public);
    if (all->allow && open != config.proxy.listen.end())
        reader.notice({"access", index}, "allows every client that can reach " + text_of(*open) + ": this is an open proxy",
                      R"(name the clients' networks: { "allow": { "source": ["10.0.0.0/8"] } })");
}

/// Wider than the network of any single owner: more than an IPv4 /8, or an IPv6 /16.
bool is_wide(IpNetwork const& network) { return network.prefix < (network.address.is_v4() ? 96 + 8 : 16); }

void notice_wide(Reader& reader, char const* part, char const* key, std::vector<IpNetwork> const& networks, char const* text,
                 char const* suggestion) {
    auto const wide = std::ranges::find_if(networks, is_wide);
    if (wide == networks.end()) return;
    reader.notice({part, key, static_cast<std::size_t>(wide - networks.begin())}, wide->text() + text, suggestion);
}

/// Notices rights that are granted to almost any address.
void check_rights(Reader& reader, Config const& config) {
    if (config.admin.enabled)
        notice_wide(reader, "admin", "allow", config.admin.allow, " lets almost any address purge objects and read statistics",
                    R"(name the operators' networks: ["10.0.0.0/8"])");
    auto const& htcp = config.mesh.htcp;
    if (!htcp.address.empty() && htcp.secret.empty())
        notice_wide(reader, "htcp", "clear_allow", htcp.clear_allow, " lets almost any address purge objects without a signature",
                    "name the networks of the other caches, or set htcp.secret");
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
        if (listen.tls || listen.origin || (address && address->is_loopback())) continue;
        reader.notice({"listen", i}, "clients send passwords to this address unencrypted", "add tls, or use negotiate");
        return;
    }
}

void check_whole(Reader& reader, Json const& value, Config& config) {
    static Json const default_listen = Json::parse(R"([{"address": "127.0.0.1:3128"}])");
    check_listen(reader, value.contains("listen") ? value["listen"] : default_listen, config.admin, config.seen);
    check_overlap(reader, config.proxy.listen);
    check_access(reader, config);
    reader.rules().named.notice_unused(reader);
    notice_rules(reader, config);
    check_rights(reader, config);
    check_peer_names(reader, config.mesh.peers);
    check_mesh(reader, config);
    check_passwords(reader, config);
}

Table<Config> keys() {
    using proxy::ForwardedField;
    auto const forwarded = one_of<ForwardedField>({{"auto", ForwardedField::by_listener},
                                                   {"off", ForwardedField::none},
                                                   {"forwarded", ForwardedField::forwarded},
                                                   {"x-forwarded-for", ForwardedField::x_forwarded_for}});
    using proxy::ForwardedReceived;
    auto const received = one_of<ForwardedReceived>(
        {{"auto", ForwardedReceived::by_listener}, {"keep", ForwardedReceived::keep}, {"delete", ForwardedReceived::remove}});
    // clang-format off
    return {
        schema_key(),
        key<Config>("listen", [](Config& c) -> auto& { return c.proxy.listen; }, list_of(lazy(listen)),
                    "Addresses that accept client connections. A reload opens new ones and closes removed ones; connections continue."),
        key<Config>("workers", &Config::workers, count(0, 1'024), "Worker threads; 0: one per core."),
        key<Config>("user", &Config::user, text(),
                    "User that Garner becomes if it is started as root, after it has opened its ports except that of `seen`. "
                    "Empty: `garner`, or `nobody` if that user does not exist. `root`: Garner stays root."),
        key<Config>("memory", &Config::memory, memory, "The memory tier."),
        key<Config>("disk", &Config::disk, disk, "The disk tier."),
        key<Config>("caching", [](Config& c) -> auto& { return c.proxy.caching; }, caching, "Caching."),
        matchers_key(),
        key<Config>("access", [](Config& c) -> auto& { return c.proxy.access; }, rules_of(access_rule()),
                    "Access rules (Squid: http_access): the first that matches decides. If none matches, only clients on "
                    "loopback are allowed."),
        key<Config>("auth", &Config::auth, logins, "Logins."),
        key<Config>("groups", [](Config& c) -> auto& { return c.auth.groups; }, groups(),
                    "Groups of users for `group` in rules, by name."),
        key<Config>("purge", [](Config& c) -> auto& { return c.proxy.purge; }, purge(),
                    "Access rules for PURGE, as for `access`. At an accelerator, PURGE is denied unless a rule allows it: behind "
                    "a TLS terminator on this machine every client has a loopback address."),
        key<Config>("refusals", [](Config& c) -> auto& { return c.proxy.refusals; }, refusals, "Requests that the rules refused."),
        key<Config>("private_networks", [](Config& c) -> auto& { return c.proxy.private_closed; },
                    one_of<bool>({{"open", false}, {"closed", true}}),
                    "`closed`: private, shared, multicast, reserved, documentation and benchmark networks and the addresses of "
                    "cloud services are blocked, like loopback, link-local and own addresses. A rule that names `destination`, or "
                    "the address itself as `host`, unblocks them."),
        key<Config>("misses", [](Config& c) -> auto& { return c.proxy.misses; }, list_of(miss_rule()),
                    "Access rules for cache misses (Squid: miss_access), without `destination`. If none matches, all clients are "
                    "allowed. Denied clients get 504."),
        key<Config>("tests", &Config::tests, list_of(lazy(rule_test)),
                    "Requests, and the decisions of `access` that they must get. A start or a reload whose tests fail is refused."),
        key<Config>("dns", &Config::dns, dns, "Name resolution."),
        key<Config>("connect", &Config::connect, connect, "Connections to origins."),
        key<Config>("tls", &Config::tls, tls, "TLS towards origins."),
        key<Config>("pool", &Config::pool, pool, "Idle connections to origins."),
        key<Config>("http2", [](Config& c) -> auto& { return c.proxy.http2; }, http2,
                    "HTTP/2 with clients: limits of each connection."),
        key<Config>("bump", &Config::bump, interception, "Interception of TLS tunnels, only by explicit rules."),
        key<Config>("limits", [](Config& c) -> auto& { return c.proxy.limits; }, limits,
                    "Limits of messages and connections."),
        key<Config>("deadlines", [](Config& c) -> auto& { return c.proxy.deadlines; }, deadlines,
                    "Time limits."),
        key<Config>("forwarded", [](Config& c) -> auto& { return c.proxy.forwarded; }, forwarded,
                    "Field that reports the client's address to origins. `auto`: accelerators send X-Forwarded-For, "
                    "X-Forwarded-Proto and X-Forwarded-Host (the host of the cache key, not the one that the client sent); "
                    "forward proxies send none."),
        key<Config>("forwarded_received", [](Config& c) -> auto& { return c.proxy.forwarded_received; }, received,
                    "Treatment of request fields that only gateways should send, or that override the request line: Forwarded, "
                    "X-Forwarded-*, X-Real-IP, X-Host, X-Original-URL, X-Rewrite-URL, X-HTTP-Method-Override and similar ones. "
                    "`delete` prevents clients from claiming another address or changing the responses of other clients. `auto`: "
                    "accelerators delete the fields, forward proxies keep them. Proxy is always deleted, and a response to a "
                    "request with a method override is never stored."),
        key<Config>("forwarded_trusted", [](Config& c) -> auto& { return c.proxy.forwarded_trusted; }, list_of(network()),
                    "Networks of gateways whose fields `forwarded_received` does not delete."),
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

std::vector<std::string> key_paths() {
    std::vector<std::string> paths;
    for (auto const& note : configuration().describe().notes) paths.push_back(note.path);
    return paths;
}

}   // namespace garner::config
