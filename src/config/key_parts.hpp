// The parts of the table of keys in separate files, and their shared helpers.
#pragma once
#include <string>

#include "config/config.hpp"
#include "config/object_form.hpp"
#include "util/ip.hpp"

namespace garner::config {

inline constexpr milliseconds never_zero{1};
inline constexpr milliseconds hour{3'600'000};
inline constexpr milliseconds day = 24 * hour;
inline constexpr milliseconds year = 366 * day;
inline constexpr Bytes size_max = Bytes{1} << 50;
inline constexpr std::uint32_t million = 1'000'000;

/// A key whose endpoint is stored in two members, an address and a port, and "off" as an empty address.
template <class T>
Row<T> address_key(Form<IpEndpoint> form, Literal preset, Literal what) {
    auto read = [read = std::move(form.read_any)](Reader& reader, Json const& value, T& into) {
        IpEndpoint endpoint;
        if (!read(reader, value, &endpoint)) return false;
        bool const on = endpoint.port != 0;
        into.address = on ? endpoint.address.text() : "";
        if (on) into.port = endpoint.port;
        if constexpr (requires { into.enabled; }) into.enabled = on;
        return true;
    };
    Form<T> both(std::move(form.written), std::move(form.describe), std::move(read), nullptr);
    auto const itself = [](T & options) -> auto& { return options; };
    return with_default(key<T>("address", itself, std::move(both), what), preset);
}

// ---- proxy_keys.cpp ----

Form<proxy::Listen> listen();
Form<proxy::Http2> http2();
Form<proxy::Caching> caching();
Form<proxy::Limits> limits();
Form<proxy::Deadlines> deadlines();
Form<proxy::ForwardedField> forwarded();
Form<proxy::ForwardedReceived> forwarded_received();
Form<proxy::Log> log();
Form<proxy::RefusalOptions> refusals();
Form<std::string> via_name();

// ---- pac_keys.cpp ----

Form<proxy::PacOptions> pac();

// ---- tls_keys.cpp ----

Form<net::ListenTls> listen_tls();

// ---- tier_keys.cpp ----

Form<cache::Options> memory();
Form<store::DiskOptions> disk();

// ---- group_keys.cpp ----

Form<group::Options> group();

// ---- net_keys.cpp ----

Form<net::ProxyProtocol> proxy_protocol_out();
Form<net::ResolverOptions> dns();
Form<net::ConnectorOptions> connect();
Form<net::TlsOptions> origin_tls();
Form<net::PoolOptions> pool();

// ---- share_keys.cpp ----

Form<share::Options> line_share();
Form<std::vector<share::CapRule>> line_caps();
Form<std::vector<share::QuotaRule>> line_quotas();

// ---- auth_keys.cpp ----

Form<auth::Options> logins();
Form<std::vector<auth::GroupOptions>> groups();

// ---- bump_keys.cpp ----

Form<bump::Options> interception();

// ---- mesh_keys.cpp ----

Form<icp::Options> icp();
Form<icp::HtcpOptions> htcp();
Form<icp::DigestOptions> digest();
Form<icp::PeerOptions> peer();
Form<icp::DirectOptions> direct();

// ---- admin_keys.cpp ----

Form<Admin> admin();

// ---- control_keys.cpp ----

Form<Control> control();

// ---- state_keys.cpp ----

Form<State> state();

// ---- seen_keys.cpp ----

Form<seen::Options> seen_urls();

}   // namespace garner::config
