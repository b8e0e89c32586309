// The keys of connections to origins: names, connecting, TLS, idle connections.
#include <algorithm>

#include "config/address_form.hpp"
#include "config/key_parts.hpp"

namespace garner::config {

namespace {

Form<std::string> search_domain() {
    auto form = host_name();
    form.written = "domain";
    form.read_by([read = std::move(form.read_any)](Reader& reader, Json const& value, std::string& into) {
        if (!read(reader, value, &into)) return false;
        if (!parse_ip(into)) return true;
        return reader.fault(in_quotes(into) + " is an address", R"(write a domain such as "corp.example")");
    });
    return form;
}

}   // namespace

Form<net::ResolverOptions> dns() {
    using T = net::ResolverOptions;
    auto const some = time(never_zero, year);
    auto const check = [](Reader&, Json const&, T& dns) { dns.negative_first = std::min(dns.negative_first, dns.negative_ttl); };
    return object_of<T>(
        {
            key<T>(
                "servers", &T::servers, list_of(name_server()),
                "DNS servers, with or without port; empty: those of /etc/resolv.conf, which is read again within 2 s of a change."),
            key<T>("negative_first", &T::negative_first, some,
                   "First lifetime of a failure of the DNS servers; doubles up to `negative_ttl`."),
            key<T>("negative_ttl", &T::negative_ttl, some,
                   "Maximum lifetime of a negative DNS cache entry. `no such host` is remembered for the time that the zone allows "
                   "(SOA, RFC 2308 5), if that is shorter; for `negative_first` if the answer does not say."),
            retired<T>("positive_min"),
            key<T>("positive_ttl", &T::positive_ttl, some, "Maximum lifetime of a positive DNS cache entry.").was("positive_max"),
            key<T>("entries_max", &T::entries_max, count(1, 100 * million), "DNS cache entries."),
            key<T>("search", &T::search, list_of(search_domain()),
                   "Domains below which a name without a dot is looked up before the name itself; empty: none."),
            key<T>("hosts_file", &T::hosts_file, text(), "Hosts file, read at start and on SIGHUP; empty: none."),
        },
        check);
}

Form<net::ProxyProtocol> proxy_protocol_out() {
    using enum net::ProxyProtocol;
    return one_of<net::ProxyProtocol>({{"off", off}, {"v1", v1}, {"v2", v2}});
}

Form<net::ConnectorOptions> connect() {
    using T = net::ConnectorOptions;
    return object_of<T>({
        key<T>("attempt_delay", &T::attempt_delay, time(milliseconds{10}, milliseconds{60'000}),
               "Time after which the next address of an origin is tried in parallel (Happy Eyeballs, RFC 8305). Up to four are "
               "tried at a time; after a quarter of `timeout` another address takes the place of one that has not answered."),
        key<T>("timeout", &T::timeout, time(never_zero, hour),
               "Maximum time to connect to an origin, for all its addresses together."),
    });
}

Form<net::TlsOptions> origin_tls() {
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

}   // namespace garner::config
