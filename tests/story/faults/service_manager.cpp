// Garner under a real systemd: start, reload, watchdog, restart, stop, and ports that systemd opened.
#include <sys/ptrace.h>
#include <sys/wait.h>

#include <fstream>
#include <sstream>

#include "story/scene.hpp"
#include "support/places.hpp"
#include "support/systemd.hpp"

namespace garner::test {

namespace {

#define NEEDS_SYSTEMD                                                                            \
    if (auto const why = Systemd::missing(); !why.empty()) {                                     \
        std::fprintf(stderr, "NOT TESTED: the units in etc/systemd, because %s\n", why.c_str()); \
        GTEST_SKIP() << why;                                                                     \
    }

/// A configuration with `listen`; loopback is permitted as destination.
std::string configuration(std::string const& listen, std::string const& more = "") {
    return R"({"workers": 2, "listen": [)" + listen + R"(], "memory": {"size": "64 MiB"},
               "access": [{"allow": {"destination": "127.0.0.0/8", "port": "8000"}}],
               "disk": {"path": "/var/cache/garner", "size": "64 MiB"},
               "log": {"access": "/var/log/garner/access.log"})" +
           more + "}";
}

/// The configuration that the Debian package installs, with a smaller disk tier.
std::string packaged_configuration() {
    auto text = read_file(source("debian/garner.json"));
    return text.replace(text.find("1 GiB"), 5, "64 MiB");
}

constexpr char const* usual = R"({"address": "127.0.0.1:3128"})";

/// The status of a request through the proxy; 0 if there is none.
int asked(Systemd const& systemd, std::string const& proxy = "http://127.0.0.1:3128") {
    auto const curl =
        systemd.run({"curl", "-s", "-m", "20", "-o", "/dev/null", "-w", "%{http_code}", "-x", proxy, "http://127.0.0.1:8000/"});
    return std::atoi(curl.output.c_str());
}

std::unique_ptr<Child> start_origin(Systemd const& systemd) {
    auto origin = systemd.start({"python3", "-m", "http.server", "8000", "--bind", "127.0.0.1", "--directory", "/units"});
    bool const listens = eventually([&] {
        return systemd.run({"curl", "-s", "-o", "/dev/null", "http://127.0.0.1:8000/"}).code == 0;
    });
    if (!listens) throw Trouble("no origin: " + origin->errors());
    return origin;
}

bool restarted(Systemd const& systemd, std::string const& times) {
    return eventually([&] { return systemd.property("NRestarts") == times && systemd.property("ActiveState") == "active"; },
                      Millis{60'000});
}

/// Stops one thread of a process by ptrace while the others run.
pid_t stop_thread(pid_t process, std::string const& name) {
    for (auto const& entry : std::filesystem::directory_iterator("/proc/" + std::to_string(process) + "/task")) {
        if (read_file(entry.path() / "comm") != name + "\n") continue;
        auto const thread = static_cast<pid_t>(std::stol(entry.path().filename().string()));
        if (::ptrace(PTRACE_SEIZE, thread, nullptr, nullptr) != 0 || ::ptrace(PTRACE_INTERRUPT, thread, nullptr, nullptr) != 0)
            throw Trouble("cannot stop the thread " + name);
        return thread;
    }
    throw Trouble("no thread " + name);
}

/// True once that thread has ended. Its process remains until this test has seen it.
bool ended(pid_t thread) {
    auto const seen = [thread] {
        int status = 0;
        return ::waitpid(thread, &status, __WALL | WNOHANG) == thread && !WIFSTOPPED(status);
    };
    return eventually(seen, Millis{60'000});
}

/// Tries what an attacker inside the process would, and prints "NAME allowed" or "NAME denied".
constexpr char const* attempts = R"(
import ctypes, mmap, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)
def write(path):
    open(path, "w").close()
tried = {
    "cache": lambda: write("/var/cache/garner/x"), "state": lambda: write("/var/lib/garner/x"),
    "runtime": lambda: write("/run/garner/x"), "tcp": lambda: socket.socket(socket.AF_INET, socket.SOCK_STREAM),
    "etc": lambda: write("/etc/x"), "usr": lambda: write("/usr/bin/x"), "own program": lambda: open("/usr/bin/env", "r+"),
    "home": lambda: os.listdir("/root"), "other process": lambda: os.listdir("/proc/1"), "kernel log": lambda: open("/dev/kmsg"),
    "hostname": lambda: call("sethostname", b"x", 1), "tunable": lambda: write("/proc/sys/kernel/hostname"),
    "cgroup": lambda: os.mkdir("/sys/fs/cgroup/x"), "mount": lambda: call("mount", b"none", b"/run/garner", b"tmpfs", 0, None),
    "namespace": lambda: call("unshare", 0x10000000), "chroot": lambda: os.chroot("/run/garner"), "uid 0": lambda: os.setuid(0),
    "module": lambda: call("syscall", 175, None, 0, b""), "bpf": lambda: call("syscall", 321, 0, None, 0),
    "priority": lambda: os.setpriority(os.PRIO_PROCESS, 0, -5), "packets": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "low port": lambda: socket.socket().bind(("127.0.0.1", 81)), "code in memory":
    lambda: mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC),
    "real time": lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1)), "personality": lambda: call("personality", 8)}
for name, attempt in tried.items():
    sys.stdout.flush()
    child = os.fork()   # a forbidden system call ends it
    if child == 0:
        try:
            attempt()
        except OSError:
            os._exit(1)
        os._exit(0)
    print(name, "denied" if os.waitpid(child, 0)[1] else "allowed")
)";

}   // namespace

TEST(ServiceManager, starts_reloads_and_stops_garner) {
    NEEDS_SYSTEMD
    Systemd const systemd(packaged_configuration());
    auto const origin = start_origin(systemd);
    ASSERT_EQ(systemd.control({"start", "garner.service"}), 0) << systemd.errors();
    EXPECT_EQ(asked(systemd), 403) << "it is ready when the start returns, and loopback is no destination";
    EXPECT_EQ(systemd.property("StatusText"), "listens on 127.0.0.1:3128");

    auto const former = systemd.property("MainPID");
    systemd.configure(configuration(usual));
    EXPECT_EQ(systemd.control({"reload", "garner.service"}), 0);
    EXPECT_TRUE(eventually([&] { return asked(systemd) == 200; })) << systemd.errors();
    EXPECT_TRUE(eventually([&] { return systemd.property("MainPID") != former; })) << "another number of workers: a takeover";

    systemd.configure(configuration(usual, R"(, "cachign": {})"));
    EXPECT_NE(systemd.control({"reload", "garner.service"}), 0);
    EXPECT_EQ(systemd.control({"kill", "--kill-whom=main", "--signal=HUP", "garner.service"}), 0);
    EXPECT_TRUE(eventually([&] { return systemd.property("StatusText").starts_with("the last reload failed"); }));
    EXPECT_EQ(asked(systemd), 200);

    EXPECT_EQ(systemd.control({"stop", "garner.service"}), 0);
    EXPECT_EQ(systemd.property("Result"), "success") << systemd.errors();
    EXPECT_EQ(systemd.property("ActiveState"), "inactive");
    EXPECT_EQ(systemd.property("NRestarts"), "0");
    EXPECT_EQ(systemd.run({"stat", "-c", "%F", "/var/cache/private/garner/store"}).output, "regular file\n");
    EXPECT_THAT(systemd.run({"cat", "/var/log/garner/access.log"}).output, HasSubstr("http://127.0.0.1:8000/"));
}

TEST(ServiceManager, follows_a_takeover) {
    NEEDS_SYSTEMD
    Systemd const systemd(configuration(usual));
    auto const origin = start_origin(systemd);
    ASSERT_EQ(systemd.control({"start", "garner.service"}), 0) << systemd.errors();
    EXPECT_EQ(asked(systemd), 200);
    auto const former = systemd.property("MainPID");
    auto changed = configuration(usual);
    changed.replace(changed.find("\"workers\": 2"), 12, "\"workers\": 3");
    systemd.configure(changed);
    EXPECT_EQ(systemd.control({"reload", "garner.service"}), 0) << systemd.errors();
    EXPECT_EQ(asked(systemd), 200);
    EXPECT_TRUE(eventually([&] { return systemd.property("MainPID") != former; }, Millis{60'000})) << systemd.errors();
    EXPECT_TRUE(eventually([&] { return systemd.property("StatusText") == "listens on 127.0.0.1:3128"; }));
    EXPECT_EQ(systemd.property("ActiveState"), "active");
    EXPECT_EQ(systemd.property("NRestarts"), "0");
    EXPECT_EQ(asked(systemd), 200);
    EXPECT_EQ(systemd.control({"kill", "--kill-whom=main", "--signal=KILL", "garner.service"}), 0);
    EXPECT_TRUE(restarted(systemd, "1")) << "the new process is the main one";
    EXPECT_EQ(systemd.control({"stop", "garner.service"}), 0);
    EXPECT_EQ(systemd.property("Result"), "success") << systemd.errors();
}

TEST(ServiceManager, restarts_garner_when_it_hangs_or_is_killed) {
    NEEDS_SYSTEMD
    Systemd const systemd(configuration(usual), "WatchdogSec=4s\nRestartSec=100ms\n");
    auto const origin = start_origin(systemd);
    ASSERT_EQ(systemd.control({"start", "garner.service"}), 0) << systemd.errors();
    pause_for(5s);
    EXPECT_EQ(systemd.property("NRestarts"), "0") << "a process that runs is left alone";

    auto const worker = stop_thread(systemd.garner(), "worker-1");
    EXPECT_TRUE(ended(worker)) << "one worker of two hangs";
    EXPECT_TRUE(restarted(systemd, "1"));
    EXPECT_EQ(systemd.control({"kill", "--kill-whom=main", "--signal=STOP", "garner.service"}), 0);
    EXPECT_TRUE(restarted(systemd, "2")) << "the process hangs";
    EXPECT_EQ(systemd.control({"kill", "--kill-whom=main", "--signal=KILL", "garner.service"}), 0);
    EXPECT_TRUE(restarted(systemd, "3")) << "the process was killed";
    EXPECT_EQ(asked(systemd), 200);
    EXPECT_EQ(systemd.control({"stop", "garner.service"}), 0);
}

TEST(ServiceManager, passes_ports_below_1024) {
    NEEDS_SYSTEMD
    Systemd const systemd(configuration(std::string(usual) + R"(, {"address": ":80"})"));
    auto const origin = start_origin(systemd);
    ASSERT_EQ(systemd.control({"start", "garner.socket"}), 0);
    for (int request = 0; request < 20; ++request)
        EXPECT_EQ(asked(systemd, "http://127.0.0.1:80"), 200) << "the first one starts it\n" << systemd.errors();
    EXPECT_EQ(systemd.property("StatusText"), "listens on 127.0.0.1:3128, [::]:80");
    EXPECT_EQ(systemd.control({"restart", "garner.service"}), 0);
    EXPECT_EQ(asked(systemd, "http://127.0.0.1:80"), 200) << "a stop leaves the socket as it was";

    systemd.configure(configuration(usual));
    EXPECT_NE(systemd.control({"restart", "garner.service"}), 0);
    EXPECT_THAT(systemd.errors(),
                HasSubstr("socket [::]:80 of the service manager: the configuration does not listen on it; add its "
                          "address to the key listen, or remove it from garner.socket"));
}

TEST(ServiceManager, denies_the_service_what_a_proxy_does_not_need) {
    NEEDS_SYSTEMD
    Systemd const systemd(configuration(usual), "Type=oneshot\nRestart=no\nWatchdogSec=0\nStandardOutput=append:/run/attempts\n"
                                                "ExecStart=\nExecStart=/usr/bin/python3 -I /run/attempts.py\n");
    auto const shown = systemd.run({"systemd-analyze", "security", "--no-pager", "garner.service"});
    auto const level = shown.output.find("Overall exposure level for garner.service: ");
    ASSERT_NE(level, std::string::npos) << shown.errors;
    EXPECT_LE(std::stod(shown.output.substr(level + 43)), 2.0);
    ASSERT_EQ(systemd.run({"sh", "-c", "umask 022; printf %s \"$0\" >/run/attempts.py", attempts}).code, 0);
    ASSERT_EQ(systemd.control({"start", "garner.service"}), 0) << systemd.errors();
    std::istringstream lines(systemd.run({"cat", "/run/attempts"}).output);
    std::vector<std::string> allowed, denied;
    for (std::string line; std::getline(lines, line);)
        (line.ends_with(" allowed") ? allowed : denied).push_back(line.substr(0, line.rfind(' ')));
    EXPECT_THAT(allowed, ElementsAre("cache", "state", "runtime", "tcp"));
    EXPECT_EQ(denied.size(), 21u) << systemd.errors();
}

}   // namespace garner::test
