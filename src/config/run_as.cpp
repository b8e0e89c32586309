#include "config/run_as.hpp"

#include "store/store_file.hpp"

namespace garner::config {

namespace {

std::vector<std::string> const files_of_disk{"store", "given-up", "invalidations", "invalidations.new"};

std::vector<std::string> const files_of_state{"quotas", "quotas.new"};

bool has_log_file(Config const& config) { return !config.proxy.log.access.empty() && config.proxy.log.access != "-"; }

/// False for a block device, and without a disk tier.
bool has_disk_directory(Config const& config) {
    auto const& disk = config.disk.path;
    return !disk.empty() && store::disk::file_of(disk) != disk;
}

}   // namespace

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
    if (has_log_file(config)) note(io::give_file(config.proxy.log.access, account));
    if (has_disk_directory(config)) note(io::give_directory(config.disk.path, files_of_disk, account));
    if (!config.state.path.empty()) note(io::give_directory(config.state.path, files_of_state, account));
    auto const& seen = config.seen;
    if (!seen.address.empty() && !seen.directory.empty()) note(io::give_directory(seen.directory, {}, account));
    return troubles;
}

bool can_give_log(Config const& config) { return has_log_file(config) && io::can_give_file(config.proxy.log.access); }

bool can_give_disk(Config const& config) {
    return has_disk_directory(config) && io::can_give_directory(config.disk.path, files_of_disk);
}

bool can_give_state(Config const& config) {
    return !config.state.path.empty() && io::can_give_directory(config.state.path, files_of_state);
}

}   // namespace garner::config
