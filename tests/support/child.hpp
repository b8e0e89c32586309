// Other programs as actors: started, watched, told to stop, their output kept; and a folder that goes with the test.
#pragma once
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "support/wire.hpp"

namespace garner::test {

class TempDir {
public:
    TempDir();
    ~TempDir();
    TempDir(TempDir const&) = delete;
    std::filesystem::path path(std::string const& name = "") const { return name.empty() ? path_ : path_ / name; }
    /// Writes a file in it and returns its path.
    std::string write(std::string const& name, std::string const& text) const;

private:
    std::filesystem::path path_;
};

std::string read_file(std::filesystem::path const&);

class Child {
public:
    /// Starts `command` (looked up in PATH) with more environment ("NAME=value"). Throws Trouble when it cannot.
    explicit Child(std::vector<std::string> const& command, std::vector<std::string> const& environment = {});
    Child(Child const&) = delete;
    ~Child();   // kills it, with its process group, when it still runs

    pid_t pid() const { return pid_; }
    void signal(int number);
    bool running();
    /// Its exit code, 128 + signal when it died of one; nothing when it still runs after `limit`.
    std::optional<int> exit_code(Millis limit = patience);
    std::string output() const { return read_file(dir_.path("stdout")); }
    std::string errors() const { return read_file(dir_.path("stderr")); }

private:
    TempDir dir_;
    pid_t pid_ = -1;
    std::optional<int> code_;
};

struct Finished {
    int code;
    std::string output;
    std::string errors;
};
/// Runs a command to its end; killed after `limit`, with code -1.
Finished run(std::vector<std::string> const& command, Millis limit = patience);

/// True when PATH has the program.
bool is_installed(std::string const& program);

}   // namespace garner::test
