// The table of keys: name, member, form with bounds, description. A new key is one line, here or in its part's file.
#include "config/keys.hpp"

#include <set>
#include <span>

#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "config/rule_form.hpp"
#include "http/uri.hpp"
#include "seen/link_status.hpp"
#include "util/text.hpp"

namespace garner::config {
namespace {

// ---- parts, in the order of the documentation ----

Form<proxy::Listen> listen() {
    return object_of<proxy::Listen>({
        required(address_key<proxy::Listen>(
            endpoint(false), "", "An IP address, `localhost` or nothing (all addresses), and a port.")),
        key<proxy::Listen>("origin", &proxy::Listen::origin, origin(),
                           "Makes this an accelerator (reverse proxy) for the origin `http://host:port` or "
                           "`https://host:port`, which sees its own name in Host, whatever the client wrote. It serves "
                           "everybody unless a rule of `access` says otherwise (`listener` names its port). Other fields "
                           "of a client go through, except those by which gateways speak to origins (see "
                           "`forwarded_received`), and are no part of the cache key: an origin whose pages depend on a field "
                           "must name it in Vary, or `caching.key_fields` does."),
    });
}

Form<std::string> field_name() {
    auto const accept = [](std::string const& text, std::string&) { return http::is_token(text); };
    return checked("field name", "a field name", R"(write it like "CDN-Cache-Control")", accept);
}

Form<std::string> key_field() {
    auto const accept = [](std::string const& text, std::string& why) {
        bool const seen_by_origin = !equals_ignoring_case(text, "Proxy-Authorization");
        if (!seen_by_origin) why = "is for this proxy alone: no origin sees it";
        return http::is_token(text) && seen_by_origin;
    };
    return checked("field name", "a field name", R"(write it like "X-Language")", accept);
}

Form<proxy::Caching> caching() {
    using T = proxy::Caching;
    return object_of<T>({
        key<T>("never", &T::never, list_of(part_of_url()),
               "URLs that contain one of these are not cached; compared as `url_contains` does."),
        key<T>("default_ttl", &T::default_ttl, time(milliseconds{0}, year),
               "Freshness lifetime of responses that have none of their own, not even a heuristic one."),
        key<T>("negative_ttl", &T::negative_ttl, time(milliseconds{0}, day),
               "How long failed fetches are remembered at most; 0s for not at all. A failure that the request itself may have "
               "caused is told to other clients after two clients have met it."),
        key<T>("negative_first", &T::negative_first, time(never_zero, day),
               "How long a failed fetch is remembered at first."),
        key<T>("negative_backoff", &T::negative_backoff, flag(),
               "`true`: negative_first is doubled with each failure in a row up to negative_ttl; "
               "`false`: always for negative_ttl."),
        key<T>("offline", &T::offline, flag(),
               "Whatever is stored is served, fresh or stale, without revalidation; what is not is still fetched."),
        key<T>("store_set_cookie", &T::store_set_cookie, flag(),
               "`true`: responses with Set-Cookie are stored when they have explicit freshness; every client then gets the "
               "cookie. `false`: only when they also have `public` or `s-maxage`."),
        key<T>("key_fields", &T::key_fields, list_of(key_field()),
               "Request fields that select among the responses of a URL, as if each response named them in Vary; it counts for "
               "what is stored from then on."),
        key<T>("range_fetches_whole", &T::range_fetches_whole, flag(),
               "A request for a range of what is not stored fetches all of it, where that may be kept; else only the range."),
        key<T>("follow_timeout", &T::follow_patience, time(never_zero, hour),
               "How long a collapsed request waits for the response head of the fetch it joined, at least; 4 times the origin's "
               "usual time if that is longer. Then it fetches for itself, up to 4 of them at once and one of each client address.")
            .was("follow_patience"),
        key<T>("targeted_cache_control", &T::targeted_cache_control, list_of(field_name()),
               "Targeted fields (RFC 9213) such as CDN-Cache-Control: the first valid one of a response counts, not "
               "Cache-Control and Expires. Origins mean them for caches that they can purge."),
        key<T>("rules", &T::rules, list_of(caching_rule()),
               "Exceptions by matchers (see below), without `destination`; one that has none matches everything. Each "
               "rule that matches adds its settings; where two set the same key, the first counts."),
    });
}

Form<http::AccessRules> access() {
    auto const rules = list_of(access_rule());
    auto read = [rules](Reader& reader, Json const& value, http::AccessRules& into) {
        std::vector<http::AccessRule> all;
        bool const good = rules.read(reader, value, all);
        into = http::AccessRules(std::move(all));
        return good;
    };
    return {rules.written, rules.schema, read, nullptr, rules.inner};
}

/// An access rule for a check without an address, where a destination could never match.
Form<http::AccessRule> rule_without_destination(char const* why_not) {
    auto form = access_rule();
    form.read = [rule = form.read, why_not](Reader& reader, Json const& value, http::AccessRule& into) {
        if (!rule(reader, value, into)) return false;
        if (into.match.destination.empty()) return true;
        return reader.fault(why_not, "use source, host, port or URL");
    };
    return form;
}

Form<http::AccessRule> purge_rule() { return rule_without_destination("a purge connects to no destination"); }
Form<http::AccessRule> miss_rule() { return rule_without_destination("no destination is known yet"); }

Form<proxy::Limits> limits() {
    using T = proxy::Limits;
    auto const check = [](Reader& reader, Json const&, T& limits) {
        if (limits.head.target >= limits.head.bytes)
            reader.fault({"target_max"}, "is not below limits.head_max, of which the target is a part",
                         "lower it, or raise head_max");
    };
    return object_of<T>(
        {
            key<T>("head_max", [](T& l) -> auto& { return l.head.bytes; }, size(KiB, 16 * MiB),
                   "A message's head, start line and all fields.").was("head_bytes"),
            key<T>("heads_max", &T::heads, size(256 * KiB, size_max),
                   "Unfinished heads of all clients, beyond 4 KiB each; past it the largest one is refused with 431.")
                .was("heads"),
            key<T>("fields_max", [](T& l) -> auto& { return l.head.fields; }, count(8, 100'000), "Field lines of a head.")
                .was("fields"),
            key<T>("target_max", [](T& l) -> auto& { return l.head.target; }, size(256, 16 * MiB),
                   "A request's target (its URL).").was("target_bytes"),
            key<T>("connections_max", &T::connections, count(1, 10 * million),
                   "Clients at a time; lowered to what the system's limit of open files allows. At the limit the client with most "
                   "connections loses the one that has waited longest for a request.").was("connections"),
            key<T>("connections_per_client", &T::connections_per_client, count(0, 10 * million),
                   "Connections of one client; 0 for a quarter of `limits.connections_max`, and no limit for clients on loopback. "
                   "The number of `limits.connections_max` switches it off."),
            key<T>("client_prefix4", &T::client_prefix4, count(8, 32),
                   "IPv4 addresses that share this many leading bits are one client."),
            key<T>("client_prefix6", &T::client_prefix6, count(16, 128),
                   "IPv6 addresses that share this many leading bits are one client."),
            retired<T>("pipelined_per_turn"),
            retired<T>("interim_responses"),
            key<T>("rate_min", [](T& l) -> auto& { return l.min_rate.per_second; }, size(0, GiB),
                   "Bytes a second that a client must take of a response and give of a request's body, on average over the time "
                   "that Garner waits for it, and an origin of a body of known length; slower connections end. 0 for no limit.")
                .was("min_rate"),
            key<T>("rate_min_after", [](T& l) -> auto& { return l.min_rate.after; }, time(never_zero, day),
                   "How long Garner waits for a client or origin in all before rate_min counts.").was("min_rate_after"),
            key<T>("hops_max", &T::max_hops, count(1, 1'000), "Entries of Via before a request counts as looping.")
                .was("max_hops"),
        },
        check);
}

Form<proxy::Deadlines> deadlines() {
    using T = proxy::Deadlines;
    auto const some = time(never_zero, year);
    return object_of<T>({
        key<T>("head", &T::head, some, "From the first byte of a request's head to its last; also from connecting to the first byte."),
        key<T>("keep_alive", &T::keep_alive, some, "Between two requests of a client."),
        key<T>("body", &T::body, some, "Without progress of a body, in either direction."),
        key<T>("first_byte", &T::first_byte, some, "From a request sent with its body to the end of its response's head; each interim response begins it anew."),
        key<T>("abandoned", &T::abandoned, some,
               "How long a body that no client reads any more may take to its end; it is fetched on where little is missing."),
        key<T>("laggard", &T::laggard, time(never_zero, hour),
               "How long in all a slow client may hold up the others that read the same uncacheable body; then it goes on with "
               "a range request of its own, or is closed."),
        key<T>("fill", &T::fill, some, "How long a client waits for another client's fetch to say anything."),
        key<T>("tunnel_idle", &T::tunnel_idle, some, "Without a byte in a tunnel."),
        key<T>("tunnel_total", &T::tunnel_total, some, "A tunnel's whole life."),
        key<T>("drain", &T::drain, time(milliseconds{0}, hour), "What running requests get after SIGTERM."),
    });
}

Form<net::ResolverOptions> dns() {
    using T = net::ResolverOptions;
    auto const some = time(never_zero, year);
    auto const check = [](Reader&, Json const&, T& dns) {
        dns.negative_first = std::min(dns.negative_first, dns.negative_ttl);
    };
    return object_of<T>(
        {
            key<T>("servers", &T::servers, list_of(name_server()),
                   "Name servers, with a port or without; empty for those of /etc/resolv.conf."),
            key<T>("negative_first", &T::negative_first, some,
                   "How long a failure is remembered at first; doubles up to `dns.negative_ttl`."),
            key<T>("negative_ttl", &T::negative_ttl, some, "How long a failure is remembered at most."),
            retired<T>("positive_min"),
            key<T>("positive_max", &T::positive_max, some, "How long an answer is remembered at most."),
            key<T>("entries_max", &T::entries_max, count(1, 100 * million), "Names remembered."),
            key<T>("hosts_file", &T::hosts_file, text(), "Read at start and on SIGHUP; empty for none."),
        },
        check);
}

Form<net::ConnectorOptions> connect() {
    using T = net::ConnectorOptions;
    return object_of<T>({
        key<T>("attempt_delay", &T::attempt_delay, time(milliseconds{10}, milliseconds{60'000}),
               "Before an origin's next address is tried beside the last (RFC 8305)."),
        key<T>("timeout", &T::timeout, time(never_zero, hour), "For all addresses of an origin together."),
    });
}

Form<net::TlsOptions> tls() {
    using T = net::TlsOptions;
    return object_of<T>({
        key<T>("verify", &T::verify, flag(), "Certificates of origins are verified."),
        key<T>("ca_file", &T::ca_file, text(), "Trusted certificates (PEM); empty for the system's."),
    });
}

Form<net::PoolOptions> pool() {
    using T = net::PoolOptions;
    return object_of<T>({
        key<T>("idle_per_origin_max", &T::idle_per_origin, count(0, 100'000),
               "Idle connections kept to one origin, by each worker.").was("idle_per_origin"),
        key<T>("idle_max", &T::idle_total, count(0, million),
               "Idle connections kept to all origins, by each worker.").was("idle_total"),
        key<T>("idle_timeout", &T::idle_timeout, time(never_zero, day), "How long an idle connection is kept."),
    });
}

Form<proxy::Log> log() {
    using T = proxy::Log;
    using enum proxy::LogFormat;
    return object_of<T>({
        key<T>("access", &T::access, text(), "File of the access log; `-` for standard output, empty for none."),
        key<T>("format", &T::format,
               one_of<proxy::LogFormat>({{"squid", squid}, {"combined", combined}, {"json", json}}),
               "How a line of the access log looks."),
        key<T>("query", &T::query, flag(), "`false`: URLs and Referer are logged up to their `?`, without the query."),
        key<T>("level", &T::level, choice({"debug", "info", "warn", "error"}),
               "The least important message told on standard error."),
    });
}

Form<Admin> admin() {
    return object_of<Admin>({
        address_key<Admin>(endpoint(true), R"("127.0.0.1:3131")",
                           "Address and port of figures, purges and the page; empty for none."),
        key<Admin>("allow", &Admin::allow, list_of(network()), "Networks that may use it, beside clients on loopback."),
        key<Admin>("names", &Admin::names, list_of(host_name()),
                   "Host names and addresses under which browsers reach it, beside its own address: a name in the DNS, "
                   "`localhost` behind an ssh forward. Requests under other names are refused, since a foreign page could "
                   "have its own name point here (DNS rebinding)."),
    });
}

Form<seen::Peer> seen_peer() {
    auto parse = [](std::string const& text, seen::Peer& into, std::string&) {
        auto const peers = seen::read_peers(text);
        bool const is_one = peers && peers->size() == 1;
        if (is_one) into = peers->front();
        return is_one;
    };
    auto form = parsed<seen::Peer>("host and port", "a host and a port", "write \"10.0.0.3:3132\"", parse);
    form.show = [](seen::Peer const& peer) { return in_quotes(peer.text()); };
    return form;
}

Form<seen::Options> seen_urls() {
    using T = seen::Options;
    auto const check = [](Reader& reader, Json const&, T& seen) {
        if (seen.address.empty()) return;
        if (auto const fits = seen::validate(seen); !fits) reader.fault(fits.fault().text(), "docs/guides/crawlers.md says what there is");
    };
    auto address = address_key<T>(endpoint(true), R"("")", "Address and port of the crawlers' service; empty for none.");
    return object_of<T>(
        {
            std::move(address),
            key<T>("allow", &T::allow, list_of(network()), "Who may ask it, beside clients on loopback."),
            key<T>("path", &T::directory, text(), "Directory of the set; empty: it lies in memory and goes with the process."),
            key<T>("memory", &T::memory, size(16 * MiB, size_max), "What the set may take."),
            key<T>("set", &T::set, text(), "`lines`, `runs`, …; empty: by whether there is a `path`."),
            key<T>("cache", &T::cache, text(), "The cache before the set; empty for none."),
            key<T>("cache_entries", &T::cache_entries, count(1, 1u << 31), "Its entries."),
            key<T>("layers", &T::layers, text(), "What is done to URLs beyond the standard, such as `query-sort,www-strip`."),
            key<T>("partition", &T::partition, count(0, seen::partitions_max - 1), "Which of the hosts are ours, from 0."),
            key<T>("peers", &T::peers, list_of(seen_peer()),
                   "Processes that share the hosts, by partition, this one too; empty: all hosts are ours."),
            key<T>("batch_links_max", &T::batch_links, count(1, 100 * million), "Links in a batch.").was("batch_links"),
            key<T>("body_max", &T::body_bytes, size(KiB, size_max), "Bytes of a batch.").was("body"),
            key<T>("waiting_links_max", &T::waiting_links, count(1, 1'000 * million),
                   "Links that may wait for the set, or for another partition; beyond them: 503.").was("waiting_links"),
            key<T>("peer_timeout", &T::peer_answer, time(seen::peer_answer_least, seen::peer_answer_most),
                   "For all that the other partitions answer to a batch; then they are unreachable.").was("peer_answer"),
        },
        check);
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
    std::string const what = "For editors: where the schema is.";
    return {"$schema", read, type_schema("string").text("description", what), {{"$schema", "text", "", what}}};
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
            reader.fault(endpoint->text() + " is listened on already", "give each its own address or port");
        else if (admin.enabled && endpoint->address.text() == admin.address && endpoint->port == admin.port)
            reader.fault(endpoint->text() + " is admin.address", "give each its own address or port");
        else if (endpoint->address.text() == seen.address && endpoint->port == seen.port)
            reader.fault(endpoint->text() + " is seen.address", "give each its own address or port");
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
                reader.notice({"listen", i}, text_of(all[i]) + " is among the addresses of another listener",
                              "leave one of them out, or give each its own port");
        }
}

/// Notices an open proxy, and rules after one that matches every request.
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
        reader.notice({"access", index}, "serves everybody who reaches " + text_of(*open) + ": an open proxy",
                      R"(name the clients' networks: { "allow": { "source": ["10.0.0.0/8"] } })");
    if (index + 1 == rules.size()) return;
    reader.notice({"access", index + 1}, "is never reached: access[" + std::to_string(index) + "] matches every request",
                  "move it before that rule, or leave it out");
}

/// Notices rules that match a path, which an https request does not reveal.
void check_paths(Reader& reader, std::span<http::AccessRule const> rules) {
    auto const has_path = [](std::string const& text) { return text.find('/') != text.npos; };
    for (std::size_t i = 0; i < rules.size(); ++i) {
        auto const& match = rules[i].match;
        bool const meets_connect = match.method.empty() || std::ranges::count(match.method, "CONNECT") > 0;
        bool const by_text = !match.url_contains.empty() && std::ranges::all_of(match.url_contains, has_path);
        auto const& patterns = match.url_matches;
        bool const by_pattern = !patterns.empty() && std::ranges::all_of(patterns, has_path, &http::UrlPattern::text);
        if (meets_connect && (by_text || by_pattern))
            reader.notice({"access", i}, "never matches https: CONNECT shows host:port alone, without a path",
                          R"(for https, name the host: { "host": ".example.com" })");
    }
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
        notice_wide(reader, "admin", "allow", config.admin.allow, " lets almost any address purge and read the figures",
                    R"(name the operators' networks: ["10.0.0.0/8"])");
    auto const& htcp = config.mesh.htcp;
    if (!htcp.address.empty() && htcp.secret.empty())
        notice_wide(reader, "htcp", "clear_allow", htcp.clear_allow, " lets almost any address purge, unsigned",
                    "name the other caches' networks, or give htcp.secret");
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
            reader.fault({"peers", i}, "is this proxy itself", "write where the other cache listens, or leave it out");
    }
    if (!mesh.address.empty() && mesh.address == mesh.htcp.address && mesh.port == mesh.htcp.port)
        reader.fault({"htcp"}, "address is that of icp", "give each its own port, as 3130 and 4827");
}

void check_whole(Reader& reader, Json const& value, Config& config) {
    static Json const default_listen = Json::parse(R"([{"address": "127.0.0.1:3128"}])");
    check_listen(reader, value.contains("listen") ? value["listen"] : default_listen, config.admin, config.seen);
    check_overlap(reader, config.proxy.listen);
    check_access(reader, config);
    check_paths(reader, config.proxy.access.rules());
    check_rights(reader, config);
    check_peer_names(reader, config.mesh.peers);
    check_mesh(reader, config);
}

Table<Config> keys() {
    using proxy::ForwardedField;
    auto const forwarded = one_of<ForwardedField>({{"auto", ForwardedField::by_listener},
                                                   {"off", ForwardedField::none},
                                                   {"forwarded", ForwardedField::forwarded},
                                                   {"x-forwarded-for", ForwardedField::x_forwarded_for}});
    using proxy::ForwardedReceived;
    auto const received = one_of<ForwardedReceived>({{"auto", ForwardedReceived::by_listener},
                                                     {"keep", ForwardedReceived::keep},
                                                     {"delete", ForwardedReceived::remove}});
    return {
        schema_key(),
        key<Config>("listen", [](Config& c) -> auto& { return c.proxy.listen; }, list_of(listen()),
                    "Where clients are served."),
        key<Config>("workers", &Config::workers, count(0, 1'024), "Threads; 0 for one per core."),
        key<Config>("user", &Config::user, text(),
                    "The user that Garner becomes when it is started as root, once its ports but that of `seen` are open; empty for "
                    "`garner`, or `nobody` where there is no such user. `root` stays root."),
        key<Config>("memory", &Config::memory, memory(), "The memory tier."),
        key<Config>("disk", &Config::disk, disk(), "The disk tier."),
        key<Config>("caching", [](Config& c) -> auto& { return c.proxy.caching; }, caching(), "What is cached."),
        key<Config>("access", [](Config& c) -> auto& { return c.proxy.access; }, access(),
                    "Who may ask for what: the first rule that matches decides. Where none does: clients on loopback."),
        key<Config>("purge", [](Config& c) -> auto& { return c.proxy.purge; }, list_of(purge_rule()),
                    "Who may PURGE, in the same way. At an accelerator no client may without a rule: behind a TLS terminator on this "
                    "machine every visitor is on loopback."),
        key<Config>("private_networks", [](Config& c) -> auto& { return c.proxy.private_closed; },
                    one_of<bool>({{"open", false}, {"closed", true}}),
                    "`closed`: private, shared, multicast, reserved, documentation and benchmark networks and the addresses of "
                    "cloud services are reached only by a rule that names `destination`. Loopback, link-local and own addresses "
                    "always are."),
        key<Config>("misses", [](Config& c) -> auto& { return c.proxy.misses; }, list_of(miss_rule()),
                    "Who may have what is not stored, in the same way, without `destination`; where none matches: everybody. "
                    "Siblings that are denied it get 504."),
        key<Config>("dns", &Config::dns, dns(), "Names to addresses."),
        key<Config>("connect", &Config::connect, connect(), "Connections to origins."),
        key<Config>("tls", &Config::tls, tls(), "TLS towards origins."),
        key<Config>("pool", &Config::pool, pool(), "Idle connections to origins."),
        key<Config>("limits", [](Config& c) -> auto& { return c.proxy.limits; }, limits(), "Bounds."),
        key<Config>("deadlines", [](Config& c) -> auto& { return c.proxy.deadlines; }, deadlines(),
                    "How long things may take."),
        key<Config>("forwarded", [](Config& c) -> auto& { return c.proxy.forwarded; }, forwarded,
                    "The field that tells origins the client's address. `auto`: accelerators write X-Forwarded-For, "
                    "X-Forwarded-Proto and X-Forwarded-Host (the host of the cache key, not what the client wrote); forward "
                    "proxies write none."),
        key<Config>("forwarded_received", [](Config& c) -> auto& { return c.proxy.forwarded_received; }, received,
                    "Fields that clients send and that speak for a gateway or override the request line: Forwarded, "
                    "X-Forwarded-*, X-Real-IP, X-Host, X-Original-URL, X-Rewrite-URL, X-HTTP-Method-Override and their kin. They "
                    "are passed on, or deleted, so that no client can claim another's address or change what others get. "
                    "`auto`: accelerators delete them, forward proxies keep them. The field Proxy is always deleted, and an "
                    "answer to a request with a method override is not stored."),
        key<Config>("forwarded_trusted", [](Config& c) -> auto& { return c.proxy.forwarded_trusted; }, list_of(network()),
                    "Networks of gateways in front of this proxy: `forwarded_received` deletes no fields of these clients."),
        key<Config>("via", [](Config& c) -> auto& { return c.proxy.via_name; }, via_name(),
                    "This proxy's name in Via; empty for one that is unique to the process."),
        key<Config>("log", [](Config& c) -> auto& { return c.proxy.log; }, log(), "Logs."),
        key<Config>("admin", &Config::admin, admin(), "Figures, purges and the page."),
        key<Config>("seen", &Config::seen, seen_urls(), "Which URLs have crawlers seen?"),
        key<Config>("icp", [](Config& c) -> auto& { return c.mesh; }, icp(), "Questions between caches by ICP."),
        key<Config>("htcp", [](Config& c) -> auto& { return c.mesh.htcp; }, htcp(), "The same and purges by HTCP."),
        key<Config>("digest", [](Config& c) -> auto& { return c.mesh.digest; }, digest(), "Our cache digest."),
        key<Config>("peers", [](Config& c) -> auto& { return c.mesh.peers; }, list_of(peer()), "Other caches that are used."),
        key<Config>("direct", [](Config& c) -> auto& { return c.mesh.direct; }, direct(), "Requests past the peers."),
    };
}

}  // namespace

Form<Config> const& configuration() {
    static Form<Config> const form = object_of<Config>(keys(), check_whole);
    return form;
}

std::vector<std::string> key_paths() {
    std::vector<std::string> paths;
    for (auto const& note : configuration().inner) paths.push_back(note.path);
    return paths;
}

}  // namespace garner::config
