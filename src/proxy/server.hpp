// The whole proxy: workers, their listeners and services.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "auth/authenticator.hpp"
#include "net/network.hpp"
#include "proxy/listening.hpp"
#include "proxy/own_places.hpp"
#include "proxy/services.hpp"
#include "proxy/top_lists.hpp"
#include "proxy/via.hpp"
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
    // From the process whose place this one takes:
    std::shared_ptr<net::HandedSockets> handed = nullptr;
    std::shared_ptr<net::TicketKeys> ticket_keys = nullptr;
    std::string name = {};   // for Via; empty: a new one
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
    /// For a reload, by the thread that called make(): opens new listening addresses, and reads certificates, the CA of `bump`,
    /// the hosts file and the list of DNS servers. The fault names the key, and nothing has changed. The change applies `options`
    /// to later requests, and `net`, `tls` and `also_closed` of `fresh`. Other members of `fresh` and the log's path have no
    /// effect.
    Result<Prepared> prepare(ServerOptions const& fresh, std::shared_ptr<Options const> options);
    /// Never null after open_interception().
    std::shared_ptr<Interception const> interception() const;
    /// Checks the logins of all workers' requests.
    auth::Authenticator& logins() { return *logins_; }
    HandshakeFailures::Summary take_handshake_failures() { return shared_.handshake_failures.take(); }
    /// For use after the log file was renamed.
    Result<void> reopen_log() { return log_ ? log_->reopen() : Result<void>(); }
    Listening& listening() { return *listening_; }
    /// The name for Via that this process or a former one made at its start.
    std::string const& process_name() const { return process_name_; }
    /// After a Drain has ended all connections: ends the workers. False if one does not end within a second.
    bool finish();

    /// The addresses it listens on now, in the order of options.listen.
    std::vector<ListenAddress> listen_addresses() const { return listening_->addresses(); }
    std::shared_ptr<http::OwnAddresses const> own() const { return own_->now(); }
    ConfigState& config_state() { return shared_.config; }
    /// The state that all workers share.
    Shared const& shared() const { return shared_; }
    cache::Cache& cache() { return cache_; }
    /// With a name for Via, and counters for the rules.
    std::shared_ptr<Options const> options() const;
    AccessLog::Stats log_stats() const { return log_ ? log_->stats() : AccessLog::Stats{}; }
    net::NameHistory& name_history() { return shared_.name_history; }
    share::Quotas& quotas() { return shared_.quotas; }
    net::Network& network() { return *network_; }
    icp::Mesh& mesh() { return *mesh_; }
    /// Before start(); it outlives the workers.
    void use_group(group::Group& group);
    /// nullptr: this proxy shares no invalidations.
    group::Group* group() { return group_; }
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
        TopLists top;
        std::unique_ptr<RecentRequests> recent;
        std::unique_ptr<Services> services;
    };
    Server(std::shared_ptr<Options const> options, cache::Cache& cache, std::string name);
    Result<void> open(ServerOptions const& server);
    void add_worker(unsigned number, std::size_t workers);
    Result<void> join_mesh(icp::Options const& mesh, std::shared_ptr<net::HandedSockets> handed);
    std::vector<net::Worker*> workers() const;
    std::shared_ptr<Options const> completed(Options options, std::size_t workers) const;
    void use(std::shared_ptr<Options const> const& options);
    void use_interception(std::shared_ptr<Interception const> interception);
    void block_own_places(std::vector<IpEndpoint> others);

    std::string const process_name_;
    mutable Mutex options_mutex_;
    std::shared_ptr<Options const> options_ GUARDED_BY(options_mutex_);
    cache::Cache& cache_;
    Shared shared_;
    std::unique_ptr<net::Network> network_;
    std::unique_ptr<AccessLog> log_;
    std::unique_ptr<Sampling> sampling_;
    std::shared_ptr<Interception const> interception_ GUARDED_BY(options_mutex_);
    std::vector<std::unique_ptr<PerWorker>> workers_;
    // Destroyed before the workers: a check wakes their coroutines.
    std::unique_ptr<auth::Authenticator> const logins_ = std::make_unique<auth::Authenticator>();
    // Destroyed before the workers that their sockets run on:
    std::unique_ptr<Listening> listening_;
    std::unique_ptr<OwnPlaces> own_;
    std::unique_ptr<icp::Mesh> mesh_;
    group::Group* group_ = nullptr;
    std::unique_ptr<Replication> replication_;
    SteadyTime started_ = steady_now();
};

}   // namespace garner::proxy
