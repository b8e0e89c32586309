#include "net/origin_pool.hpp"

#include <algorithm>
#include <span>

#include "util/text.hpp"

namespace garner::net {

namespace {

std::string_view as_text(std::span<std::uint64_t const> numbers) {
    return {reinterpret_cast<char const*>(numbers.data()), numbers.size_bytes()};
}

}   // namespace

std::string_view pool_key(PoolKey const& key, std::string& buffer) {
    std::uint64_t const numbers[]{key.tls, key.peer_tls, key.port};
    buffer.assign(as_text(numbers));
    // No text can contain a line feed.
    auto const host_at = buffer.size();
    buffer += key.host;
    for (auto& c : std::span(buffer).subspan(host_at)) c = to_lower(c);
    buffer += '\n';
    buffer += key.peer;
    buffer += '\n';
    buffer += key.server_name;
    return buffer;
}

std::unique_ptr<Transport> OriginPool::take(std::string_view key) {
    auto origin = origins_.find(key);
    if (origin == origins_.end()) return nullptr;
    auto& idle = origin->second;
    std::unique_ptr<Transport> found;
    while (!found && !idle.empty()) {
        auto latest = idle.back();
        if (!latest->transport->stale()) found = std::move(latest->transport);
        idle.pop_back();
        idle_.erase(latest);
    }
    if (idle.empty()) origins_.erase(origin);
    return found;
}

void OriginPool::give(std::string_view key, std::unique_ptr<Transport> transport) {
    if (options_.idle_per_origin == 0 || options_.idle_total == 0 || !is_shared(key)) return;
    auto origin = origins_.find(key);
    if (origin == origins_.end()) origin = origins_.try_emplace(RecycledString(key)).first;
    transport->watch_idle();
    idle_.push_back(Idle{std::move(transport), steady_now(), &*origin});
    origin->second.push_back(std::prev(idle_.end()));
    if (origin->second.size() > options_.idle_per_origin) close_oldest(*origin);
    if (idle_.size() > options_.idle_total) close_oldest(*idle_.front().origin);
}

void OriginPool::sweep(SteadyTime now) {
    while (!idle_.empty() && now - idle_.front().since >= options_.idle_timeout) close_oldest(*idle_.front().origin);
}

std::size_t OriginPool::close_oldest(std::size_t count) {
    auto const closed = std::min(count, idle_.size());
    for (std::size_t i = 0; i < closed; ++i) close_oldest(*idle_.front().origin);
    return closed;
}

void OriginPool::reconfigure(PoolOptions const& options) {
    options_ = options;
    if (options_.idle_per_origin == 0) return clear();
    for (auto& origin : origins_)   // no origin loses its last connection
        while (origin.second.size() > options_.idle_per_origin) close_oldest(origin);
    if (idle_.size() > options_.idle_total) close_oldest(idle_.size() - options_.idle_total);
}

void OriginPool::close_secure(std::uint64_t tls) {
    auto const prefix = as_text({&tls, 1});
    for (auto next = origins_.begin(); next != origins_.end();) {
        auto& origin = *next++;
        if (!origin.first.starts_with(prefix)) continue;
        for (auto left = origin.second.size(); left > 0; --left) close_oldest(origin);
    }
}

void OriginPool::clear() {
    origins_.clear();
    idle_.clear();
}

void OriginPool::close_oldest(Origins::value_type& origin) {
    auto& idle = origin.second;
    auto oldest = idle.front();
    idle.erase(idle.begin());
    idle_.erase(oldest);
    if (idle.empty()) origins_.erase(origins_.find(origin.first));
}

}   // namespace garner::net
