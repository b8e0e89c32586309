#include "app/waiting_keys.hpp"

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "control/socket_address.hpp"
#include "io/privileges.hpp"
#include "net/address.hpp"
#include "proxy/listener.hpp"

namespace garner::app {
namespace {

namespace fs = std::filesystem;

Result<void> has_directory_above(std::string const& path) {
    std::error_code error;
    auto const parent = fs::absolute(path, error).parent_path();
    if (fs::is_directory(parent, error)) return {};
    return Fault{"there is no directory " + parent.string(), "create it"};
}

Result<void> try_control(config::Config const& fresh) {
    if (fresh.control.path.empty()) return {};
    if (auto const fits = control::address_of(fresh.control.path); !fits) return fits.fault();
    return has_directory_above(fresh.control.path);
}

Result<void> try_set(config::Config const& fresh) {
    if (fresh.seen.address.empty() || fresh.seen.directory.empty()) return {};
    std::error_code error;
    auto const there = fs::status(fresh.seen.directory, error);
    if (!fs::exists(there)) return has_directory_above(fresh.seen.directory);
    return fs::is_directory(there) ? Result<void>() : Fault{fresh.seen.directory + " is no directory", "name a directory"};
}

Result<void> try_set_address(config::Config const& fresh) {
    auto const address = parse_ip(fresh.seen.address);
    if (!address || fresh.seen.port == 0) return {};
    return proxy::port_is_free({net::to_asio(*address), fresh.seen.port});
}

Result<void> try_user(config::Config const& fresh) {
    if (fresh.user.empty() || io::find_account(fresh.user)) return {};
    return Fault{"there is no user " + fresh.user + " on this machine", "create it, or name another one"};
}

/// A key without a row, such as workers, is valid with any value.
struct Check {
    std::string_view key;
    Result<void> (*passes)(config::Config const& fresh);
};
constexpr Check checks[]{
    {"control.path", try_control},
    {"seen.address", try_set_address},
    {"seen.path", try_set},
    {"user", try_user},
};

}   // namespace

Result<void> try_waiting_keys(std::vector<std::string> const& waiting, config::Config const& fresh) {
    for (auto const& [key, passes] : checks) {
        if (std::ranges::find(waiting, key) == waiting.end()) continue;
        auto const passed = passes(fresh);
        if (passed) continue;
        auto const& detail = passed.fault().where;
        return passed.fault().at(std::string(key) + (detail.empty() ? "" : ": ") + detail);
    }
    return {};
}

}   // namespace garner::app
