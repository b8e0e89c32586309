// The table of keys: name, place, form with bounds, meaning. A new key is one line here.
#include "config/keys.hpp"

#include <bit>
#include <set>

#include "config/address_form.hpp"
#include "config/rule_form.hpp"
#include "http/uri.hpp"
#include "policy/policies.hpp"
#include "seen/answers.hpp"
#include "sim/auto_policy.hpp"
#include "store/disk_format.hpp"
#include "util/units.hpp"

namespace garner::config {
namespace {

constexpr milliseconds never_zero{1};
constexpr milliseconds hour{3'600'000};
constexpr milliseconds day = 24 * hour;
constexpr milliseconds year = 366 * day;
constexpr Bytes size_max = Bytes{1} << 50;
constexpr std::uint32_t million = 1'000'000;

// ---- keys whose place is two members ----

/// What takes an address and a port where they are kept apart, and "off" as no address.
template <class T>
struct AddressAndPort {
    T& target;
    void operator=(IpEndpoint const& endpoint) {
        bool const on = endpoint.port != 0;
        target.address = on ? endpoint.address.text() : "";
        if (on) target.port = endpoint.port;
        if constexpr (requires { target.enabled; }) target.enabled = on;
    }
};

template <class T>
Row<T> address_key(Form<IpEndpoint> form, std::string const& preset, std::string what) {
    auto row = key<T>("address", [](T& target) { return AddressAndPort<T>{target}; }, form, std::move(what));
    row.notes.front().preset = preset;
    if (!preset.empty()) row.schema["default"] = Schema::parse(preset);
    return row;
}

// ---- parts, in the order of the documentation ----

Form<proxy::Listen> listen() {
    return object_of<proxy::Listen>({
        required(address_key<proxy::Listen>(
            endpoint(false), "", "An IP address, `localhost` or nothing (all addresses), and a port.")),
        key<proxy::Listen>("origin", &proxy::Listen::origin, origin(),
                           "Makes this an accelerator (reverse proxy) for the origin `http://host:port` or "
                           "`https://host:port`, which sees its own name in Host, whatever the client wrote. All other "
                           "fields of any client go through and are no part of the key: an origin that builds pages "
                           "from X-Forwarded-Host or the like lets one client choose what all others are given, unless "
                           "it names them in Vary."),
    });
}

// "name" or "name:setting=value:…"; `own` is a name that is none of a policy, and has no settings.
Form<std::string> policy_spec(std::string const& own = "") {
    std::vector<std::string> names;
    if (!own.empty()) names.push_back(own);
    for (auto const& row : policy::all()) names.emplace_back(row.name);
    auto const named = choice(std::move(names));
    auto read = [named, own](Reader& reader, Json const& value, std::string& into) {
        if (!value.is_string()) return named.read(reader, value, into);
        auto const& text = value.get_ref<std::string const&>();
        std::string name, written;
        if (!named.read(reader, text.substr(0, text.find(':')), name)) return false;
        if (!config::text().read(reader, value, written)) return false;
        if (name == own) {
            if (written != own) return reader.fault(in_quotes(own) + " has no settings", "write the name alone");
            into = own;
            return true;
        }
        auto const spec = policy::read_spec(written);
        auto const mend = "write " + in_quotes(name + ":setting=value") + ", or the name alone";
        if (!spec.row) return reader.fault(spec.fault, mend);
        into = std::move(written);
        return true;
    };
    // Policies come and go with their files: the schema does not list them.
    return {"policy", {{"type", "string"}}, read, named.show};
}

/// A policy, or whichever does best.
Form<std::string> policy_or_auto() {
    auto form = policy_spec();
    form.read = [policy = form.read](Reader& reader, Json const& value, std::string& into) {
        if (!value.is_string() || !sim::AutoPolicy::is_spec(value.get<std::string>())) return policy(reader, value, into);
        auto const fault = sim::AutoPolicy::read(value.get<std::string>()).fault;
        if (!fault.empty()) return reader.fault(fault, "write auto, or auto:aim=bytes");
        into = value.get<std::string>();
        return true;
    };
    return form;
}

/// "auto" may come to any of them.
Bytes least_memory(cache::Options memory) {
    if (!sim::AutoPolicy::is_spec(memory.policy)) return cache::least_size(memory);
    Bytes least = 0;
    for (auto const& row : policy::all()) {
        memory.policy = row.name;
        least = std::max(least, cache::least_size(memory));
    }
    return least;
}

void check_memory(Reader& reader, Json const& value, cache::Options& memory) {
    if (sim::AutoPolicy::is_spec(memory.policy) && !memory.what_if) {
        Reader::Step const step(reader, "what_if");
        reader.fault("is false, and memory.policy \"auto\" goes by it", "write true, or name a policy");
    }
    if (!std::has_single_bit(memory.shards)) {
        Reader::Step const step(reader, "shards");
        reader.fault("is not a power of two", "write 64 or " + std::to_string(std::bit_ceil(memory.shards)));
    }
    // The default shrinks with a small memory; what is written is believed, and told when it can never come true.
    if (!value.contains("object_max"))
        memory.object_max = std::min(memory.object_max, memory.size / 2);
    else if (memory.object_max > memory.size) {
        Reader::Step const step(reader, "object_max");
        reader.notice("is larger than memory.size", "objects larger than memory are never kept in it");
    }
    if (auto const least = least_memory(memory); memory.size < least) {
        Reader::Step const step(reader, "size");
        reader.fault("leaves hardly any room beside the index and the policy " + in_quotes(memory.policy),
                     "write " + in_quotes(size_text(least)) + " or more, or another policy");
    }
}

Form<cache::Options> memory() {
    using T = cache::Options;
    return object_of<T>(
        {
            key<T>("size", &T::size, size(64 * KiB, size_max),
                   "The memory tier's whole budget: bodies, heads, keys, index, policy and remembered failures."),
            key<T>("policy", &T::policy, policy_or_auto(),
                   "Which object leaves when memory is full: a replacement policy by name, with settings or without. `auto` "
                   "follows the one that would have missed the fewest objects, `auto:aim=bytes` bytes, of the sampled "
                   "traffic: when another has missed `margin=3` percent less in each of `windows=3` comparisons of "
                   "`window=10` seconds, and the last change is `rest=60` seconds ago (write `auto:margin=5:rest=600`)."),
            key<T>("what_if", &T::what_if, flag(),
                   "A sample of the traffic goes through miniatures of all policies at half, the same, twice and four "
                   "times `memory.size`: see `garner stats --what-if`."),
            key<T>("object_max", &T::object_max, size(0, size_max),
                   "The largest body kept in memory. When not given, at most half of `memory.size`."),
            key<T>("fill_share", &T::fill_share, fraction(0.01, 1),
                   "Share of `memory.size` for bodies that are still being received."),
            key<T>("shards", &T::shards, count(1, 4'096),
                   "Parts with a lock each; a power of two. Fewer where each would have less than 256 KiB."),
            key<T>("variants_per_url", &T::variants_per_url, count(1, 1'024),
                   "Responses kept for one URL that differ by Vary; the oldest leaves."),
        },
        check_memory);
}

/// The log fills one segment while others are written, and what must be kept of one that is needed has its place, too.
Bytes least_buffer(store::DiskOptions const& disk) {
    constexpr Bytes segments = 4;
    return segments * store::disk::shape_of(disk.size).segment_bytes;
}

void check_disk(Reader& reader, Json const& value, store::DiskOptions& disk) {
    auto const least = least_buffer(disk);
    // What is not written follows a small disk; what is written is believed.
    if (!value.contains("object_max"))
        disk.object_max = std::min(disk.object_max, disk.size / 2);
    else if (disk.object_max > disk.size) {
        Reader::Step const step(reader, "object_max");
        reader.notice("is larger than disk.size", "objects larger than the disk tier are never kept in it");
    }
    if (!value.contains("buffer"))
        disk.buffer = std::max(least, std::min(disk.buffer, disk.size / 4));
    else if (disk.buffer < least) {
        Reader::Step const step(reader, "buffer");
        reader.fault("holds less than four segments of a disk tier of " + size_text(disk.size),
                     "write " + in_quotes(size_text(least)) + " or more, or a smaller disk.size");
    }
    if (disk.object_min <= disk.object_max) return;
    Reader::Step const step(reader, "object_min");
    reader.fault("is larger than disk.object_max, so that nothing would be stored", "lower it, or raise object_max");
}

Form<store::DiskOptions> disk() {
    using T = store::DiskOptions;
    using enum T::Admit;
    constexpr milliseconds shortest{10}, longest{10'000};
    return object_of<T>(
        {
            key<T>("path", &T::path, text(),
                   "Directory of the disk tier, or a block device, which it then has for itself; empty for none."),
            key<T>("size", &T::size, size(16 * MiB, size_max),
                   "The disk tier's whole budget, taken at the start; a device is used as far as it goes."),
            key<T>("policy", &T::policy, policy_spec(T{}.policy),
                   "Which object leaves when the disk tier is full. `fifo-reinsertion`: the oldest that was not used since "
                   "it was written; it costs no memory. A replacement policy, with settings or without: the one that the "
                   "policy names, for up to 30 bytes of memory an object more."),
            key<T>("object_max", &T::object_max, size(0, size_max),
                   "The largest body kept on disk. When not given, at most half of `disk.size`."),
            key<T>("object_min", &T::object_min, size(0, size_max), "Smaller bodies stay out."),
            key<T>("buffer", &T::buffer, size(2 * MiB, size_max),
                   "Memory for what waits to be written, at least four segments; while it is full nothing more is stored. "
                   "What is read and not yet sent may take as much again. When not given, at most a quarter of "
                   "`disk.size`."),
            key<T>("sync", &T::sync, time(shortest, longest),
                   "How often what was written is forced to the disk: what a power failure may take at most."),
            key<T>("patience", &T::patience, time(shortest, longest),
                   "How long a request waits for the disk before it goes to the origin."),
            key<T>("readers", &T::readers, count(1, 64), "Threads for reads that must wait for the disk."),
            key<T>("admit", &T::admit, one_of<T::Admit>({{"all", all}, {"second-hit", second_hit}}),
                   "What is written: all that may be stored, or what was asked for twice, which spares a disk that wears "
                   "out."),
            key<T>("rate", &T::rate, size(0, size_max),
                   "Bytes a second that newcomers may have written, for the same end; 0 for any."),
        },
        check_disk);
}

Form<std::string> field_name() {
    auto parse = [](std::string const& text, std::string& into, std::string&) {
        into = text;
        return http::is_token(text);
    };
    return parsed<std::string>("field name", "a field name", R"(write it like "CDN-Cache-Control")", parse);
}

Form<proxy::Caching> caching() {
    using T = proxy::Caching;
    return object_of<T>({
        key<T>("never", &T::never, list_of(part_of_url()),
               "URLs that contain one of these are not cached; compared as `url_contains` does."),
        key<T>("default_ttl", &T::default_ttl, time(milliseconds{0}, year),
               "Freshness lifetime of responses that have none of their own, not even a heuristic one."),
        key<T>("negative_ttl", &T::negative_ttl, time(milliseconds{0}, day),
               "How long failed fetches are remembered at most; 0s for not at all."),
        key<T>("negative_backoff", &T::negative_backoff, flag(),
               "`true`: they are remembered for 5s at first, doubled with each failure in a row up to negative_ttl; "
               "`false`: always for negative_ttl."),
        key<T>("offline", &T::offline, flag(),
               "Whatever is stored is served, fresh or stale, without revalidation; what is not is still fetched."),
        key<T>("store_set_cookie", &T::store_set_cookie, flag(),
               "Responses with Set-Cookie are stored like others when they have explicit freshness."),
        key<T>("range_fetches_whole", &T::range_fetches_whole, flag(),
               "A request for a range of what is not stored fetches all of it, where that may be kept; else only the range."),
        key<T>("targeted_cache_control", &T::targeted_cache_control, list_of(field_name()),
               "Targeted fields (RFC 9213) such as CDN-Cache-Control: the first valid one of a response counts, not "
               "Cache-Control and Expires. Origins mean them for caches that they can purge."),
        key<T>("rules", &T::rules, list_of(caching_rule()),
               "Exceptions by matchers (see below), without `destination`; one that has none matches everything. Each "
               "rule that matches adds its settings; where two set the same key, the first counts."),
    });
}

Form<icp::Options> icp() {
    using T = icp::Options;
    constexpr milliseconds longest{2'000};
    return object_of<T>({
        address_key<T>(endpoint(true), R"("")",
                       "Address and UDP port for ICP (RFC 2186): queries of other caches are answered there, and ours leave "
                       "from it. Empty for none; ours leave from a port of their own then."),
        key<T>("timeout", &T::timeout, time(milliseconds{5}, longest),
               "The longest that answers of peers are waited for; as a rule it is twice their mean round trip."),
        key<T>("source_ping", &T::source_ping, flag(),
               "The origin competes with the peers that have it, by the remembered round-trip time of connections to it."),
        key<T>("source_echo", &T::source_echo, port(0),
               "The origin competes by its UDP echo port too, as with Harvest (7); 0 for not. For laboratories."),
        key<T>("hit_margin", &T::hit_margin, time(milliseconds{0}, hour),
               "HIT is answered of what stays fresh for so long yet."),
        key<T>("queries_per_second", &T::queries_per_second, count(0, 10 * million),
               "How many queries of one address are answered; more are dropped. 0 for no limit."),
        key<T>("allow", &T::allow, list_of(network()), "Networks that get answers; empty for nobody."),
    });
}

Form<icp::HtcpOptions> htcp() {
    using T = icp::HtcpOptions;
    return object_of<T>({
        address_key<T>(endpoint(true), R"("")",
                       "Address and UDP port for HTCP (RFC 2756); empty for none, ours leave from a port of their own then."),
        key<T>("allow", &T::allow, list_of(network()), "Networks that get answers (TST); empty for nobody."),
        key<T>("clear_allow", &T::clear_allow, list_of(network()), "Networks that may purge here (CLR); empty for nobody."),
        key<T>("purge_to", &T::purge_to, list_of(remote_endpoint()),
               "Addresses and HTCP ports that hear of purges, beside the peers with HTCP."),
        key<T>("secret", &T::secret, text(),
               "Shared with the other Garners: messages are signed with it (HMAC), and those without a good signature "
               "refused. Squid signs nothing."),
    });
}

Form<icp::DigestOptions> digest() {
    using T = icp::DigestOptions;
    return object_of<T>({
        key<T>("publish", &T::publish, flag(),
               "What is stored is told to other caches as a cache digest, at the path where Squid looks for it."),
        key<T>("rebuild", &T::rebuild, time(seconds{1}, year), "How often it is made anew."),
    });
}

Form<icp::Domain> domain() {
    auto const pattern = host_pattern();
    auto read = [pattern](Reader& reader, Json const& value, icp::Domain& into) {
        if (!value.is_string()) return pattern.read(reader, value, into.host);
        auto const& text = value.get_ref<std::string const&>();
        into.excluded = text.starts_with('!');
        if (text.starts_with("!!")) return reader.fault(in_quotes(text) + " excludes twice", R"(write one "!")");
        return pattern.read(reader, into.excluded ? Json(text.substr(1)) : value, into.host);
    };
    return {"host", pattern.schema, read, nullptr};
}

Form<std::string> url() {
    auto parse = [](std::string const& text, std::string& into, std::string& why) {
        http::UriError refused;
        into = text;
        if (text.empty() || http::parse_absolute(text, refused)) return true;
        why += std::string(": ") + refused.refusal;
        return false;
    };
    auto form = parsed<std::string>("URL", "a URL", R"(write it like "http://10.0.0.3:3128/digest")", parse);
    form.show = [](std::string const& value) { return in_quotes(value); };
    return form;
}

Form<icp::PeerOptions> peer() {
    using T = icp::PeerOptions;
    auto const check = [](Reader& reader, Json const&, T& peer) {
        bool const parent = peer.type == T::Type::parent;
        auto const only_parent = [&](bool given, char const* name) {
            if (!given || parent) return;
            Reader::Step const step(reader, name);
            reader.fault("is for parents: a sibling fetches nothing for us", R"(leave it out, or write "type": "parent")");
        };
        only_parent(peer.is_default, "default");
        only_parent(peer.round_robin, "round_robin");
        only_parent(!peer.group.empty(), "group");
        if (!peer.login.empty() && peer.login.find(':') == std::string::npos) {
            Reader::Step const step(reader, "login");
            reader.fault("has no password", R"(write "user:password")");
        }
    };
    return object_of<T>(
        {
            required(key<T>("name", &T::name, text(), "Name in logs and figures.")),
            key<T>("type", &T::type,
                   one_of<T::Type>({{"parent", T::Type::parent}, {"sibling", T::Type::sibling}}),
                   "A parent fetches for us; a sibling gives only what it has."),
            required(key<T>("host", &T::host, host_name(), "Name or address.")),
            key<T>("http", &T::http, port(), "Its HTTP port."),
            key<T>("icp", &T::icp, port(0), "Its ICP port; 0 for none."),
            key<T>("htcp", &T::htcp, port(0), "Its HTCP port: it is asked there, and not by ICP; 0 for none."),
            key<T>("digest", &T::digest, flag(), "Its cache digest is fetched, and looked into before anybody is asked."),
            key<T>("digest_url", &T::digest_url, url(), "Where its digest is; empty for Squid's place."),
            key<T>("domains", &T::domains, list_of(domain()),
                   "Used only for these; empty for all. A parent with domains is bound to them: their requests go through "
                   "it. With `!` those that it is not used for; the first that matches decides."),
            key<T>("weight", &T::weight, count(1, 1'000), "By how much it is better than it is near: its times are divided by it."),
            key<T>("default", &T::is_default, flag(), "Used when no other source is known."),
            key<T>("no_query", &T::no_query, flag(), "It is never asked what it has."),
            key<T>("round_robin", &T::round_robin, flag(), "Takes turns with the others that have this, where nothing else decides."),
            key<T>("proxy_only", &T::proxy_only, flag(), "What it gives is not stored here."),
            key<T>("max_connections", &T::max_connections, count(0, million), "To it at a time; 0 for no limit."),
            key<T>("login", &T::login, text(), "`user:password` for it (Basic)."),
            key<T>("group", &T::group, text(),
                   "Parents of one group share the URLs among them by their names (rendezvous hashing, as CARP)."),
            key<T>("connect_timeout", &T::connect_timeout, time(milliseconds{10}, milliseconds{60'000}),
                   "How long a connection to it may take to begin, and how long it may be silent on TCP's level."),
        },
        check);
}

Form<icp::DirectOptions> direct() {
    using T = icp::DirectOptions;
    return object_of<T>({
        key<T>("always", &T::always, list_of(matcher()), "Requests that go to the origin, past all peers."),
        key<T>("never", &T::never, list_of(matcher()), "Requests that go to peers only."),
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

/// An access rule where no address is known, so that a destination could never match.
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
        if (limits.head.target < limits.head.bytes) return;
        Reader::Step const step(reader, "target_bytes");
        reader.fault("is not below limits.head_bytes, of which the target is a part", "lower it, or raise head_bytes");
    };
    return object_of<T>(
        {
            key<T>("head_bytes", [](T& l) -> auto& { return l.head.bytes; }, size(KiB, 16 * MiB),
                   "A message's head, start line and all fields."),
            key<T>("fields", [](T& l) -> auto& { return l.head.fields; }, count(8, 100'000), "Field lines of a head."),
            key<T>("target_bytes", [](T& l) -> auto& { return l.head.target; }, size(256, 16 * MiB),
                   "A request's target (its URL)."),
            key<T>("connections", &T::connections, count(1, 10 * million),
                   "Clients at a time; lowered to what the system's limit of open files allows."),
            key<T>("connections_per_client", &T::connections_per_client, count(0, 10 * million),
                   "Connections of one client address; 0 for no limit."),
            key<T>("pipelined_per_turn", &T::pipelined_per_turn, count(1, 10'000),
                   "Pipelined requests answered before other connections get their turn."),
            key<T>("interim_responses", &T::interim_responses, count(0, 1'000),
                   "1xx responses accepted before a final one."),
            key<T>("max_hops", &T::max_hops, count(1, 1'000), "Entries of Via before a request counts as looping."),
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
        key<T>("fill", &T::fill, some, "How long a client waits for another client's fetch to say anything."),
        key<T>("tunnel_idle", &T::tunnel_idle, some, "Without a byte in a tunnel."),
        key<T>("tunnel_total", &T::tunnel_total, some, "A tunnel's whole life."),
        key<T>("drain", &T::drain, time(milliseconds{0}, hour), "What running requests get after SIGTERM."),
    });
}

Form<net::ResolverOptions> dns() {
    using T = net::ResolverOptions;
    auto const some = time(never_zero, year);
    auto const check = [](Reader& reader, Json const&, T& dns) {
        if (dns.positive_min > dns.positive_max)
            reader.fault("positive_min is longer than positive_max", "swap them");
        dns.negative_first = std::min(dns.negative_first, dns.negative_ttl);
    };
    return object_of<T>(
        {
            key<T>("servers", &T::servers, list_of(name_server()),
                   "Name servers, with a port or without; empty for those of /etc/resolv.conf."),
            key<T>("negative_first", &T::negative_first, some,
                   "How long a failure is remembered at first; doubles up to `dns.negative_ttl`."),
            key<T>("negative_ttl", &T::negative_ttl, some, "How long a failure is remembered at most."),
            key<T>("positive_min", &T::positive_min, some, "How long an answer is remembered at least."),
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
        key<T>("idle_per_origin", &T::idle_per_origin, count(0, 100'000),
               "Idle connections kept to one origin, by each worker."),
        key<T>("idle_total", &T::idle_total, count(0, million),
               "Idle connections kept to all origins, by each worker."),
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
        key<T>("level", &T::level, choice({"debug", "info", "warn", "error"}),
               "The least important message told on standard error."),
    });
}

Form<Admin> admin() {
    return object_of<Admin>({
        address_key<Admin>(endpoint(true), R"("127.0.0.1:3131")",
                           "Address and port of figures, purges and the page; empty for none."),
    });
}

Form<seen::Peer> seen_peer() {
    auto parse = [](std::string const& text, seen::Peer& into, std::string&) {
        std::string fault;
        auto const peers = seen::read_peers(text, fault);
        if (peers.size() == 1) into = peers.front();
        return peers.size() == 1;
    };
    auto form = parsed<seen::Peer>("host and port", "a host and a port", "write \"10.0.0.3:3132\"", parse);
    form.show = [](seen::Peer const& peer) { return in_quotes(peer.text()); };
    return form;
}

Form<seen::Options> seen_urls() {
    using T = seen::Options;
    auto const check = [](Reader& reader, Json const&, T& seen) {
        if (seen.address.empty()) return;
        if (auto const fault = seen::fault_of(seen); !fault.empty()) reader.fault(fault, "docs/url_seen.md says what there is");
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
            key<T>("batch_links", &T::batch_links, count(1, 100 * million), "Links in a batch."),
            key<T>("body", &T::body_bytes, size(KiB, size_max), "Bytes of a batch."),
            key<T>("waiting_links", &T::waiting_links, count(1, 1'000 * million),
                   "Links that may wait for the set, or for another partition; beyond them: 503."),
        },
        check);
}

Form<std::string> via_name() {
    auto parse = [](std::string const& text, std::string& into, std::string&) {
        http::UriError error;
        into = text;
        constexpr std::size_t longest = 255;   // every response carries it twice
        if (text.size() > longest) return false;
        return text.empty() || http::is_token(text) || http::parse_authority(text, error).has_value();
    };
    auto form = parsed<std::string>("text", "a name for Via", "write a word or host:port, at most 255 bytes", parse);
    form.show = [](std::string const& value) { return in_quotes(value); };
    return form;
}

// Editors that know the schema by this key want it in the file.
Row<Config> schema_key() {
    auto read = [](Reader& reader, Json const& value, Config&) {
        std::string ignored;
        return text().read(reader, value, ignored);
    };
    std::string const what = "For editors: where the schema is.";
    return {"$schema", read, {{"type", "string"}, {"description", what}}, {{"$schema", "text", "", what}}};
}

// ---- between the parts ----

/// The address an item of `listen` gives, or nothing when that is faulty and has been told.
std::optional<IpEndpoint> listens_on(Json const& item) {
    if (!item.is_object() || !item.contains("address") || !item["address"].is_string()) return std::nullopt;
    IpEndpoint endpoint;
    std::string why;
    if (!parse_endpoint(item["address"].get_ref<std::string const&>(), endpoint, why)) return std::nullopt;
    return endpoint;
}

void check_listen(Reader& reader, Json const& list, Admin const& admin) {
    Reader::Step const at_list(reader, "listen");
    if (list.is_array() && list.empty()) {
        reader.fault("nothing to listen on", R"(add { "address": "127.0.0.1:3128" })");
        return;
    }
    std::vector<IpEndpoint> before;
    for (std::size_t i = 0; list.is_array() && i < list.size(); ++i) {
        auto const endpoint = listens_on(list[i]);
        if (!endpoint) continue;
        Reader::Step const at_item(reader, i);
        Reader::Step const at_address(reader, "address");
        if (std::find(before.begin(), before.end(), *endpoint) != before.end())
            reader.fault(endpoint->text() + " is listened on already", "give each its own address or port");
        else if (admin.enabled && endpoint->address.text() == admin.address && endpoint->port == admin.port)
            reader.fault(endpoint->text() + " is admin.address", "give each its own address or port");
        before.push_back(*endpoint);
    }
}

void check_peer_names(Reader& reader, std::vector<icp::PeerOptions> const& peers) {
    std::set<std::string> names;
    for (auto const& peer : peers) {
        if (names.insert(peer.name).second) continue;
        Reader::Step const step(reader, "peers");
        reader.fault("two peers are named " + in_quotes(peer.name), "give each its own name");
    }
}

/// Who asks itself waits for its own answer.
void check_mesh(Reader& reader, Config const& config) {
    auto const& mesh = config.mesh;
    for (std::size_t i = 0; i < mesh.peers.size(); ++i) {
        auto const& peer = mesh.peers[i];
        auto const ours = [&](proxy::Listen const& listen) { return listen.address == peer.host && listen.port == peer.http; };
        if (std::none_of(config.proxy.listen.begin(), config.proxy.listen.end(), ours)) continue;
        Reader::Step const at_peers(reader, "peers");
        Reader::Step const at_peer(reader, i);
        reader.fault("is this proxy itself", "write where the other cache listens, or leave it out");
    }
    bool const same = !mesh.address.empty() && mesh.address == mesh.htcp.address && mesh.port == mesh.htcp.port;
    if (!same) return;
    Reader::Step const step(reader, "htcp");
    reader.fault("address is that of icp", "give each its own port, as 3130 and 4827");
}

void check_whole(Reader& reader, Json const& value, Config& config) {
    static Json const default_listen = Json::parse(R"([{"address": "127.0.0.1:3128"}])");
    check_listen(reader, value.contains("listen") ? value["listen"] : default_listen, config.admin);
    check_peer_names(reader, config.mesh.peers);
    check_mesh(reader, config);
}

Table<Config> keys() {
    using proxy::ForwardedField;
    auto const forwarded = one_of<ForwardedField>({{"off", ForwardedField::none},
                                                   {"forwarded", ForwardedField::forwarded},
                                                   {"x-forwarded-for", ForwardedField::x_forwarded_for}});
    return {
        schema_key(),
        key<Config>("listen", [](Config& c) -> auto& { return c.proxy.listen; }, list_of(listen()),
                    "Where clients are served."),
        key<Config>("workers", &Config::workers, count(0, 1'024), "Threads; 0 for one per core."),
        key<Config>("memory", &Config::memory, memory(), "The memory tier."),
        key<Config>("disk", &Config::disk, disk(), "The disk tier."),
        key<Config>("caching", [](Config& c) -> auto& { return c.proxy.caching; }, caching(), "What is cached."),
        key<Config>("access", [](Config& c) -> auto& { return c.proxy.access; }, access(),
                    "Who may ask for what: the first rule that matches decides. Where none does: clients on loopback."),
        key<Config>("purge", [](Config& c) -> auto& { return c.proxy.purge; }, list_of(purge_rule()),
                    "Who may PURGE, in the same way."),
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
                    "The field that tells origins the client's address."),
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

std::span<std::string const> key_paths() {
    static std::vector<std::string> const paths = [] {
        std::vector<std::string> all;
        for (auto const& note : configuration().inner) all.push_back(note.path);
        return all;
    }();
    return paths;
}

}  // namespace garner::config
