// The keys of the proxy itself: addresses, caching, limits, deadlines, forwarded fields, log.
#include <algorithm>

#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "config/matcher_form.hpp"
#include "config/rule_form.hpp"
#include "http/uri.hpp"
#include "util/text.hpp"

namespace garner::config {

namespace {

Form<net::Intercept> way_of_interception() {
    using enum net::Intercept;
    return one_of<net::Intercept>({{"off", off}, {"redirect", redirect}, {"tproxy", tproxy}});
}

/// The address that a client has connected to takes the place of these keys.
void check_interception(Reader& reader, proxy::Listen const& listen) {
    if (listen.intercept == net::Intercept::off) return;
    auto const clash = [&](bool given, std::string const& key, std::string const& why) {
        if (given) reader.fault({"intercept"}, "cannot be used together with " + key + ": " + why, "remove one of them");
    };
    clash(listen.origin.has_value(), "origin", "the client chooses the server");
    clash(listen.tls.has_value(), "tls", "clients expect the certificate of the server that they connect to");
    clash(!listen.proxy_protocol.empty(), "proxy_protocol", "the kernel diverts connections of clients, not of a load balancer");
}

void check_proxy_header_out(Reader& reader, Json const& value, proxy::Listen const& listen) {
    if (listen.origin_proxy_protocol == net::ProxyProtocol::off || value.contains("origin")) return;
    reader.fault({"origin_proxy_protocol"}, "is for accelerators only: this listener has no origin",
                 "add origin, or remove this key");
}

}   // namespace

Form<proxy::Listen> listen() {
    return object_of<proxy::Listen>(
        {
            required(address_key<proxy::Listen>(endpoint(false), "",
                                                "An IP address, `localhost` or nothing (all addresses), and a port.")),
            key<proxy::Listen>(
                "origin", &proxy::Listen::origin, origin(),
                "Makes this an accelerator (reverse proxy) for `http://host:port` or `https://host:port`. The origin receives its "
                "own name in Host, and the other request fields except those of gateways (`forwarded_received`). All clients are "
                "allowed unless a rule of `access` denies them (`listener` matches the port)."),
            key<proxy::Listen>("http2", &proxy::Listen::http2, flag(), "With `tls`: `true` offers HTTP/2 to clients (ALPN h2)."),
            key<proxy::Listen>("tls", &proxy::Listen::tls, listen_tls, "Accepts TLS connections instead of clear ones."),
            key<proxy::Listen>(
                "proxy_protocol", &proxy::Listen::proxy_protocol, list_of(network()),
                "Load balancers that name their clients: each connection from these networks begins with a header of "
                "the PROXY protocol, version 1 or 2, before TLS, and is closed if it does not. Access rules, limits, the "
                "access log and forwarded fields then use the client's address. An address of loopback or of this machine "
                "counts as the load balancer's. Its connections without a complete header are at most a quarter of "
                "`limits.connections_max`."),
            key<proxy::Listen>("intercept", &proxy::Listen::intercept, way_of_interception(),
                               "Takes connections to other servers that nftables diverts here, by `redirect` or `tproxy`, and only "
                               "these. `garner intercept --print` prints the rules of the firewall."),
            key<proxy::Listen>("origin_proxy_protocol", &proxy::Listen::origin_proxy_protocol, proxy_protocol_out(),
                               "With `origin`: version of the PROXY protocol that tells the origin the client's address. Such "
                               "connections are not kept for other requests."),
        },
        [](Reader& reader, Json const& value, proxy::Listen& listen) {
            check_interception(reader, listen);
            check_proxy_header_out(reader, value, listen);
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

namespace {

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

}   // namespace

Form<proxy::Caching> caching() {
    using T = proxy::Caching;
    return object_of<T>({
        key<T>("never", &T::never, list_of(part_of_url()),
               "URLs that contain one of these texts, as for `url_contains`, are not cached."),
        key<T>("default_ttl", &T::default_ttl, time(milliseconds{0}, year),
               "Freshness lifetime of responses without explicit or heuristic freshness."),
        key<T>("negative_ttl", &T::negative_ttl, time(milliseconds{0}, day),
               "Maximum lifetime of a negative cache entry (a failed fetch); 0s: none. If the request itself may have caused the "
               "failure, the entry applies to other clients only after two clients have had it. A response that does not come "
               "within `deadlines.first_byte` is not remembered, unless a stale response is stored."),
        key<T>("negative_first", &T::negative_first, time(never_zero, day), "First lifetime of a negative cache entry."),
        key<T>("negative_backoff", &T::negative_backoff, flag(),
               "`true`: the lifetime doubles with each consecutive timeout of connecting, from `negative_first` to `negative_ttl`; "
               "other failures have `negative_first`. `false`: it is always `negative_ttl`."),
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
                   "Field lines in the head of a request. A response may have four times as many.")
                .was("fields"),
            key<T>("target_max", [](T& l) -> auto& { return l.head.target; }, size(256, 16 * MiB),
                   "Size of a request target (URL).").was("target_bytes"),
            key<T>("connections_max", &T::connections, count(1, 10 * million),
                   "Client connections, lowered to what the limit of open files allows. At the limit, the connection idle "
                   "longest is closed, of the client with the most connections. If nearly all have requests, it is closed "
                   "after 1s.")
                .was("connections"),
            key<T>("connections_per_client", &T::connections_per_client, count(0, 10 * million),
                   "Maximum number of connections of one client. Each includes one fetch or tunnel at a time; further ones at the same "
                   "time over HTTP/2 count like connections, and wait up to `deadlines.first_byte` (then 429). 0: a quarter of "
                   "`connections_max`, and no limit for clients on loopback. The value of `connections_max` disables the limit."),
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
        key<T>("keep_alive", &T::keep_alive, some, "Idle time between two requests of a client. HTTP/2: without any stream."),
        key<T>("body", &T::body, some, "Time without progress of a body, in either direction."),
        key<T>("stream", &T::stream, some,
               "The same for an uncacheable response without Content-Length, which may be a stream of events, while its client "
               "stays connected; `body` if that is longer."),
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
        key<T>("leave", &T::leave, time(milliseconds{0}, 24 * hour),
               "Time from SIGTERM in which all requests are still answered, but PAC files no longer name this proxy. Browsers "
               "read a PAC file again after `pac.max_age`."),
        key<T>("drain_delay", &T::drain_delay, time(milliseconds{0}, hour),
               "Time from SIGTERM, which ends readiness, until the listening sockets are closed; `leave` if that is longer."),
        key<T>("drain_idle", &T::drain_idle, time(milliseconds{0}, hour),
               "Then the time in which an idle connection may send one more request."),
        key<T>("drain", &T::drain, time(milliseconds{0}, hour), "Then the time for requests in progress."),
        key<T>("handover", &T::handover, time(milliseconds{0}, 24 * hour),
               "Time for requests in progress and TLS connections of a process whose place another one has taken (`garner "
               "takeover`)."),
    });
}

Form<proxy::ForwardedField> forwarded() {
    using proxy::ForwardedField;
    return one_of<ForwardedField>({{"auto", ForwardedField::by_listener},
                                   {"off", ForwardedField::none},
                                   {"forwarded", ForwardedField::forwarded},
                                   {"x-forwarded-for", ForwardedField::x_forwarded_for}});
}

Form<proxy::ForwardedReceived> forwarded_received() {
    using proxy::ForwardedReceived;
    return one_of<ForwardedReceived>(
        {{"auto", ForwardedReceived::by_listener}, {"keep", ForwardedReceived::keep}, {"delete", ForwardedReceived::remove}});
}

/// Names of the standard streams stand for standard output: under a service manager or in a container they are sockets, or belong to
/// another user, and cannot be opened.
void take_standard_streams(Reader&, Json const&, proxy::Log& log) {
    constexpr std::string_view streams[]{"/dev/stdout", "/dev/stderr",     "/dev/fd/1",
                                         "/dev/fd/2",   "/proc/self/fd/1", "/proc/self/fd/2"};
    if (std::ranges::count(streams, log.access) > 0) log.access = "-";
}

Form<proxy::Log> log() {
    using T = proxy::Log;
    using enum proxy::LogFormat;
    return object_of<T>(
        {
            key<T>("access", &T::access, text(),
                   "Access log file; `-`, `/dev/stdout`, `/dev/stderr`: standard output; empty: none."),
            key<T>("format", &T::format, one_of<proxy::LogFormat>({{"squid", squid}, {"combined", combined}, {"json", json}}),
                   "Format of the access log."),
            key<T>("query", &T::query, flag(), "`false`: URLs and Referer are logged without query (from `?` on)."),
            key<T>("level", &T::level, choice({"debug", "info", "warn", "error"}),
                   "Minimum severity of messages on standard error."),
        },
        take_standard_streams);
}

Form<proxy::RefusalOptions> refusals() {
    using T = proxy::RefusalOptions;
    auto const accept = [](std::string const& text, std::string&) {
        return text.empty() || http::parse_authority(text).has_value();
    };
    auto page = checked("text", "a host name", R"(write it like "garner.internal")", accept);
    page.show_by(in_quotes);
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
    form.show_by(in_quotes);
    return form;
}

}   // namespace garner::config
