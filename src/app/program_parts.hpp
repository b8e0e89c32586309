// The parts of the running program, created bottom up.
#pragma once
#include <memory>
#include <string>

#include "admin/admin_server.hpp"
#include "admin/former_totals.hpp"
#include "cache/cache.hpp"
#include "cache/disk_owner.hpp"
#include "config/config.hpp"
#include "group/group.hpp"
#include "proxy/server.hpp"
#include "seen/service.hpp"
#include "share/quota_keeper.hpp"
#include "util/result.hpp"

namespace garner::app {

class Takeover;

/// A member uses those above it. Opened and used on the main thread, unless its class says otherwise.
struct Parts {
    /// `policy`: that of the memory tier, not "auto".
    Parts(config::Config const& config, std::string const& policy);
    ~Parts();

    /// Opens ports, takes the account of the key `user`, and opens files. The fault names the address or the file.
    /// `takeover`: the process whose place this one takes; null: none.
    Result<void> open(config::Config const& config, Takeover* takeover);
    /// After another process at the same addresses has paused: two voters at one address would each miss what the other stores.
    void start();

    std::string admin_address() const { return admin ? admin->address() : std::string(); }
    std::string seen_address() const { return seen ? seen->address() : std::string(); }

    cache::DiskOwner disk;   // outlives everything that reads bodies from its stores
    cache::Cache cache;
    std::unique_ptr<proxy::Server> server;
    std::unique_ptr<group::Group> group;   // null: this proxy shares no invalidations; its callbacks wake requests of the server
    std::unique_ptr<share::QuotaKeeper> quotas;   // after open_ports()
    admin::FormerTotals former_totals;
    std::unique_ptr<admin::AdminServer> admin;
    std::unique_ptr<seen::Service> seen;

private:
    Result<void> open_ports(config::Config const& config, Takeover* takeover);
    Result<void> open_files(config::Config const& config);
    Result<void> open_group(config::Config const& config, Takeover* takeover);
    Result<void> open_seen(config::Config const& config, Takeover* takeover);
};

/// Sources of users that could be loaded with notices only; logs these.
Result<std::shared_ptr<auth::Sources const>> load_logins(config::Config const& config);

}   // namespace garner::app
