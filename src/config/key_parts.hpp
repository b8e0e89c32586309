// The parts of the table of keys in separate files, and their shared helpers.
#pragma once
#include <string>

#include "config/config.hpp"
#include "config/form.hpp"
#include "util/ip.hpp"

namespace garner::config {

inline constexpr milliseconds never_zero{1};
inline constexpr milliseconds hour{3'600'000};
inline constexpr milliseconds day = 24 * hour;
inline constexpr milliseconds year = 366 * day;
inline constexpr Bytes size_max = Bytes{1} << 50;
inline constexpr std::uint32_t million = 1'000'000;

// ---- keys that are stored in two members ----

/// Stores an endpoint in a separate address and port, and "off" as an empty address.
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
    auto row = key<T>(
        "address", [](T& target) { return AddressAndPort<T>{target}; }, form, std::move(what));
    return with_default(std::move(row), preset);
}

// ---- control_keys.cpp ----

Form<Control> control();

// ---- bump_keys.cpp ----

Form<bump::Options> interception();

// ---- auth_keys.cpp ----

Form<auth::Options> logins();
Form<std::vector<auth::GroupOptions>> groups();

// ---- tier_keys.cpp ----

Form<cache::Options> memory();
Form<store::DiskOptions> disk();

// ---- tls_keys.cpp ----

Form<net::ListenTls> listen_tls();

// ---- mesh_keys.cpp ----

Form<icp::Options> icp();
Form<icp::HtcpOptions> htcp();
Form<icp::DigestOptions> digest();
Form<icp::PeerOptions> peer();
Form<icp::DirectOptions> direct();

}   // namespace garner::config
