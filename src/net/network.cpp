#include "net/network.hpp"

#include <openssl/ssl.h>

#include <utility>
#include <vector>

namespace garner::net {

Result<std::unique_ptr<Network>> Network::make(WorkerOptions const& options, TlsOptions const& tls) {
    // OpenSSL would read openssl.cnf at its first use, when the process may have other rights. It reports no errors of the file.
    OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, nullptr);
    std::unique_ptr<Network> made(new Network(options, tls));
    auto context = made->context_for(tls);
    if (!context) return context.fault();
    made->tls_ = *std::move(context);
    return made;
}

std::unique_ptr<Worker> Network::make_worker(unsigned number) { return std::make_unique<Worker>(number, names_, tls_, options_); }

Result<Prepared> Network::prepare(WorkerOptions const& fresh, TlsOptions const& tls, std::span<Worker* const> workers) {
    auto const context = context_for(tls);
    if (!context) return context.fault();
    std::vector<Prepared> changes;
    auto names = names_.prepare(fresh.dns);
    if (!names) return names.fault();
    changes.push_back(*std::move(names));
    for (auto* worker : workers) {
        auto change = worker->prepare(fresh, *context);
        if (!change) return change.fault();
        changes.push_back(*std::move(change));
    }
    return Prepared([this, fresh, tls, context = *context, changes = std::move(changes)] {
        for (auto const& change : changes) change();
        options_ = fresh;
        tls_options_ = tls;
        tls_ = context;
    });
}

/// The present context has the tickets of earlier sessions. A file may have another content under the same name.
Result<std::shared_ptr<TlsContext>> Network::context_for(TlsOptions const& tls) const {
    if (tls_ && tls == tls_options_ && tls.ca_file.empty()) return tls_;
    auto made = TlsContext::make(tls);
    if (made) return made;
    auto fault = made.fault();
    if (fault.where.empty()) return fault;   // OpenSSL itself
    fault.where = "tls.ca_file: " + fault.where;
    fault.mend = "name a file of PEM certificates, or write \"\" to use those of the system";
    return fault;
}

}   // namespace garner::net
