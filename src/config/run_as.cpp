#include "config/run_as.hpp"

#include "store/store_file.hpp"

namespace garner::config {

Result<std::optional<io::Account>> account_to_take(Config const& config) {
    if (!io::is_root() || config.user == "root") return std::optional<io::Account>();
    auto account = io::find_account(config.user.empty() ? "garner" : config.user);
    if (!account && config.user.empty()) account = io::find_account("nobody");
    if (!account)
        return garner::Fault{"there is no user " + (config.user.empty() ? "garner or nobody" : config.user) + " on this machine"};
    return account;
}

std::vector<std::string> give_files(Config const& config, io::Account const& account) {
    std::vector<std::string> troubles;
    auto const note = [&](std::string trouble) {
        if (!trouble.empty()) troubles.push_back(std::move(trouble));
    };
    auto const& log = config.proxy.log.access;
    if (!log.empty() && log != "-") note(io::give_file(log, account));
    auto const& disk = config.disk.path;
    bool const is_device = !disk.empty() && store::disk::file_of(disk) == disk;
    if (!disk.empty() && !is_device) note(io::give_directory(disk, {"store", "given-up"}, account));
    auto const& seen = config.seen;
    if (!seen.address.empty() && !seen.directory.empty()) note(io::give_directory(seen.directory, {}, account));
    return troubles;
}

}   // namespace garner::config
