#include "app/program_parts.hpp"

#include <algorithm>

#include "app/part_options.hpp"
#include "app/takeover.hpp"
#include "config/run_as.hpp"
#include "io/log.hpp"
#include "io/privileges.hpp"
#include "io/service_manager.hpp"

namespace garner::app {
namespace {

/// Moves an opened object to its place.
template <class T>
Result<void> keep(std::unique_ptr<T>& place, Result<std::unique_ptr<T>> opened) {
    if (!opened) return opened.fault();
    place = *std::move(opened);
    return {};
}

/// A duplicate of the running process's socket at this address; -1: it has none.
int socket_at(Takeover* takeover, char const* kind, std::string const& place, std::uint16_t port) {
    auto const address = parse_ip(place);
    if (!takeover || !address) return -1;
    auto& sockets = *takeover->sockets();
    auto const at = sockets.claim(kind, {*address, port});
    return at ? sockets.copies(kind, *at, 0, 1).front() : -1;
}

/// The address at which other members may ask this proxy; empty: they cannot.
std::string proxy_of_members(proxy::Server const& server) {
    auto const places = server.listen_addresses();
    auto const takes_them = [](proxy::ListenAddress const& one) {
        return !one.origin && !one.tls && one.intercept == net::Intercept::off;
    };
    auto const found = std::ranges::find_if(places, takes_them);
    return found == places.end() ? std::string() : found->address;
}

}   // namespace

Parts::Parts(config::Config const& config, std::string const& policy) : cache(cache_options(config, policy)) {}

Parts::~Parts() { disk.stop(); }

/// Disk and URL set come last: a process that hands over is without them meanwhile.
Result<void> Parts::open(config::Config const& config, Takeover* takeover) {
    auto const found = config::account_to_take(config);
    if (!found) return found.fault();
    auto const& account = *found;
    for (auto const& trouble : account ? config::give_files(config, *account) : std::vector<std::string>{})
        spdlog::warn("cannot change the owner to user {}: {}; change it with chown", account->name, trouble);
    if (auto const opened = open_ports(config, takeover); !opened) return opened;
    // Root opens only the ports: the user may have replaced a file that root would open by its name.
    if (account) {
        if (auto const became = io::become(*account); !became) return became;
        spdlog::info("running as user {}", account->name);
    }
    if (auto const opened = open_files(config); !opened) return opened;
    quotas = std::make_unique<share::QuotaKeeper>(server->quotas(), config.state.path);
    if (!takeover) quotas->load();
    if (takeover)
        if (auto const released = takeover->ready(cache); !released) return released;
    // A process that hands over has an open store: it goes on if this one would have none.
    using OnError = cache::DiskOwner::OnError;
    auto const on_error = takeover ? OnError::is_fault : OnError::retries;
    if (auto const opened = disk.open(cache, config.disk, on_error); !opened) return opened;
    return open_seen(config, takeover);
}

Result<void> Parts::open_seen(config::Config const& config, Takeover* takeover) {
    if (config.seen.address.empty()) return {};
    int const handed = socket_at(takeover, "seen", config.seen.address, config.seen.port);
    return keep(seen, seen::Service::open(config.seen, handed));
}

Result<void> Parts::open_ports(config::Config const& config, Takeover* takeover) {
    auto options = server_options(config);
    options.inherited = io::inherited_sockets();
    if (takeover) {
        options.handed = takeover->sockets();
        options.ticket_keys = takeover->ticket_keys();
        options.name = takeover->welcome().via;
    }
    if (auto const made = keep(server, proxy::Server::make(options, proxy_options(config), cache)); !made) return made;
    if (auto const opened = open_group(config, takeover); !opened) return opened;
    int const handed = config.admin.enabled ? socket_at(takeover, "admin", config.admin.address, config.admin.port) : -1;
    return keep(admin, admin::AdminServer::open(admin_options(config), *server, handed, &former_totals));
}

Result<void> Parts::open_group(config::Config const& config, Takeover* takeover) {
    auto const& options = config.group;
    if (!options.has_members()) return {};
    int const handed =
        options.address.port == 0 ? -1 : socket_at(takeover, "group", options.address.address.text(), options.address.port);
    auto opened = group::Group::open(options, cache, proxy_of_members(*server), handed);
    if (!opened) return opened.fault().at("group.address: cannot listen on " + opened.fault().where);
    group = *std::move(opened);
    server->use_group(*group);
    return {};
}

Result<void> Parts::open_files(config::Config const& config) {
    if (auto const opened = server->open_log(); !opened) return opened;
    if (auto const opened = server->open_interception(); !opened) return opened;
    auto logins = load_logins(config);
    if (!logins) return logins.fault();
    auto const logs_in = server->logins().prepare(*std::move(logins));
    if (!logs_in) return logs_in.fault();
    (*logs_in)();
    return {};
}

void Parts::start() {
    constexpr std::uint32_t few_connections = 256;
    if (group) group->start();
    server->start();
    quotas->start();
    if (admin) admin->start();
    if (seen) seen->start();
    auto const wanted = server->options()->limits.connections;
    if (auto const most = server->shared().connections.max(); most < std::min(few_connections, wanted))
        spdlog::warn("at most {} client connections: the limit of open files is low; raise it (ulimit -n)", most);
}

Result<std::shared_ptr<auth::Sources const>> load_logins(config::Config const& config) {
    auto loaded = auth::Sources::load(config.auth);
    if (!loaded.faults.empty()) return loaded.faults.front();
    for (auto const& notice : loaded.notices) spdlog::warn("{}", notice.text());
    return std::move(loaded.sources);
}

}   // namespace garner::app
