#include "proxy/trusted_certificates.hpp"

#include "proxy/server.hpp"

namespace garner::proxy {

std::vector<UsedCertificate> trusted_certificates(Server& server) {
    auto all = server.listening().client_authorities();
    auto const add = [&all](net::TlsContext const& context, std::string const& place) {
        for (auto const& one : context.authorities()) all.push_back(used_certificate(one.get(), place));
    };
    add(server.network().tls(), "tls.ca_file");
    auto const peer_table = server.mesh().peer_table();
    for (auto const& peer : peer_table->peers)
        if (auto const tls = peer->tls()) add(*tls, "ca_file of peer " + peer->options.name);
    return all;
}

}   // namespace garner::proxy
