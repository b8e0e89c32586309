#include "icp/peer_contexts.hpp"

#include <string>

#include "net/certificate.hpp"

namespace garner::icp {

namespace {

Fault at(std::size_t index, char const* key, Fault fault) {
    auto const place = "peers[" + std::to_string(index) + "].tls." + key;
    fault.where = fault.where.empty() ? place : place + ": " + fault.where;
    return fault;
}

Result<std::shared_ptr<net::TlsContext>> make_context(PeerTls const& tls, std::size_t index) {
    std::shared_ptr<net::Certificate const> own;
    if (!tls.chain.empty()) {
        auto read = net::read_certificate(tls.certificate());
        if (!read) return at(index, read.fault().where == tls.key ? "key" : "chain", read.fault());
        own = *std::move(read);
    }
    auto context = net::TlsContext::make(tls.trust(), std::move(own));
    if (!context) return at(index, context.fault().where.empty() ? "chain" : "ca_file", context.fault());
    return context;
}

}   // namespace

Result<PeerContexts> make_peer_contexts(std::span<PeerOptions const> peers) {
    PeerContexts contexts(peers.size());
    for (std::size_t i = 0; i < peers.size(); ++i) {
        if (!peers[i].tls) continue;
        auto context = make_context(*peers[i].tls, i);
        if (!context) return context.fault();
        contexts[i] = *std::move(context);
    }
    return contexts;
}

}   // namespace garner::icp
