#include "io/privileges.hpp"

#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>

namespace garner::io {

namespace {

std::string trouble_with(std::string const& path, int error) { return path + ": " + std::strerror(error); }

/// Holds a descriptor, so that the checked file is the one whose owner changes.
class Opened {
public:
    Opened(int directory, std::string const& path, int flags, mode_t mode = 0)
        : descriptor_(::openat(directory, path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, mode)) {
        if (descriptor_ < 0 || ::fstat(descriptor_, &about_) != 0) about_ = {};
    }
    ~Opened() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Opened(Opened const&) = delete;
    explicit operator bool() const { return descriptor_ >= 0; }
    int descriptor() const { return descriptor_; }
    bool is_file_of_root() const { return *this && about_.st_uid == 0 && S_ISREG(about_.st_mode) && about_.st_nlink == 1; }
    bool is_of_another_user() const { return *this && about_.st_uid != 0; }
    /// True for a directory in which no other user can create files.
    bool is_roots_alone() const { return *this && S_ISDIR(about_.st_mode) && about_.st_uid == 0 && (about_.st_mode & 022) == 0; }
    bool give(Account const& account) const { return ::fchown(descriptor_, account.user, account.group) == 0; }

private:
    int descriptor_;
    struct stat about_ {};
};

std::string folder_of(std::filesystem::path const& file) {
    return file.has_parent_path() ? file.parent_path().string() : std::string(".");
}

bool has_nothing_but(Opened const& directory, std::vector<std::string> const& ours) {
    std::error_code error;
    for (auto const& entry :
         std::filesystem::directory_iterator("/proc/self/fd/" + std::to_string(directory.descriptor()), error)) {
        auto const name = entry.path().filename().string();
        if (name != "lost+found" && std::ranges::find(ours, name) == ours.end()) return false;
    }
    return !error;
}

/// The kernel lets only one user share a port (SO_REUSEPORT), and the sockets of root are root's: a later change from 127.0.0.1 to
/// all addresses of the machine needs both at once.
void give_listening_sockets(Account const& account) {
    std::error_code error;
    for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd", error)) {
        auto const name = entry.path().filename().string();
        int descriptor = -1, listens = 0;
        socklen_t size = sizeof listens;
        std::from_chars(name.data(), name.data() + name.size(), descriptor);
        if (::getsockopt(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens)
            (void)!::fchown(descriptor, account.user, account.group);
    }
}

}   // namespace

std::optional<Account> find_account(std::string const& name) {
    std::vector<char> memory(16'384);
    passwd entry{};
    passwd* found = nullptr;
    if (::getpwnam_r(name.c_str(), &entry, memory.data(), memory.size(), &found) != 0 || !found) return std::nullopt;
    return Account{name, entry.pw_uid, entry.pw_gid};
}

std::string own_account_name() {
    std::vector<char> memory(16'384);
    passwd entry{};
    passwd* found = nullptr;
    auto const number = ::geteuid();
    if (::getpwuid_r(number, &entry, memory.data(), memory.size(), &found) != 0 || !found) return std::to_string(number);
    return entry.pw_name;
}

bool is_root() { return ::geteuid() == 0; }

void forbid_core_dumps() { ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

void forbid_new_privileges() { ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }

std::string give_file(std::string const& path, Account const& account) {
    std::filesystem::path const whole(path);
    Opened const directory(AT_FDCWD, folder_of(whole), O_RDONLY | O_DIRECTORY);
    if (directory.is_of_another_user()) return {};   // that user creates the file
    if (!directory.is_roots_alone()) return path + ": other users can write to its directory";
    Opened const file(directory.descriptor(), whole.filename().string(), O_WRONLY | O_APPEND | O_CREAT, 0640);
    if (!file) return trouble_with(path, errno);
    if (file.is_of_another_user()) return {};
    if (!file.is_file_of_root()) return path + ": it is not a regular file, or has a second hard link";
    return file.give(account) ? "" : trouble_with(path, errno);
}

std::string give_directory(std::string const& path, std::vector<std::string> const& ours, Account const& account) {
    if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return trouble_with(path, errno);
    Opened const directory(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    if (!directory) return trouble_with(path, errno);
    if (directory.is_of_another_user()) return {};
    if (!directory.is_roots_alone()) return path + ": other users can write to it";
    if (!has_nothing_but(directory, ours)) return path + ": it contains other files";
    for (auto const& name : ours) {
        Opened const file(directory.descriptor(), name, O_RDONLY);
        if (file.is_file_of_root() && !file.give(account)) return trouble_with(path + "/" + name, errno);
    }
    return directory.give(account) ? "" : trouble_with(path, errno);
}

bool can_give_file(std::string const& path) {
    std::filesystem::path const whole(path);
    Opened const directory(AT_FDCWD, folder_of(whole), O_RDONLY | O_DIRECTORY);
    if (!directory.is_roots_alone()) return false;
    Opened const file(directory.descriptor(), whole.filename().string(), O_RDONLY);
    return file ? file.is_file_of_root() : errno == ENOENT;
}

bool can_give_directory(std::string const& path, std::vector<std::string> const& ours) {
    Opened const directory(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
    if (!directory) return errno == ENOENT && ::access(folder_of(path).c_str(), W_OK | X_OK) == 0;
    return directory.is_roots_alone() && has_nothing_but(directory, ours);
}

std::optional<int> access_error(Account const& account, std::string const& path, int rights) {
    constexpr int not_taken = 255;   // no error number is that large
    auto const child = ::fork();
    if (child == 0) {
        if (!become(account)) ::_exit(not_taken);
        ::_exit(::faccessat(AT_FDCWD, path.c_str(), rights, AT_EACCESS) == 0 ? 0 : errno);
    }
    int status = 0;
    while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child < 0 || !WIFEXITED(status) || WEXITSTATUS(status) == not_taken) return std::nullopt;
    return WEXITSTATUS(status);
}

Result<void> become(Account const& account) {
    give_listening_sockets(account);
    bool const became =
        ::initgroups(account.name.c_str(), account.group) == 0 && ::setgid(account.group) == 0 && ::setuid(account.user) == 0;
    if (became) return {};
    return Fault{"cannot run as user " + account.name + ": " + std::strerror(errno)};
}

}   // namespace garner::io
