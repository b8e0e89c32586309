#include "proxy/connection_login.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "util/text.hpp"

namespace garner::proxy {

bool authenticates_connection(std::string_view value) {
    auto const scheme = value.substr(0, value.find_first_of(" \t,"));
    constexpr std::string_view schemes[]{"Negotiate", "NTLM", "Kerberos"};
    return std::ranges::any_of(schemes, [&](auto name) { return equals_ignoring_case(name, scheme); });
}

bool authenticates_connection(http::Fields const& request) {
    if (!request.has(http::Name::authorization)) return false;
    return std::ranges::any_of(
        request, [](auto const& field) { return field.id == http::Name::authorization && authenticates_connection(field.value); });
}

std::shared_ptr<Client const> with_own_connections(std::shared_ptr<Client const> client) {
    static std::atomic<std::uint64_t> last{0};
    if (client->own_connections != 0) return client;
    auto changed = *client;
    changed.own_connections = ++last;
    return std::make_shared<Client const>(std::move(changed));
}

}   // namespace garner::proxy
