// The account that Garner switches to when it was started as root.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "io/privileges.hpp"
#include "util/result.hpp"

namespace garner::config {

/// The account of the key `user`. Nothing when the process keeps its account: it is not root, or is to stay root. A fault if
/// there is no such account.
Result<std::optional<io::Account>> account_to_take(Config const&);

/// Makes the account the owner of the access log and of the directories of the disk tier, the state and the set of seen URLs, if
/// root owns them. Returns the errors, one line for each path that could not be changed.
std::vector<std::string> give_files(Config const&, io::Account const&);

/// True if give_files() would make the account the owner of the access log, or of the directory of the disk tier or the state.
bool can_give_log(Config const&);
bool can_give_disk(Config const&);
bool can_give_state(Config const&);

}   // namespace garner::config
