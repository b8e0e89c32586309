#include "io/account.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

namespace garner::io {

namespace {

std::string trouble_with(std::string const& path, int error) { return path + ": " + std::strerror(error); }

/// A descriptor, so that what is looked at is what is given.
class Opened {
public:
    Opened(int directory, char const* path, int flags, mode_t mode = 0)
        : descriptor_(::openat(directory, path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode)) {}
    ~Opened() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Opened(Opened const&) = delete;
    explicit operator bool() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }

private:
    int descriptor_;
};

bool is_roots_file(int descriptor) {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 && about.st_uid == 0 && S_ISREG(about.st_mode) && about.st_nlink == 1;
}

bool is_roots_directory(int descriptor) {
    struct stat about {};
    return ::fstat(descriptor, &about) == 0 && about.st_uid == 0;
}

bool has_nothing_but(std::string const& directory, std::string const& file) {
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator(directory, error))
        if (entry.path().filename() != file) return false;
    return !error;
}

bool give(int descriptor, Account const& account) { return ::fchown(descriptor, account.user, account.group) == 0; }

}  // namespace

std::optional<Account> find_account(std::string const& name) {
    std::vector<char> memory(16'384);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwnam_r(name.c_str(), &entry, memory.data(), memory.size(), &found) != 0 || !found) return std::nullopt;
    return Account{name, entry.pw_uid, entry.pw_gid};
}

bool is_root() { return ::geteuid() == 0; }

void forbid_new_privileges() { ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

std::string give_file(std::string const& path, Account const& account) {
    Opened const file(AT_FDCWD, path.c_str(), O_WRONLY | O_APPEND | O_CREAT, 0640);
    if (!file) return errno == ENXIO || errno == ELOOP ? "" : trouble_with(path, errno);   // a pipe without a reader, a symbolic link
    if (!is_roots_file(file.descriptor()) || give(file.descriptor(), account)) return {};
    return trouble_with(path, errno);
}

std::string give_directory(std::string const& path, std::string const& file, Account const& account) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return trouble_with(path, errno);
    Opened const directory(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY);
    if (!directory || !is_roots_directory(directory.descriptor()) || !has_nothing_but(path, file)) return {};
    Opened const inside(directory.descriptor(), file.c_str(), O_RDONLY);
    bool const is_theirs = inside && is_roots_file(inside.descriptor());
    if (is_theirs && !give(inside.descriptor(), account)) return trouble_with(path + "/" + file, errno);
    return give(directory.descriptor(), account) ? "" : trouble_with(path, errno);
}

std::string become(Account const& account) {
    bool const became = ::initgroups(account.name.c_str(), account.group) == 0 && ::setgid(account.group) == 0 &&
                        ::setuid(account.user) == 0;
    return became ? "" : "cannot run as user " + account.name + ": " + std::strerror(errno);
}

}  // namespace garner::io
