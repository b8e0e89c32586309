// The way to origins that all workers share: names, TLS, and the options of connections.
#pragma once
#include <memory>
#include <span>

#include "net/name_cache.hpp"
#include "net/tls_context.hpp"
#include "net/worker.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"

namespace garner::net {

/// Must outlive its workers. Used by one thread, except names().
class Network {
public:
    /// The fault names the key.
    static Result<std::unique_ptr<Network>> make(WorkerOptions const& options, TlsOptions const& tls);

    std::unique_ptr<Worker> make_worker(unsigned number);
    /// For a reload of all workers. The fault names the key.
    Result<Prepared> prepare(WorkerOptions const& fresh, TlsOptions const& tls, std::span<Worker* const> workers);
    NameCache& names() { return names_; }
    TlsContext const& tls() const { return *tls_; }

private:
    Network(WorkerOptions const& options, TlsOptions const& tls) : options_(options), tls_options_(tls), names_(options.dns) {}
    Result<std::shared_ptr<TlsContext>> context_for(TlsOptions const& tls) const;

    WorkerOptions options_;
    TlsOptions tls_options_;
    NameCache names_;
    std::shared_ptr<TlsContext> tls_;
};

}   // namespace garner::net
