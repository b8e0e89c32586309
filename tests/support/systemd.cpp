#include "support/systemd.hpp"

#include <signal.h>
#include <unistd.h>

#include <cstdlib>

#include "support/places.hpp"
#include "support/proxy.hpp"

namespace garner::test {

namespace fs = std::filesystem;

namespace {

/// The program is built with sanitizers: the leak check needs system calls that the unit forbids.
std::string sanitizer_options() {
    char const* const given = std::getenv("ASAN_OPTIONS");
    return (given ? std::string(given) + ":" : "") + "detect_leaks=0";
}

/// Targets without the services of this machine.
void write_units(fs::path const& folder, TempDir const& dir, std::string const& drop_in) {
    fs::create_directories(folder / "garner.service.d");
    for (auto const* unit : {"garner.service", "garner.socket"})
        fs::copy_file(source("etc/systemd") + "/" + std::string(unit), folder / unit);
    auto const write = [&](std::string const& name, std::string const& text) { dir.write("files/units/" + name, text); };
    write("sysinit.target", "[Unit]\nDescription=Nothing\n");
    write("basic.target", "[Unit]\nDescription=Basic\nRequires=sysinit.target\n");
    write("default.target", "[Unit]\nDescription=Default\nRequires=basic.target\n");
    write("garner.service.d/test.conf",
          "[Service]\nStandardOutput=null\nStandardError=append:/run/garner.stderr\nEnvironment=ASAN_OPTIONS=" +
              sanitizer_options() + "\n" + drop_in);
}

}   // namespace

std::string Systemd::missing() {
    if (::geteuid() != 0) return "this test must run as root";
    if (::access("/lib/systemd/systemd", X_OK) != 0) return "systemd is not installed";
    auto const tried =
        test::run({"unshare", "--mount", "--pid", "--fork", "--uts", "--ipc", "--net", "--cgroup", "--mount-proc", "true"});
    return tried.code == 0 ? "" : "namespaces are not available: " + tried.errors;
}

Systemd::Systemd(std::string const& configuration, std::string const& drop_in) {
    auto const files = dir_.path("files");
    fs::create_directories(files / "usr/bin");
    fs::create_directories(files / "etc/garner");
    fs::create_symlink(garner_binary(), files / "usr/bin/garner");
    dir_.write("files/etc/garner/garner.json", configuration);
    write_units(files / "units", dir_, drop_in);
    boot_ = std::make_unique<Child>(
        std::vector<std::string>{source("tests/support/boot_systemd"), "--over", files.string(), "SYSTEMD_UNIT_PATH=/units"});
    bool const booted = eventually([&] {
        id_ = read_file(files.string() + ".pid");
        if (id_.ends_with('\n')) id_.pop_back();
        return !boot_->running() || (!id_.empty() && control({"is-system-running", "--quiet"}) == 0);
    });
    if (!booted || !boot_->running()) throw Trouble("systemd does not boot:\n" + boot_->output() + boot_->errors());
}

Systemd::~Systemd() {
    boot_->signal(SIGTERM);
    boot_->exit_code();
}

std::vector<std::string> Systemd::inside(std::vector<std::string> const& command) const {
    std::vector<std::string> words{"nsenter", "--target", id_, "--all", "--root", "--wd"};
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

Finished Systemd::run(std::vector<std::string> const& command, Millis limit) const { return test::run(inside(command), limit); }

int Systemd::control(std::vector<std::string> const& words) const {
    std::vector<std::string> command{"systemctl"};
    command.insert(command.end(), words.begin(), words.end());
    return run(command).code;
}

std::string Systemd::property(std::string const& name) const {
    auto text = run({"systemctl", "show", "--value", "--property", name, "garner.service"}).output;
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

std::unique_ptr<Child> Systemd::start(std::vector<std::string> const& command) const {
    return std::make_unique<Child>(inside(command));
}

void Systemd::configure(std::string const& text) const { run({"sh", "-c", "printf %s \"$0\" >/etc/garner/garner.json", text}); }

pid_t Systemd::garner() const {
    auto const found = test::run({"pgrep", "-P", id_, "-x", "garner"});
    if (found.code != 0) throw Trouble("garner does not run below systemd");
    return static_cast<pid_t>(std::stol(found.output));
}

}   // namespace garner::test
