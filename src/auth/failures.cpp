#include "auth/failures.hpp"

namespace garner::auth {
namespace {

std::string_view key_of(IpAddress const& network) {
    return {reinterpret_cast<char const*>(network.bytes.data()), network.bytes.size()};
}

}   // namespace

void Failures::note(IpAddress const& client, WallTime now) {
    auto const network = client_network(client);
    auto& count = counts_.get(key_of(network), sources_max);
    if (count.is_over(now)) count = {now, 0};
    ++count.failures;
}

std::optional<milliseconds> Failures::blocked(IpAddress const& client, std::uint32_t most, WallTime now) {
    auto const network = client_network(client);
    auto const* const count = counts_.find(key_of(network));
    if (most == 0 || !count || count->is_over(now) || count->failures < most) return std::nullopt;
    return count->begin + window - now;
}

}   // namespace garner::auth
