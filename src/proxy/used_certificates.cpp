#include "proxy/used_certificates.hpp"

#include "proxy/interception.hpp"
#include "proxy/server.hpp"

namespace garner::proxy {

namespace {

/// The parts of the proxy that have certificates.
struct Owners {
    std::vector<ListenAddress> listeners;
    icp::PeerTablePtr peers;
    std::shared_ptr<Interception const> interception;
};

Owners owners_in(Server& server) { return {server.listen_addresses(), server.mesh().peer_table(), server.interception()}; }

Result<Owners> owners_after(Server& server, ServerOptions const& fresh, Options const& options) {
    auto const contexts = make_tls_contexts(options.listen, std::make_shared<net::TicketKeys>(steady_now()));
    if (!contexts) return contexts.fault();
    auto peers = server.mesh().peers_after(fresh.mesh);
    if (!peers) return peers.fault();
    auto interception = Interception::make(options.bump, server.interception().get());
    if (!interception) return interception.fault();
    return Owners{server.listening().addresses_after(options.listen, *contexts), *std::move(peers), *std::move(interception)};
}

std::vector<UsedCertificate> shown_by(Owners const& owners) {
    std::vector<UsedCertificate> shown;
    auto const add = [&shown](net::Certificate const& one, std::string place) {
        shown.push_back({one.subject(), std::move(place), one.not_after(), one.fingerprint()});
    };
    for (auto const& listener : owners.listeners)
        if (listener.tls)
            for (auto const& one : listener.tls->certificates()) add(*one, listener.address);
    for (auto const& peer : owners.peers->peers) {
        auto const tls = peer->tls();
        if (auto const own = tls ? tls->own_certificate() : nullptr) add(*own, "to peer " + peer->options.name);
    }
    if (auto const& now = owners.interception; now && now->authority)
        for (auto const& one : now->authority->chain()) shown.push_back(used_certificate(one.get(), "bump.ca_chain"));
    return shown;
}

std::vector<UsedCertificate> trusted_by(Owners const& owners, net::TlsContext const& origins) {
    std::vector<UsedCertificate> trusted;
    auto const add = [&trusted](std::vector<std::shared_ptr<X509>> const& authorities, std::string const& place) {
        for (auto const& one : authorities) trusted.push_back(used_certificate(one.get(), place));
    };
    for (auto const& listener : owners.listeners)
        if (listener.tls) add(listener.tls->client_authorities(), "client_ca of " + listener.address);
    add(origins.authorities(), "tls.ca_file");
    for (auto const& peer : owners.peers->peers)
        if (auto const tls = peer->tls()) add(tls->authorities(), "ca_file of peer " + peer->options.name);
    return trusted;
}

}   // namespace

std::vector<UsedCertificate> shown_certificates(Server& server) { return shown_by(owners_in(server)); }

UsedCertificates certificates_in_use(Server& server) {
    auto const owners = owners_in(server);
    return {shown_by(owners), trusted_by(owners, server.network().tls())};
}

Result<UsedCertificates> certificates_after(Server& server, ServerOptions const& fresh, Options const& options) {
    auto const owners = owners_after(server, fresh, options);
    if (!owners) return owners.fault();
    auto const origins = net::TlsContext::make(fresh.tls);
    if (!origins) return origins.fault();
    return UsedCertificates{shown_by(*owners), trusted_by(*owners, **origins)};
}

}   // namespace garner::proxy
