// Switches a process started as root to an unprivileged account.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "util/result.hpp"

namespace garner::io {

struct Account {
    std::string name;
    uid_t user = 0;
    gid_t group = 0;
};

/// Nothing when no account has that name.
std::optional<Account> find_account(std::string const& name);
/// The account of this process, or its number if it has no name.
std::string own_account_name();
/// True when the process has the rights of root.
bool is_root();

/// Prevents programs started from now on, by this thread or later ones, from gaining rights by their file
/// (set-user-ID, file capabilities). Call before any thread is created.
void forbid_new_privileges();

/// Prevents core dumps of this process, and tracing by other processes of its user. A later change of the user permits core
/// dumps again if the system is configured so (fs.suid_dumpable).
void forbid_core_dumps();

/// Creates the file with mode 0640 if missing, and gives it to the account. The file must belong to root, have no
/// other name, and be in a directory that only root can change. Returns the error in words; empty when the file was
/// given or already belongs to another user.
std::string give_file(std::string const& path, Account const&);
/// Creates the directory with mode 0700 if missing, and gives it to the account with the files `ours` in it. It must
/// belong to root, be writable by root only, and contain nothing else. Returns the error, as give_file() does.
std::string give_directory(std::string const& path, std::vector<std::string> const& ours, Account const&);

/// True if give_file() would make the account the owner of this file, which may be missing. Changes nothing.
bool can_give_file(std::string const& path);
/// Like can_give_file(), for give_directory().
bool can_give_directory(std::string const& path, std::vector<std::string> const& ours);

/// The error (errno) that the account gets when it asks for these rights to the path (F_OK, R_OK, W_OK, X_OK); 0: it has
/// them. Nothing if the process cannot take the account. Forks: only for a process without other threads.
std::optional<int> access_error(Account const&, std::string const& path, int rights);

/// Takes the account's user, group and supplementary groups, in all threads, permanently, and gives listening sockets to the
/// account. After an error the process should exit.
Result<void> become(Account const&);

}   // namespace garner::io
