#include "app/reloading.hpp"

#include "app/part_options.hpp"
#include "io/log.hpp"

namespace garner::app {

/// A new part needs a function and a row here. The prepared steps are applied in this order. The server comes late: it opens
/// listening sockets, and no client should connect to one that an error closes again. The disk is last: a store that exists at
/// another path is emptied when it is prepared.
struct Reloading::Step {
    Result<Prepared> (Reloading::*prepare)(config::Config const& fresh);
};

Reloading::Step const Reloading::steps[]{
    {&Reloading::logins},     {&Reloading::log_level}, {&Reloading::mesh},   {&Reloading::memory},
    {&Reloading::access_log}, {&Reloading::admin},     {&Reloading::server}, {&Reloading::disk},
};

Result<void> Reloading::apply(config::Config const& running, config::Config const& fresh) {
    running_ = &running;
    std::vector<Prepared> prepared;
    for (auto const& step : steps) {
        auto one = (this->*step.prepare)(fresh);
        if (!one) return one.fault();
        prepared.push_back(*std::move(one));
    }
    for (auto const& one : prepared) one();
    return {};
}

Result<Prepared> Reloading::logins(config::Config const& fresh) {
    auto sources = load_logins(fresh);
    if (!sources) return sources.fault();
    return parts_.server->logins().prepare(*std::move(sources));
}

Result<Prepared> Reloading::log_level(config::Config const& fresh) {
    return Prepared([level = fresh.proxy.log.level] { spdlog::set_level(spdlog::level::from_str(level)); });
}

Result<Prepared> Reloading::access_log(config::Config const& fresh) { return parts_.server->prepare_log(fresh.proxy.log); }

Result<Prepared> Reloading::admin(config::Config const& fresh) { return parts_.admin->prepare(admin_options(fresh)); }

Result<Prepared> Reloading::disk(config::Config const& fresh) { return parts_.disk.prepare(parts_.cache, fresh.disk); }

Result<Prepared> Reloading::server(config::Config const& fresh) {
    return parts_.server->prepare(server_options(fresh), proxy_options(fresh));
}

Result<Prepared> Reloading::mesh(config::Config const& fresh) { return parts_.server->mesh().prepare(mesh_options(fresh)); }

Result<Prepared> Reloading::memory(config::Config const& fresh) {
    bool const other = fresh.memory.policy != running_->memory.policy || fresh.memory.size != running_->memory.size;
    return Prepared([this, &fresh, other] {
        policy_.configure(fresh.memory.policy);
        parts_.cache.memory().reconfigure(cache_options(fresh, policy_.running()));
        if (other) policy_.simulate(parts_.server->sampling(), fresh.memory.size);
    });
}

}   // namespace garner::app
