// The systemd of this machine, booted in namespaces of its own, with Garner's units and the program under test as /usr/bin/garner.
#pragma once
#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "support/child.hpp"

namespace garner::test {

class Systemd {
public:
    /// Why it cannot be booted here; empty if it can.
    static std::string missing();

    /// `configuration`: /etc/garner/garner.json. `drop_in`: lines for the section [Service] of garner.service. Throws Trouble.
    explicit Systemd(std::string const& configuration, std::string const& drop_in = "");
    Systemd(Systemd const&) = delete;
    ~Systemd();

    /// Runs a command in its namespaces.
    Finished run(std::vector<std::string> const& command, Millis limit = Millis{30'000}) const;
    /// The exit code of `systemctl WORDS`.
    int control(std::vector<std::string> const& words) const;
    /// A property of garner.service, such as ActiveState.
    std::string property(std::string const& name) const;
    /// Starts a command in its namespaces that runs until the end of the test.
    std::unique_ptr<Child> start(std::vector<std::string> const& command) const;
    /// Replaces /etc/garner/garner.json.
    void configure(std::string const& text) const;
    /// Garner's standard error so far.
    std::string errors() const { return run({"cat", "/run/garner.stderr"}).output; }
    /// Garner's process as this test's namespace numbers it.
    pid_t garner() const;

private:
    std::vector<std::string> inside(std::vector<std::string> const& command) const;

    TempDir dir_;
    std::unique_ptr<Child> boot_;
    std::string id_;   // of systemd
};

}   // namespace garner::test
