#include "icp/srv_peers.hpp"

#include <algorithm>

#include "icp/score.hpp"

namespace garner::icp {

PeerOptions server_of(PeerOptions const& service, net::SrvTarget const& target) {
    auto options = service;
    options.name += "/" + target.host + ":" + std::to_string(target.port);
    options.host = target.host;
    options.http = target.port;
    options.srv_priority = target.priority;
    options.srv_weight = target.weight;
    return options;
}

milliseconds service_lifetime(seconds ttl) { return std::clamp(ttl, seconds{1}, seconds{60}); }

void mark_standby(std::span<PeerView> views) {
    for (auto& view : views) {
        auto const& options = *view.options;
        if (options.srv.empty()) continue;
        view.standby = std::ranges::any_of(views, [&](PeerView const& other) {
            return other.options->srv == options.srv && other.options->srv_priority < options.srv_priority && usable(other);
        });
    }
}

std::uint32_t scaled_weight(PeerOptions const& options) {
    constexpr std::uint32_t scale = 100;
    if (options.srv.empty()) return options.weight;
    return options.srv_weight == 0 ? 1 : options.srv_weight * scale;
}

namespace {

struct Server {
    std::uint16_t priority;
    double score;
    std::size_t place;
};

/// The highest score first: each server has it with the probability of its share of the weights.
std::vector<Server> in_order(std::span<PeerView const> views, std::string_view service, std::string_view draw,
                             std::span<std::size_t const> places) {
    std::vector<Server> servers;
    for (auto const place : places) {
        auto const& options = *views[place].options;
        if (options.srv != service) continue;
        servers.push_back({options.srv_priority, rendezvous_score(draw, options.name, scaled_weight(options)), place});
    }
    std::ranges::sort(servers, [](Server const& a, Server const& b) {
        return a.priority != b.priority ? a.priority < b.priority : a.score > b.score;
    });
    return servers;
}

}   // namespace

void order_servers(std::span<PeerView const> views, std::uint32_t turn, std::vector<std::size_t>& places) {
    auto const draw = std::to_string(turn);
    std::vector<std::string_view> done;
    for (auto const place : std::vector(places)) {
        std::string_view const service = views[place].options->srv;
        if (service.empty() || std::ranges::count(done, service) > 0) continue;
        done.push_back(service);
        auto const servers = in_order(views, service, draw, places);
        auto next = servers.begin();
        for (auto& one : places)
            if (views[one].options->srv == service) one = next++->place;
    }
    if (!done.empty()) std::ranges::stable_partition(places, [&](std::size_t place) { return !views[place].standby; });
}

}   // namespace garner::icp
