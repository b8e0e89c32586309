// Other programs as actors: started, watched, stopped, their output recorded; and a folder that is removed after the test.
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
    /// Writes a file into the folder and returns its path.
    std::string write(std::string const& name, std::string const& text) const;

private:
    std::filesystem::path path_;
};

std::string read_file(std::filesystem::path const&);

class Child {
public:
    /// Starts `command` (found through PATH) with additional environment ("NAME=value"). Throws Trouble on failure.
    explicit Child(std::vector<std::string> const& command, std::vector<std::string> const& environment = {});
    Child(Child const&) = delete;
    ~Child();   // kills its process group if it still runs

    pid_t pid() const { return pid_; }
    void signal(int number);   // SIGSTOP: returns when all threads are stopped
    bool running();
    /// The exit code, or 128 + signal; empty if it still runs after `limit`.
    std::optional<int> exit_code(Millis limit = patience);
    std::string output() const { return read_file(dir_.path("stdout")); }
    std::string errors() const { return read_file(dir_.path("stderr")); }
    /// True as soon as its standard error has the text: Garner's is written by a thread of its own.
    bool says(std::string const& text) const;

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
/// Runs a command to its end; kills it after `limit` and returns code -1.
Finished run(std::vector<std::string> const& command, Millis limit = patience);

/// True if the program is in PATH.
bool is_installed(std::string const& program);

}   // namespace garner::test
