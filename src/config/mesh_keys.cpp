// The keys of the peer mesh: ICP, HTCP, digests, peers, direct.
#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "config/rule_form.hpp"
#include "http/uri.hpp"

namespace garner::config {

Form<icp::Options> icp() {
    using T = icp::Options;
    return object_of<T>({
        address_key<T>(endpoint(true), R"("")",
                       "Address and UDP port for ICP (RFC 2186): queries of other caches are answered there, and ours leave "
                       "from it. Empty for none; ours leave from a port of their own then."),
        key<T>("timeout", &T::timeout, time(milliseconds{5}, icp::asking_max),
               "The longest that answers of peers are waited for; as a rule it is twice their mean round trip."),
        key<T>("timeout_min", &T::timeout_min, time(milliseconds{0}, icp::asking_max),
               "The shortest, where twice the mean round trip is less (Squid: minimum_icp_query_timeout)."),
        key<T>("source_ping", &T::source_ping, flag(),
               "The origin competes with the peers that have it, by the remembered round-trip time of connections to it."),
        retired<T>("source_echo"),
        key<T>("hit_margin", &T::hit_margin, time(milliseconds{0}, hour),
               "HIT is answered of what stays fresh for so long yet."),
        key<T>("queries_per_second_max", &T::queries_per_second, count(0, 10 * million),
               "How many queries of one address are answered; more are dropped. 0 for no limit.").was("queries_per_second"),
        key<T>("allow", &T::allow, list_of(network()), "Networks that get answers, and the cache digest; empty for none."),
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
    return {"host", pattern.schema, read, nullptr};
}

Form<std::string> url() {
    auto const accept = [](std::string const& text, std::string& why) {
        http::UriError refused;
        if (text.empty() || http::parse_absolute(text, refused)) return true;
        why += std::string(": ") + refused.refusal;
        return false;
    };
    auto form = checked("URL", "a URL", R"(write it like "http://10.0.0.3:3128/digest")", accept);
    form.show = [](std::string const& value) { return in_quotes(value); };
    return form;
}

}  // namespace

Form<icp::PeerOptions> peer() {
    using T = icp::PeerOptions;
    auto const check = [](Reader& reader, Json const&, T& peer) {
        bool const parent = peer.type == T::Type::parent;
        auto const only_parent = [&](bool given, char const* name) {
            if (given && !parent)
                reader.fault({name}, "is for parents: a sibling fetches nothing for us",
                             R"(leave it out, or write "type": "parent")");
        };
        only_parent(peer.is_default, "default");
        only_parent(peer.round_robin, "round_robin");
        only_parent(!peer.group.empty(), "group");
        if (!peer.login.empty() && peer.login.find(':') == std::string::npos)
            reader.fault({"login"}, "has no password", R"(write "user:password")");
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
            key<T>("connections_max", &T::max_connections, count(0, million), "To it at a time; 0 for no limit.")
                .was("max_connections"),
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

}  // namespace garner::config
