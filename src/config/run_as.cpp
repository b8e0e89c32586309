#include "config/run_as.hpp"

#include "store/store_file.hpp"

namespace garner::config {

std::optional<io::Account> account_to_take(Config const& config, std::string& fault) {
    fault.clear();
    if (!io::is_root() || config.user == "root") return std::nullopt;
    auto account = io::find_account(config.user.empty() ? "garner" : config.user);
    if (!account && config.user.empty()) account = io::find_account("nobody");
    if (!account) fault = "there is no user " + config.user + " on this machine";
    return account;
}

void give_files(Config const& config, io::Account const& account) {
    auto const& log = config.proxy.log.access;
    if (!log.empty() && log != "-") io::give_file(log, account);
    auto const& disk = config.disk.path;
    bool const is_device = !disk.empty() && store::disk::file_of(disk) == disk;
    if (!disk.empty() && !is_device) io::give_directory(disk, "store", account);
    auto const& seen = config.seen;
    if (!seen.address.empty() && !seen.directory.empty()) io::give_directory(seen.directory, "", account);
}

}  // namespace garner::config
