// The whole proxy: workers, their listeners and services.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "auth/authenticator.hpp"
#include "net/address_watch.hpp"
#include "proxy/listen_tls.hpp"
#include "proxy/listener.hpp"
#include "proxy/services.hpp"
#include "util/mutex.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"

namespace garner::proxy {

struct ServerOptions {
    unsigned workers = 0;   // 0: one per core
    net::WorkerOptions net;
    net::TlsOptions tls;
    std::vector<IpEndpoint> also_closed;   // own endpoints other than proxy listeners: the admin address
    bool what_if = false;                  // samples the traffic
    icp::Options mesh;
    std::vector<int> inherited;   // listening sockets of the service manager
};

/// Thread-safe unless stated otherwise.
class Server {
public:
    /// Binds all listening sockets; the fault names the address.
    static Result<std::unique_ptr<Server>> make(ServerOptions const& server, std::shared_ptr<Options const> options,
                                                cache::Cache& cache);
    ~Server();

    /// Once, before start(): the access log of the options.
    Result<void> open_log();
    /// For a reload: later lines go to another file, in another format, or nowhere.
    Result<Prepared> prepare_log(Log const& fresh);
    /// Once, before start(), after the account is taken: reads the CA of the options. The fault names the file.
    Result<void> open_interception();
    void start();
    /// Later requests use these options. Listening addresses and the log's path do not change.
    void reconfigure(std::shared_ptr<Options const> options);
    /// For a reload: options.listen with other `tls`. The fault names key and file, and nothing has changed.
    Result<TlsContexts> make_tls(std::span<Listen const> listen) const { return make_tls_contexts(listen, ticket_keys_); }
    /// Later connections use these contexts; they have the order of options.listen.
    void use_tls(TlsContexts contexts);
    /// The certificates that clients and peers are shown now.
    std::vector<std::shared_ptr<net::Certificate const>> certificates() const;
    /// For a reload. The fault names the file, and nothing has changed.
    Result<std::shared_ptr<Interception const>> make_interception(bump::Options const& options) const {
        return Interception::make(options, interception().get());
    }
    void use_interception(std::shared_ptr<Interception const> interception);
    /// Never null after open_interception().
    std::shared_ptr<Interception const> interception() const;
    /// Checks the logins of all workers' requests.
    auth::Authenticator& logins() { return *logins_; }
    HandshakeFailures::Summary take_handshake_failures() { return shared_.handshake_failures.take(); }
    /// For use after the log file was renamed. Returns the error's text, or an empty string.
    std::string reopen_log() { return log_ ? log_->reopen() : std::string(); }
    /// Reads the hosts file again.
    void reload_names() { names_->reload(); }
    /// Closes the listening sockets. Each established connection is accepted before.
    void stop_listening();
    /// After a Drain has ended all connections: ends the workers. False if one does not end within a second.
    bool finish();

    /// The addresses it listens on ("127.0.0.1:3128"), in the order of options.listen.
    std::vector<std::string> const& addresses() const { return addresses_; }
    struct ListenAddress {
        std::string address;
        AcceleratedOrigin const* origin = nullptr;   // the accelerator's
        bool secure = false;                         // TLS, at the start
    };
    std::vector<ListenAddress> const& listen_addresses() const { return listen_addresses_; }
    std::shared_ptr<http::OwnAddresses const> own() const;
    std::uint32_t connections() const { return shared_.connections.load(std::memory_order_relaxed); }
    ConfigState& config_state() { return shared_.config; }
    /// The state that all workers share.
    Shared const& shared() const { return shared_; }
    cache::Cache& cache() { return cache_; }
    std::shared_ptr<Options const> options() const;
    AccessLog::Stats log_stats() const { return log_ ? log_->stats() : AccessLog::Stats{}; }
    net::NameCache& names() { return *names_; }
    icp::Mesh& mesh() { return *mesh_; }
    /// For code that must run on a worker; until stop().
    net::Worker& first_worker() { return *workers_.front()->worker; }
    /// nullptr when nothing is sampled.
    Sampling* sampling() { return sampling_.get(); }
    /// One for each worker; counters may be read at any time.
    std::vector<Counters const*> counters() const;
    SteadyTime started() const { return started_; }

private:
    struct PerWorker {                           // one worker and everything that runs on it
        std::shared_ptr<RequestPlaces> places;   // outlives the coroutines that the worker still holds
        std::unique_ptr<net::Worker> worker;
        Counters counters;
        std::unique_ptr<Services> services;
        std::vector<std::unique_ptr<Listener>> listeners;
    };
    Server(ServerOptions const& server, std::shared_ptr<Options const> options, cache::Cache& cache)
        : server_(server), options_(std::move(options)), cache_(cache) {}
    Result<void> open();
    Result<void> join_mesh();
    Result<void> open_listener(std::size_t index, std::shared_ptr<net::TlsServerContext const> const& tls);
    void close_own_places();
    bool note_own_addresses();
    void limit_connections();
    void on_each_worker(void (*task)(PerWorker&));

    ServerOptions server_;
    mutable Mutex options_mutex_;
    std::shared_ptr<Options const> options_ GUARDED_BY(options_mutex_);
    cache::Cache& cache_;
    Shared shared_;
    std::unique_ptr<net::NameCache> names_;
    std::unique_ptr<AccessLog> log_;
    std::unique_ptr<Sampling> sampling_;
    std::vector<std::unique_ptr<AcceleratedOrigin>> origins_;
    std::shared_ptr<net::TicketKeys> const ticket_keys_ = std::make_shared<net::TicketKeys>(steady_now());
    TlsContexts tls_ GUARDED_BY(options_mutex_);
    std::shared_ptr<Interception const> interception_ GUARDED_BY(options_mutex_);
    std::shared_ptr<http::OwnAddresses const> own_ GUARDED_BY(options_mutex_);
    std::vector<IpEndpoint> listening_;
    std::uint32_t idle_to_origins_max_ = 0;   // of all workers
    std::vector<std::unique_ptr<PerWorker>> workers_;
    // Destroyed before the workers: a check wakes their coroutines.
    std::unique_ptr<auth::Authenticator> const logins_ = std::make_unique<auth::Authenticator>();
    std::unique_ptr<net::AddressWatch> watch_;   // on the first worker
    std::unique_ptr<icp::Mesh> mesh_;            // destroyed before the workers that its sockets run on
    std::vector<std::string> addresses_;
    std::vector<ListenAddress> listen_addresses_;   // the same addresses
    SteadyTime started_ = steady_now();
};

}   // namespace garner::proxy
