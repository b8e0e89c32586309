#include "proxy/interception.hpp"

#include <openssl/x509.h>

#include "bump/ca_files.hpp"
#include "bump/ca_text.hpp"

namespace garner::proxy {

namespace {

bool is_same_chain(bump::Authority const* former, bump::Ca const& ca) {
    if (!former || former->chain().size() != ca.chain.size()) return false;
    for (std::size_t i = 0; i < ca.chain.size(); ++i)
        if (X509_cmp(former->chain()[i].get(), ca.chain[i].get()) != 0) return false;
    return true;
}

}   // namespace

Result<std::shared_ptr<Interception const>> Interception::make(bump::Options const& options, Interception const* former) {
    auto made = std::make_shared<Interception>();
    made->pins = former ? former->pins : std::make_shared<bump::Pins>();
    if (options.ca_chain.empty() || options.ca_key.empty()) return std::shared_ptr<Interception const>(std::move(made));
    auto ca = bump::read_ca(options.ca_chain, options.ca_key);
    if (!ca) return ca.fault();
    if (auto* const root = bump::root_of(ca->chain)) made->root = bump::pem_of(root);
    if (former && is_same_chain(former->authority.get(), *ca)) {
        made->authority = former->authority;
        made->tls = former->tls;
        made->minted = former->minted;
        made->minted->resize(options.certificates);
        return std::shared_ptr<Interception const>(std::move(made));
    }
    made->authority = std::make_shared<bump::Authority>(std::move(ca->chain), std::move(ca->key));
    // The ticket keys are new: a ticket of the former CA would replace the check of the new CA's certificate.
    made->tls = net::TlsServerContext::make_without_certificates(std::make_shared<net::TicketKeys>(steady_now()));
    made->minted = std::make_shared<bump::MintedCertificates>(options.certificates);
    return std::shared_ptr<Interception const>(std::move(made));
}

bump::HostState Interception::state_of(IpAddress const& client, std::string_view host, bump::Options const& options,
                                       WallTime now) const {
    return {pins->find(client, host, options.learn, now), authority && authority->constraints().permits(host)};
}

}   // namespace garner::proxy
