#include "app/reloading.hpp"

#include <spdlog/spdlog.h>

#include "app/part_options.hpp"

namespace garner::app {

/// A new part needs a function and a row here. The prepared steps are applied in this order. The disk is prepared last: a store
/// that exists at another path is emptied then.
struct Reloading::Step {
    Result<Prepared> (Reloading::*prepare)(config::Config const& fresh);
};

Reloading::Step const Reloading::steps[]{
    {&Reloading::logins}, {&Reloading::log_level},  {&Reloading::interception}, {&Reloading::server}, {&Reloading::mesh},
    {&Reloading::memory}, {&Reloading::access_log}, {&Reloading::admin},        {&Reloading::names},  {&Reloading::disk},
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
    return Prepared([this, sources = *std::move(sources)] { parts_.server->logins().apply(sources); });
}

Result<Prepared> Reloading::log_level(config::Config const& fresh) {
    return Prepared([level = fresh.proxy.log.level] { spdlog::set_level(spdlog::level::from_str(level)); });
}

Result<Prepared> Reloading::access_log(config::Config const& fresh) { return parts_.server->prepare_log(fresh.proxy.log); }

Result<Prepared> Reloading::admin(config::Config const& fresh) { return parts_.admin->prepare(admin_options(fresh)); }

Result<Prepared> Reloading::disk(config::Config const& fresh) { return parts_.disk.prepare(parts_.cache, fresh.disk); }

Result<Prepared> Reloading::interception(config::Config const& fresh) {
    auto made = parts_.server->make_interception(fresh.bump);
    if (!made) return made.fault();
    return Prepared([this, made = *std::move(made)] { parts_.server->use_interception(made); });
}

Result<Prepared> Reloading::server(config::Config const& fresh) {
    auto options = std::make_shared<proxy::Options>(*proxy_options(fresh));
    if (!proxy::same_addresses(running_->proxy.listen, fresh.proxy.listen)) options->listen = running_->proxy.listen;
    auto contexts = parts_.server->make_tls(options->listen);
    if (!contexts) return contexts.fault();
    return Prepared([this, options, contexts = *std::move(contexts)] {
        parts_.server->reconfigure(options);
        parts_.server->use_tls(contexts);
    });
}

Result<Prepared> Reloading::mesh(config::Config const& fresh) { return parts_.server->mesh().prepare(fresh.mesh); }

Result<Prepared> Reloading::memory(config::Config const& fresh) {
    bool const other = fresh.memory.policy != running_->memory.policy || fresh.memory.size != running_->memory.size;
    return Prepared([this, &fresh, other] {
        policy_.configure(fresh.memory.policy);
        parts_.cache.reconfigure(cache_options(fresh, policy_.running()));
        if (other) policy_.simulate(parts_.server->sampling(), fresh.memory.size);
    });
}

/// The hosts file.
Result<Prepared> Reloading::names(config::Config const&) {
    return Prepared([this] { parts_.server->reload_names(); });
}

}   // namespace garner::app
