#include "support/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>

extern char** environ;

namespace garner::test {

TempDir::TempDir() {
    auto name = (std::filesystem::temp_directory_path() / "garner-story-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw Trouble("no temporary folder");
    path_ = name;
    // Servers started as root read their files as another user.
    std::filesystem::permissions(path_, std::filesystem::perms(0755));
}

TempDir::~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}

std::string TempDir::write(std::string const& name, std::string const& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name).string();
}

std::string read_file(std::filesystem::path const& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

Child::Child(std::vector<std::string> const& command, std::vector<std::string> const& environment) {
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    auto const out = dir_.path("stdout").string();
    auto const err = dir_.path("stderr").string();
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawn_file_actions_addopen(&files, 2, err.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);

    std::vector<char*> arguments;
    for (auto const& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    std::vector<char*> variables;
    for (auto const& word : environment) variables.push_back(const_cast<char*>(word.c_str()));
    for (char** word = environ; *word; ++word) variables.push_back(*word);
    variables.push_back(nullptr);

    auto const error = ::posix_spawnp(&pid_, arguments[0], &files, &attributes, arguments.data(), variables.data());
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) throw Trouble("cannot start " + command[0] + ": " + std::strerror(error));
}

Child::~Child() {
    if (!running()) return;
    ::kill(-pid_, SIGKILL);
    exit_code(Millis{5000});
}

/// The kernel stops the threads of a process one after the other.
void Child::signal(int number) {
    if (!running()) return;
    ::kill(pid_, number);
    siginfo_t stopped{};
    if (number == SIGSTOP) ::waitid(P_PID, static_cast<id_t>(pid_), &stopped, WSTOPPED | WEXITED | WNOWAIT);
}

bool Child::running() {
    if (code_) return false;
    int status = 0;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return true;
    code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return false;
}

bool Child::says(std::string const& text) const {
    return eventually([&] { return errors().find(text) != std::string::npos; });
}

std::optional<int> Child::exit_code(Millis limit) {
    eventually([&] { return !running(); }, limit);
    return code_;
}

Finished run(std::vector<std::string> const& command, Millis limit) {
    Child child(command);
    auto const code = child.exit_code(limit);
    if (!code) ::kill(-child.pid(), SIGKILL);
    return {code.value_or(-1), child.output(), child.errors()};
}

bool is_installed(std::string const& program) {
    std::istringstream path(std::getenv("PATH") ? std::getenv("PATH") : "");
    for (std::string folder; std::getline(path, folder, ':');)
        if (::access((folder + "/" + program).c_str(), X_OK) == 0) return true;
    return ::access(("/usr/sbin/" + program).c_str(), X_OK) == 0;
}

}   // namespace garner::test
