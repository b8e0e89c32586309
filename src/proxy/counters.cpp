#include "proxy/counters.hpp"

#include <algorithm>

#include "util/hash.hpp"

namespace garner::proxy {

char const* text(Intercepted end) {
    switch (end) {
    case Intercepted::spliced: return "spliced";
    case Intercepted::bumped: return "bumped";
    case Intercepted::page: return "page";
    case Intercepted::terminated: return "terminated";
    case Intercepted::refused: return "refused";
    case Intercepted::count_: break;
    }
    return "";
}

char const* text(InterceptedBegin begin) {
    switch (begin) {
    case InterceptedBegin::http: return "http";
    case InterceptedBegin::tls: return "tls";
    case InterceptedBegin::direct: return "direct";
    case InterceptedBegin::loop: return "loop";
    case InterceptedBegin::not_tls: return "not_tls";
    case InterceptedBegin::malformed: return "malformed";
    case InterceptedBegin::timed_out: return "timed_out";
    case InterceptedBegin::closed: return "closed";
    case InterceptedBegin::count_: break;
    }
    return "";
}

char const* text(Protocol protocol) {
    switch (protocol) {
    case Protocol::http1: return "http1";
    case Protocol::http2: return "http2";
    case Protocol::count_: break;
    }
    return "";
}

char const* text(ReplicationSource source) {
    switch (source) {
    case ReplicationSource::parent: return "parent";
    case ReplicationSource::sibling: return "sibling";
    case ReplicationSource::origin: return "origin";
    case ReplicationSource::count_: break;
    }
    return "";
}

char const* text(LoginResult result) {
    using enum LoginResult;
    switch (result) {
    case accepted: return "accepted";
    case rejected: return "rejected";
    case limited: return "limited";
    case unavailable: return "unavailable";
    case count_: break;
    }
    return "";
}

char const* text(StaleUse use) {
    switch (use) {
    case StaleUse::while_revalidate: return http::text(http::ReuseReason::stale_while_revalidate);
    case StaleUse::max_stale: return http::text(http::ReuseReason::max_stale_request);
    case StaleUse::offline: return "offline";
    case StaleUse::if_error: return "stale-if-error";
    case StaleUse::unreachable: return "origin unreachable";
    case StaleUse::unreachable_lately: return "origin unreachable, remembered";
    case StaleUse::count_: break;
    }
    return "";
}

std::size_t ClientCounts::Hash::operator()(IpAddress const& address) const {
    return fingerprint({reinterpret_cast<char const*>(&address), sizeof(address)}, 0);
}

bool ClientCounts::enter(IpAddress const& client, std::uint32_t limit) {
    MutexLock const lock(mutex_);
    auto& count = counts_[client];
    if (limit != 0 && count >= limit) return false;
    ++count;
    return true;
}

void ClientCounts::leave(IpAddress const& client) {
    MutexLock const lock(mutex_);
    auto found = counts_.find(client);
    if (found != counts_.end() && --found->second == 0) counts_.erase(found);
}

std::optional<IpAddress> ClientCounts::busiest() const {
    MutexLock const lock(mutex_);
    // A program on this machine, such as a TLS terminator, may speak for many clients: it may have three quarters.
    std::uint64_t all = 0;
    for (auto const& [client, count] : counts_) all += count;
    auto const is_exempt = [&](auto const& entry) {
        return entry.first.is_loopback() && 4 * std::uint64_t{entry.second} < 3 * all;
    };
    auto const fewer = [&](auto const& a, auto const& b) {
        return is_exempt(a) != is_exempt(b) ? is_exempt(a) : a.second < b.second;
    };
    auto const most = std::max_element(counts_.begin(), counts_.end(), fewer);
    if (most == counts_.end() || most->second < 2) return std::nullopt;
    return most->first;
}

}   // namespace garner::proxy
