#include "net/origin_pool.hpp"

#include <algorithm>
#include <span>

#include "util/text.hpp"

namespace garner::net {

namespace {

constexpr std::size_t closings_max = 1'024;
constexpr std::chrono::minutes closings_kept{10};

milliseconds idle_time(SteadyTime since) { return std::chrono::duration_cast<milliseconds>(steady_now() - since); }

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

std::unique_ptr<Transport> OriginPool::take(std::string_view key, milliseconds idle_max, SteadyTime* since) {
    auto origin = origins_.find(key);
    if (origin == origins_.end()) return nullptr;
    auto& idle = origin->second;
    std::unique_ptr<Transport> found;
    while (!found && !idle.empty()) {
        auto latest = idle.back();
        bool const is_limited = std::min(idle_max, latest->idle_max) != milliseconds::max();
        auto const was_idle = is_limited ? idle_time(latest->since) : milliseconds{};
        bool const is_late = was_idle > latest->idle_max;
        if (!is_late && was_idle > idle_max) break;   // those behind are older
        if (!is_late && latest->transport->stale())
            note_closed(key, idle_time(latest->since));
        else if (!is_late)
            found = std::move(latest->transport);
        if (since) *since = latest->since;
        idle.pop_back();
        idle_.erase(latest);
    }
    if (idle.empty()) origins_.erase(origin);
    return found;
}

void OriginPool::give(std::string_view key, std::unique_ptr<Transport> transport, milliseconds idle_max) {
    if (options_.idle_per_origin == 0 || options_.idle_total == 0 || !is_shared(key)) return;
    auto const now = steady_now();
    if (closings_.size() > 0) idle_max = std::min(idle_max, learned(key, now));
    if (idle_max <= milliseconds{0}) return;
    auto origin = origins_.find(key);
    if (origin == origins_.end()) origin = origins_.try_emplace(RecycledString(key)).first;
    transport->watch_idle();
    idle_.push_back(Idle{std::move(transport), now, idle_max, &*origin});
    origin->second.push_back(std::prev(idle_.end()));
    if (origin->second.size() > options_.idle_per_origin) close_oldest(*origin);
    if (idle_.size() > options_.idle_total) close_oldest(*idle_.front().origin);
}

void OriginPool::note_closed(std::string_view key, milliseconds idle, SteadyTime now) {
    auto& closings = closings_.get(key, closings_max);
    bool const is_first = closings.at == SteadyTime{};
    if (!is_first && now - closings.at < seconds{1}) {   // the same event: a restart closes all
        closings.idle = std::max(closings.idle, idle);
        return;
    }
    if (!is_first) closings.before = closings.idle;
    closings.idle = idle;
    closings.at = now;
}

/// How long a connection may be idle, by the closings of a while ago; forgotten after some minutes, because the origin may have
/// another limit by then.
milliseconds OriginPool::learned(std::string_view key, SteadyTime now) {
    auto const* const closings = closings_.find(key);
    if (!closings || !closings->before) return milliseconds::max();
    if (now - closings->at > closings_kept) {
        closings_.erase(key);
        return milliseconds::max();
    }
    return std::max(closings->idle, *closings->before) - seconds{1};
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
