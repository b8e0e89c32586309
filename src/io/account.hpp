// The account as which a process that was started as root goes on.
#pragma once
#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace garner::io {

struct Account {
    std::string name;
    uid_t user = 0;
    gid_t group = 0;
};

/// Nothing when there is no account of that name.
std::optional<Account> find_account(std::string const& name);
/// True when the process has the rights of root.
bool is_root();

/// From now on no program that this process or a thread made later starts gains rights by its file (set-user-ID, file
/// capabilities). Before any thread is made.
void forbid_new_privileges();

/// Makes the file, mode 0640, unless it is there, and gives it to the account if root owns it, in a directory that only root can
/// change, and no other name leads to it. Returns the error in words; empty when the file was given or belongs to another user already.
std::string give_file(std::string const& path, Account const&);
/// Makes the directory, mode 0700, unless it is there, and gives it to the account with the files `ours` in it, if root owns it,
/// only root can change it, and nothing else lies in it. Returns the error, as give_file() does.
std::string give_directory(std::string const& path, std::vector<std::string> const& ours, Account const&);

/// Takes the account's user, group and supplementary groups, in all threads, for good. The error in words; the process should
/// end then.
std::string become(Account const&);

}  // namespace garner::io
