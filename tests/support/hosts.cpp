#include "support/hosts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "support/child.hpp"

namespace garner::test {

namespace {

/// Runs `work` on a separate thread, so that changes of its namespace end with it.
void on_a_thread(std::function<void()> const& work) {
    std::exception_ptr thrown;
    std::thread thread([&] {
        try {
            work();
        } catch (...) {
            thrown = std::current_exception();
        }
    });
    thread.join();
    if (thrown) std::rethrow_exception(thrown);
}

/// `commands`: one `ip` command per line, without the word "ip".
void ip(Namespace const& where, std::string const& commands) {
    TempDir dir;
    auto const file = dir.write("commands", commands);
    auto const done = where.run([&] { return test::run({"ip", "-batch", file}); });
    if (done.code != 0) throw Trouble("ip: " + done.errors + " of\n" + commands);
}

}   // namespace

// ---- namespaces ----

Namespace::Namespace() {
    on_a_thread([this] {
        if (::unshare(CLONE_NEWNET) != 0) throw Trouble(std::string("unshare: ") + std::strerror(errno));
        fd_ = ::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
        if (fd_ < 0) throw Trouble(std::string("/proc/thread-self/ns/net: ") + std::strerror(errno));
    });
}

Namespace::~Namespace() { ::close(fd_); }

void Namespace::run_there(std::function<void()> const& work) const {
    on_a_thread([&] {
        if (::setns(fd_, CLONE_NEWNET) != 0) throw Trouble(std::string("setns: ") + std::strerror(errno));
        work();
    });
}

std::string Namespace::path() const { return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_); }

// ---- hosts ----

Host::Host(Namespace const& hub, unsigned number)
    : hub_(hub), port_("port" + std::to_string(number)), address_("10.9.0." + std::to_string(number)) {
    ip(hub_, "link add " + port_ + " type veth peer name eth0 netns " + inside_.path() + "\n" + "link set " + port_ +
                 " master switch up\n");
    ip(inside_, "link set lo up\naddress add " + address_ + "/24 dev eth0\nlink set eth0 up\n");
}

// Detaches the port instead of setting it down, because the other end would notice that.
void Host::cut() { ip(hub_, "link set " + port_ + " nomaster\n"); }
void Host::heal() { ip(hub_, "link set " + port_ + " master switch\n"); }

void Host::limit(unsigned uplink_mbit, unsigned downlink_mbit) {
    auto const shape = [](Namespace const& where, std::string const& device, unsigned mbit) {
        auto const rate = std::to_string(mbit) + "mbit";
        auto const done = where.run([&] {
            return test::run(
                {"tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", rate, "burst", "64kb", "latency", "200ms"});
        });
        if (done.code != 0) throw Trouble("tc: " + done.errors);
    };
    shape(inside_, "eth0", uplink_mbit);
    shape(hub_, port_, downlink_mbit);
}

Network::Network() { ip(hub_, "link add switch type bridge\nlink set switch up\n"); }

Host& Network::add_host() { return hosts_.emplace_back(hub_, static_cast<unsigned>(hosts_.size()) + 1); }

std::string Network::missing() {
    if (!is_installed("ip")) return "the program ip is not installed";
    try {
        Network().add_host();
        return "";
    } catch (Trouble const& trouble) {
        return trouble.what();
    }
}

}   // namespace garner::test
