// The state of interception, shared by all workers.
#pragma once
#include <memory>
#include <string>

#include "bump/authority.hpp"
#include "bump/decide.hpp"
#include "bump/minted.hpp"
#include "bump/options.hpp"
#include "bump/pinned.hpp"
#include "net/tls_server_context.hpp"
#include "util/result.hpp"

namespace garner::proxy {

/// Thread-safe. A reload makes a new one; tunnels keep the one that they began with.
struct Interception {
    std::shared_ptr<bump::Authority> authority;   // null: no CA is configured, and nothing is bumped
    std::shared_ptr<net::TlsServerContext const> tls;
    std::shared_ptr<bump::MintedCertificates> minted;
    std::shared_ptr<bump::Pins> pins;   // taken from the former Interception
    std::string root;                   // PEM of the root certificate; empty without one

    /// Reads the files of the CA. The fault names the file. `former`: in use until now, or null.
    static Result<std::shared_ptr<Interception const>> make(bump::Options const& options, Interception const* former);
    bump::HostState state_of(IpAddress const& client, std::string_view host, bump::Options const& options, WallTime now) const;
};

/// The path of the root certificate at a listener of a forward proxy.
inline constexpr std::string_view root_path = "/garner-internal/ca.crt";

}   // namespace garner::proxy
