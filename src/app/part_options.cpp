#include "app/part_options.hpp"

namespace garner::app {

std::shared_ptr<proxy::Options const> proxy_options(config::Config const& config) {
    auto options = std::make_shared<proxy::Options>(config.proxy);
    options->bump = config.bump;
    options->group = config.group.cache;
    options->logins = !config.auth.sources.empty();
    return options;
}

icp::Options mesh_options(config::Config const& config) {
    auto options = config.mesh;
    for (auto const& proxy : config.proxy.pac.proxies) options.watched.push_back({proxy.host, proxy.port});
    return options;
}

proxy::ServerOptions server_options(config::Config const& config) {
    proxy::ServerOptions options;
    options.workers = config.workers;
    options.net = {.dns = config.dns, .connect = config.connect, .pool = config.pool};
    options.tls = config.tls;
    options.what_if = config.memory.what_if;
    options.mesh = mesh_options(config);
    if (config.admin.enabled) {
        auto address = parse_ip(config.admin.address);
        if (address) options.also_closed.push_back({*address, config.admin.port});
    }
    if (config.group.address.port != 0) options.also_closed.push_back(config.group.address);
    if (auto const address = parse_ip(config.seen.address)) options.also_closed.push_back({*address, config.seen.port});
    return options;
}

cache::Options cache_options(config::Config const& config, std::string const& policy) {
    auto options = config.memory;
    options.policy = policy;
    return options;
}

admin::Options admin_options(config::Config const& config) {
    admin::Options options;
    options.enabled = config.admin.enabled;
    options.address = config.admin.address;
    options.port = config.admin.port;
    options.allow = config.admin.allow;
    options.names = config.admin.names;
    for (auto const& [name, role, sha256] : config.admin.tokens)
        if (auto const digest = admin::digest_in(sha256))
            options.tokens.push_back({name, role == "operator" ? admin::Role::operator_ : admin::Role::viewer, *digest});
    return options;
}

}   // namespace garner::app
