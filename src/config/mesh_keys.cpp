// The keys of the peer mesh: ICP, HTCP, digests, peers, direct.
#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"
#include "http/uri.hpp"
#include "util/idna.hpp"

namespace garner::config {

Form<icp::Options> icp() {
    using T = icp::Options;
    return object_of<T>({
        address_key<T>(endpoint(true), R"("")",
                       "UDP address for ICP (RFC 2186) that answers queries and sends own ones. Empty: no queries are answered, "
                       "and own ones are sent from an ephemeral port."),
        key<T>("timeout", &T::timeout, time(milliseconds{5}, icp::asking_max),
               "Maximum time to wait for replies of peers. The usual time is twice their mean round-trip time."),
        key<T>("timeout_min", &T::timeout_min, time(milliseconds{0}, icp::asking_max),
               "Minimum time to wait for replies of peers (Squid: minimum_icp_query_timeout)."),
        key<T>("source_ping", &T::source_ping, flag(),
               "`true`: the origin is compared with the peers that have the object, by the round-trip time of connections to it."),
        retired<T>("source_echo"),
        key<T>("hit_margin", &T::hit_margin, time(milliseconds{0}, hour),
               "HIT is sent only for objects that stay fresh at least this long."),
        key<T>("queries_per_second_max", &T::queries_per_second, count(0, 10 * million),
               "Queries of one address that are answered per second; more are dropped. 0: no limit.")
            .was("queries_per_second"),
        key<T>("allow", &T::allow, list_of(network()),
               "Networks that receive replies and may fetch the cache digest; empty: "
               "none."),
    });
}

Form<icp::HtcpOptions> htcp() {
    using T = icp::HtcpOptions;
    return object_of<T>({
        address_key<T>(endpoint(true), R"("")", "UDP address for HTCP (RFC 2756); empty: as for `icp.address`."),
        key<T>("allow", &T::allow, list_of(network()), "Networks that receive replies to queries (TST); empty: none."),
        key<T>("clear_allow", &T::clear_allow, list_of(network()), "Networks that may purge objects (CLR); empty: none."),
        key<T>("purge_to", &T::purge_to, list_of(remote_endpoint()),
               "Addresses with HTCP port that are notified of purges, in addition to peers with HTCP."),
        key<T>("secret", &T::secret, text(),
               "Secret shared with other Garner proxies: messages are signed with it (HMAC), and messages without a valid "
               "signature are rejected. Squid does not sign."),
    });
}

Form<icp::DigestOptions> digest() {
    using T = icp::DigestOptions;
    return object_of<T>({
        key<T>("publish", &T::publish, flag(), "`true`: a cache digest is offered to other caches, at the path that Squid uses."),
        key<T>("rebuild_interval", &T::rebuild, time(seconds{1}, year), "Interval between rebuilds of the digest.").was("rebuild"),
    });
}

namespace {

Form<icp::Domain> domain() {
    auto const pattern = host_pattern();
    auto read = [pattern](Reader& reader, Json const& value, icp::Domain& into) {
        if (!value.is_string()) return pattern.read(reader, value, into.host);
        auto const& text = value.get_ref<std::string const&>();
        into.excluded = text.starts_with('!');
        if (text.starts_with("!!")) return reader.fault(in_quotes(text) + " excludes twice", R"(write one "!")");
        return pattern.read(reader, into.excluded ? Json(text.substr(1)) : value, into.host);
    };
    return {"host", pattern.describe, read, nullptr};
}

Form<std::string> url() {
    auto const accept = [](std::string const& text, std::string& why) {
        http::UriError refused;
        if (text.empty() || http::parse_absolute(text, refused)) return true;
        why += std::string(": ") + refused.refusal;
        return false;
    };
    auto form = checked("URL", "a URL", R"(write it like "http://10.0.0.3:3128/digest")", accept);
    form.show_by(in_quotes);
    return form;
}

Form<icp::PeerTls> peer_tls() {
    using T = icp::PeerTls;
    auto const check = [](Reader& reader, Json const&, T& tls) {
        if (tls.chain.empty() != tls.key.empty())
            reader.fault({tls.chain.empty() ? "chain" : "key"}, "is missing: a client certificate needs both files", "add it");
    };
    return object_of<T>(
        {
            key<T>("verify", &T::verify, flag(),
                   "`true`: the certificate of the peer is verified. `false`: any certificate is accepted."),
            key<T>("ca_file", &T::ca_file, text(),
                   "PEM file of the certificates that verify the peer's; each is a trust anchor. Empty: those of the system."),
            key<T>("server_name", &T::server_name, text(),
                   "Name that is sent to the peer (SNI) and must be in its certificate; empty: `host`."),
            key<T>("chain", &T::chain, text(),
                   "PEM file of the certificate for a peer that requests one, then the intermediate certificates; empty: none."),
            key<T>("key", &T::key, text(), "PEM file of the private key of `chain`, not encrypted. Reloads read it as `user`."),
        },
        check);
}

Form<std::string> service_name() {
    auto const accept = [](std::string const& text, std::string&) {
        auto const dot = text.find("._");
        constexpr std::size_t name_max = 253;
        return text.starts_with('_') && dot != text.npos && dot > 1 && text.find('.', dot + 2) != text.npos &&
               text.size() <= name_max && is_ascii(text) && http::HostPattern::parse(text);
    };
    return checked("service", "the name of a service", R"(write it like "_http._tcp.caches.example")", accept);
}

/// The host and the port of a peer come from the configuration or from DNS.
void check_place(Reader& reader, Json const& value, icp::PeerOptions const& peer) {
    bool const has_srv = value.contains("srv");
    if (!has_srv && !value.contains("host")) reader.fault("has neither host nor srv", R"(add "host": "cache.example")");
    if (has_srv && value.contains("host"))
        reader.fault({"srv"}, "stands beside host " + in_quotes(peer.host), "remove one of them: DNS names the hosts of srv");
    if (peer.srv_local && !has_srv) reader.fault({"srv_local"}, "stands without srv", "remove it");
    for (auto const* port : {"http_port", "http"})
        if (has_srv && value.contains(port)) reader.fault({port}, "stands beside srv, whose records have the ports", "remove it");
}

/// peers[].https must neither send https:// URLs in clear text without that word, nor ask for what a sibling cannot do.
void check_https(Reader& reader, icp::PeerOptions const& peer) {
    using enum icp::Https;
    if (peer.https == ask && !peer.tls)
        reader.fault({"https"}, "would send https:// requests in clear text: the peer has no tls",
                     R"(add "tls": {}, or write "clear" to allow that)");
    if (peer.https == tunnel && peer.type == icp::PeerOptions::Type::sibling)
        reader.fault({"https"}, "a sibling opens no tunnels", R"(write "ask" or "no", or "type": "parent")");
}

}   // namespace

Form<icp::PeerOptions> peer() {
    using T = icp::PeerOptions;
    auto const check = [](Reader& reader, Json const& value, T& peer) {
        check_place(reader, value, peer);
        check_https(reader, peer);
        bool const parent = peer.type == T::Type::parent;
        auto const only_parent = [&](bool given, char const* name) {
            if (given && !parent)
                reader.fault({name}, "is for parents only: a sibling does not fetch misses",
                             R"(remove it, or write "type": "parent")");
        };
        only_parent(peer.is_default, "default");
        only_parent(peer.round_robin, "round_robin");
        only_parent(!peer.group.empty(), "group");
        if (!peer.login.empty() && !peer.passes_login() && peer.login.find(':') == std::string::npos)
            reader.fault({"login"}, "has no password", R"(write "user:password", or "pass" for the logins of the clients)");
    };
    return object_of<T>(
        {
            required(key<T>("name", &T::name, text(), "Name in logs and metrics.")),
            key<T>("type", &T::type, one_of<T::Type>({{"parent", T::Type::parent}, {"sibling", T::Type::sibling}}),
                   "`parent`: fetches misses for this proxy. `sibling`: serves only objects that it has."),
            key<T>("host", &T::host, host_name(), "Host name or IP address."),
            key<T>(
                "srv", &T::srv, service_name(),
                "Instead of `host` and `http_port`: a service such as `_http._tcp.caches.example`, whose servers are in DNS (SRV "
                "records). Each server is a peer with these options, named `NAME/HOST:PORT`. Priority and weight of the records "
                "decide between them; DNS is asked again after their TTL (1 s to 1 min)."),
            key<T>("srv_local", &T::srv_local, flag(),
                   "`true`: the records of `srv` may name loopback and link-local addresses, and addresses of this machine: for "
                   "several proxies on one machine. Otherwise such servers are not used."),
            key<T>("http_port", &T::http, port(), "HTTP port.").was("http"),
            key<T>("tls", &T::tls, peer_tls,
                   "Given, also as `{}`: requests, tunnels, digests and liveness checks reach the HTTP port over TLS."),
            key<T>("https", &T::https,
                   one_of<icp::Https>({{"ask", icp::Https::ask},
                                       {"tunnel", icp::Https::tunnel},
                                       {"no", icp::Https::no},
                                       {"clear", icp::Https::clear}}),
                   "How the peer gets https:// requests. `ask`: over TLS, so that it can store the responses; default with `tls`. "
                   "`tunnel`: by CONNECT, with TLS to the origin inside; default of parents without `tls`. `no`: not at all, "
                   "and no CONNECT; default of siblings without `tls`. `clear`: like `ask`, and https:// URLs may leave in "
                   "clear text, in queries and, without `tls`, in requests."),
            key<T>("icp_port", &T::icp, port(0), "ICP port; 0: none.").was("icp"),
            key<T>("htcp_port", &T::htcp, port(0), "HTCP port, queried instead of the ICP port; 0: none.").was("htcp"),
            key<T>("digest", &T::digest, flag(),
                   "`true`: the peer's cache digest is fetched, and looked up before queries are sent."),
            key<T>("digest_url", &T::digest_url, url(), "URL of the cache digest; empty: the path that Squid uses."),
            key<T>("domains", &T::domains, list_of(domain()),
                   "Domains for which the peer is used; empty: all. Requests for the domains of a parent always go through it. `!` "
                   "excludes a domain; the first match decides."),
            key<T>("weight", &T::weight, count(1, 1'000), "The measured round-trip time is divided by it in peer selection."),
            key<T>("default", &T::is_default, flag(), "`true`: used if no other source is known."),
            key<T>("no_query", &T::no_query, flag(), "`true`: no queries are sent."),
            key<T>("round_robin", &T::round_robin, flag(),
                   "`true`: used in turn with other peers that have this key, if no other criterion decides."),
            key<T>("proxy_only", &T::proxy_only, flag(), "`true`: responses are not stored."),
            key<T>("proxy_protocol", &T::proxy_protocol, proxy_protocol_out(),
                   "Version of the PROXY protocol that tells the peer's HTTP port the client's address. Such connections are not "
                   "kept for other requests."),
            key<T>("connections_max", &T::max_connections, count(0, million), "Simultaneous connections; 0: no limit.")
                .was("max_connections"),
            key<T>(
                "login", &T::login, text(),
                "`user:password`: Basic authentication of this proxy. `pass`: the client's Proxy-Authorization goes to the peer, "
                "and the peer's 407 to the client (Squid: `login=PASS`). If the rules here ask for a login, too, both proxies "
                "must accept the same credentials. Negotiate, NTLM and the logins of decrypted tunnels are not passed. A response "
                "to one client is stored for all clients that the rules here allow."),
            key<T>(
                "group", &T::group, text(),
                "Parents of the same group divide the URLs among them by hashes of their names (rendezvous hashing, as in CARP)."),
            key<T>("connect_timeout", &T::connect_timeout, time(milliseconds{10}, milliseconds{60'000}),
                   "Time to connect to the peer, and time without a TCP acknowledgement from it."),
            key<T>("first_byte", &T::first_byte, time(milliseconds{0}, hour),
                   "Time after which a request that the peer has not answered goes to the next source, too; the first response is "
                   "used. 0: four times the mean of the peer, 1 s to 10 s. A peer that answers queries has this time until it is "
                   "queried, 1 s at most."),
        },
        check);
}

namespace {

Form<http::Matcher> matcher_without_users() {
    auto form = matcher_form();
    form.read_by([read = std::move(form.read_any)](Reader& reader, Json const& value, http::Matcher& into) {
        return read(reader, value, &into) && check_without_users(reader, into);
    });
    return form;
}

}   // namespace

Form<icp::DirectOptions> direct() {
    using T = icp::DirectOptions;
    return object_of<T>({
        key<T>("always", &T::always, list_of(matcher_without_users()), "Requests that always go directly to the origin."),
        key<T>("never", &T::never, list_of(matcher_without_users()),
               "Requests that never go directly to the origin, only to peers."),
    });
}

}   // namespace garner::config
