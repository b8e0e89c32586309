#include "proxy/listen_tls.hpp"

namespace garner::proxy {

namespace {

/// A fault at a key of this listening address.
Fault at(std::size_t index, std::string const& key, Fault fault) {
    fault.where = "listen[" + std::to_string(index) + "].tls." + key + ": " + fault.where;
    return fault;
}

Result<std::shared_ptr<net::TlsServerContext const>> make_context(Listen const& listen, std::size_t index,
                                                                  std::shared_ptr<net::TicketKeys> const& keys) {
    std::vector<std::shared_ptr<net::Certificate const>> certificates;
    for (auto const& files : listen.tls->certificates) {
        auto certificate = net::read_certificate(files);
        if (!certificate) return at(index, "certificates[" + std::to_string(certificates.size()) + "]", certificate.fault());
        certificates.push_back(*std::move(certificate));
    }
    auto const name = IpEndpoint{parse_ip(listen.address).value_or(IpAddress{}), listen.port}.text();
    auto context = net::TlsServerContext::make(*listen.tls, std::move(certificates), keys, listen.http2, name);
    if (!context) return at(index, "client_ca", context.fault());
    return context;
}

}   // namespace

Result<TlsContexts> make_tls_contexts(std::span<Listen const> listen, std::shared_ptr<net::TicketKeys> const& keys) {
    TlsContexts contexts(listen.size());
    for (std::size_t i = 0; i < listen.size(); ++i) {
        if (!listen[i].tls) continue;
        auto context = make_context(listen[i], i, keys);
        if (!context) return context.fault();
        contexts[i] = *std::move(context);
    }
    return contexts;
}

}   // namespace garner::proxy
