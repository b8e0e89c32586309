// garner: creates the parts of the program bottom up, passes each its options, and waits for signals.
#include <algorithm>
#include <atomic>
#include <malloc.h>
#include <signal.h>
#include <nlohmann/json.hpp>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <sstream>
#include <thread>

#include "admin/admin_server.hpp"
#include "admin/ask.hpp"
#include "admin/cache_command.hpp"
#include "admin/commands.hpp"
#include "bump/ca_command.hpp"
#include "config/check_command.hpp"
#include "config/command_line.hpp"
#include "config/import_command.hpp"
#include "config/key_changes.hpp"
#include "config/load.hpp"
#include "config/restart_keys.hpp"
#include "config/rules_command.hpp"
#include "config/run_as.hpp"
#include "config/seen_command.hpp"
#include "io/service_manager.hpp"
#include "io/stderr_log.hpp"
#include "proxy/certificate_watch.hpp"
#include "proxy/drain.hpp"
#include "proxy/server.hpp"
#include "seen/service.hpp"
#include "sim/auto_policy.hpp"
#include "sim/sim_command.hpp"
#include "store/disk_store.hpp"
#include "util/burst.hpp"
#include "util/exit_code.hpp"
#include "util/result.hpp"
#include "util/units.hpp"

namespace {

using namespace garner;
using config::CommandLine;

constexpr std::uint32_t few_connections = 256;

config::Loaded load(CommandLine const& line, config::NamedFiles files) {
    return line.config_file.empty() ? config::load_defaults(line.sets, files)
                                    : config::load_file(line.config_file, line.sets, files);
}

std::shared_ptr<proxy::Options const> proxy_options(config::Config const& config) {
    auto options = std::make_shared<proxy::Options>(config.proxy);
    options->bump = config.bump;
    options->logins = !config.auth.sources.empty();
    return options;
}

/// The policy that "auto" starts with.
std::string first_policy(config::Config const& config) {
    return sim::AutoPolicy::is_spec(config.memory.policy) ? cache::Options{}.policy : config.memory.policy;
}

cache::Options cache_options(config::Config const& config, std::string const& policy) {
    auto options = config.memory;
    options.policy = policy;
    return options;
}

proxy::ServerOptions server_options(config::Config const& config) {
    proxy::ServerOptions options;
    options.workers = config.workers;
    options.net = {.dns = config.dns, .connect = config.connect, .pool = config.pool};
    options.tls = config.tls;
    options.what_if = config.memory.what_if;
    options.mesh = config.mesh;
    options.inherited = io::inherited_sockets();
    if (config.admin.enabled) {
        auto address = parse_ip(config.admin.address);
        if (address) options.also_closed.push_back({*address, config.admin.port});
    }
    if (auto const address = parse_ip(config.seen.address)) options.also_closed.push_back({*address, config.seen.port});
    return options;
}

/// How a browser and curl use the first forward proxy of this kind; empty if there is none.
std::string use_of(proxy::Server const& server, bool secure) {
    auto const& places = server.listen_addresses();
    auto const place = std::ranges::find_if(places, [&](auto const& one) { return !one.origin && one.secure == secure; });
    if (place == places.end()) return {};
    auto const port = place->address.substr(place->address.rfind(':'));
    bool const all_addresses = place->address == "[::]" + port || place->address == "0.0.0.0" + port;
    if (!secure)
        return "; set your browser's HTTP and HTTPS proxy to it, or: curl -x http://" +
               (all_addresses ? "127.0.0.1" + port : place->address) + " http://example.com/";
    return "; proxy over TLS: chromium --proxy-server=https://NAME" + port + ", or \"HTTPS NAME" + port +
           "\" in a PAC file, or: curl -x https://NAME" + port + " http://example.com/, where NAME is in its certificate";
}

/// The hosts that are bumped, and the address of the root certificate; empty if none is.
std::string interception_of(proxy::Server const& server) {
    auto const options = server.options();
    auto const bumped = options->bump.rules.text_of_bumped();
    if (bumped.empty()) return {};
    auto const& places = server.listen_addresses();
    auto const place = std::ranges::find_if(places, [](auto const& one) { return !one.origin; });
    if (place == places.end()) return {};
    auto const scheme = place->secure ? "https://" : "http://";
    return "; decrypts HTTPS to " + bumped + " for clients that trust its CA: " + scheme + place->address +
           std::string(proxy::root_path);
}

/// One line: the addresses, how to use them, how to stop the program.
void say_hello(proxy::Server const& server, std::string const& admin, std::string const& seen) {
    std::string places;
    for (auto const& place : server.listen_addresses())
        places += (places.empty() ? "" : ", ") + place.address + (place.secure ? " (TLS)" : "");
    std::string const use = use_of(server, false) + use_of(server, true) + interception_of(server);
    std::string figures = admin.empty() ? "" : "; admin page: http://" + admin + "/";
    if (!seen.empty()) figures += "; URL-seen service: http://" + seen + "/";
    io::stderr_lines("garner listens on " + places + use + figures + "; stop it with Ctrl-C\n");
}

void set_log_level(std::string const& level) { spdlog::set_level(spdlog::level::from_str(level)); }

/// Names the client with the most dropped lines.
std::string most_of(proxy::AccessLog::Stats const& log) {
    if (log.dropped_most.empty()) return {};
    auto const& most = log.dropped_most.front();
    return "; most of client " + most.client + " with status " + std::to_string(most.status) + ": " + std::to_string(most.lines);
}

/// Moves an opened object to its place.
template <class T>
Result<void> keep(std::unique_ptr<T>& place, Result<std::unique_ptr<T>> opened) {
    if (!opened) return opened.fault();
    place = *std::move(opened);
    return {};
}

class App {
public:
    App(CommandLine line, config::Loaded loaded)
        : line_(std::move(line)), config_(std::move(loaded.config)), root_(std::move(loaded.root)), policy_(first_policy(config_)),
          cache_(cache_options(config_, policy_)) {}

    ~App() {
        if (disk_) disk_->stop();
    }

    Result<void> open() {
        auto const found = config::account_to_take(config_);
        if (!found) return found.fault();
        auto const& account = *found;
        for (auto const& trouble : account ? config::give_files(config_, *account) : std::vector<std::string>{})
            spdlog::warn("cannot change the owner to user {}: {}; change it with chown", account->name, trouble);
        if (!account)
            if (auto const opened = open_disk(); !opened) return opened;
        if (auto const made = keep(server_, proxy::Server::make(server_options(config_), proxy_options(config_), cache_)); !made)
            return made;
        if (config_.admin.enabled)
            if (auto const opened = keep(admin_, admin::AdminServer::open(admin_options(), *server_)); !opened) return opened;
        // Root opens only the ports: the user may have replaced a file that root would open by its name.
        if (account) {
            if (auto const became = to_result(io::become(*account)); !became) return became;
            spdlog::info("running as user {}", account->name);
        }
        if (account)
            if (auto const opened = open_disk(); !opened) return opened;
        if (auto const opened = server_->open_log(); !opened) return opened;
        if (auto const opened = server_->open_interception(); !opened) return opened;
        if (auto const opened = use_logins(auth::Sources::load(config_.auth)); !opened) return opened;
        if (!config_.seen.address.empty())
            if (auto const opened = keep(seen_, seen::Service::open(config_.seen)); !opened) return opened;
        start();
        return {};
    }

    /// SIGHUP.
    void reload() {
        manager_.reloading();
        manager_.ready(load_again() ? state() : "the last reload failed; the former configuration stays in use");
    }

    /// If the file has faults, nothing changes. False then.
    bool load_again() {
        auto loaded = load(line_, config::NamedFiles::believed);   // open files stay open
        if (!loaded.faults.empty()) return tell_not_reloaded(loaded.faults);
        tell_notices(loaded.notices);
        auto const changes = config::key_changes(root_, loaded.root);
        bool const same = proxy::same_addresses(config_.proxy.listen, loaded.config.proxy.listen);
        auto listen = same ? loaded.config.proxy.listen : config_.proxy.listen;
        auto contexts = server_->make_tls(listen);
        if (!contexts) return tell_not_reloaded(contexts.fault());
        auto interception = server_->make_interception(loaded.config.bump);
        if (!interception) return tell_not_reloaded(interception.fault());
        auto peer_contexts = icp::make_peer_contexts(loaded.config.mesh.peers);
        if (!peer_contexts) return tell_not_reloaded(peer_contexts.fault());
        auto const logins = use_logins(auth::Sources::load(loaded.config.auth));
        if (!logins) return tell_not_reloaded(logins.fault());
        config_.auth = loaded.config.auth;
        for (auto const& key : config::cannot_change(config_, loaded.config))
            spdlog::warn("{} changes only at a restart; the running value stays in use", key);
        config_.bump = loaded.config.bump;
        auto log = config_.proxy.log;
        config_.proxy = loaded.config.proxy;
        config_.proxy.listen = std::move(listen);
        config_.proxy.log.access = log.access;
        config_.proxy.log.format = log.format;
        auto const asked = config_.memory.policy;
        auto const size = config_.memory.size;
        config_.memory = loaded.config.memory;
        if (auto const least = cache_.memory().least_size(); config_.memory.size < least) {
            spdlog::warn("memory.size {} is below the minimum {} of the running process; using the minimum until restart",
                         size_text(config_.memory.size), size_text(least));
            config_.memory.size = least;
        }
        // A change from a named policy to "auto" starts from that policy; an unchanged "auto" keeps its selected policy.
        if (!sim::AutoPolicy::is_spec(config_.memory.policy)) policy_ = config_.memory.policy;
        set_log_level(config_.proxy.log.level);
        config_.mesh = loaded.config.mesh;
        config_.disk.take_over(loaded.config.disk);
        if (disk_) disk_->reconfigure(config_.disk);
        server_->use_interception(*std::move(interception));
        server_->reconfigure(proxy_options(config_));
        server_->use_tls(*std::move(contexts));
        server_->mesh().reconfigure(config_.mesh, *std::move(peer_contexts));
        cache_.reconfigure(cache_options(config_, policy_));
        if (config_.memory.policy != asked || config_.memory.size != size) tell_sampling();
        server_->reload_names();
        if (config_.memory.policy != asked) spdlog::info("memory.policy is now {}, was {}", config_.memory.policy, asked);
        for (auto const& change : changes) spdlog::info("changed: {}", change.text());
        root_ = std::move(loaded.root);
        spdlog::info("configuration reloaded: {} changed", changes.empty() ? "nothing" : std::to_string(changes.size()) + " keys");
        return true;
    }

    void reopen_log() {
        auto fault = server_->reopen_log();
        if (!fault.empty()) spdlog::error("{}; still writing to the former file; check the path and its permissions", fault);
    }

    /// At least once a second.
    void feed_watchdog() {
        auto const now = steady_now();
        auto const runs = [now](auto const* services) { return services->worker.responds(now); };
        if (watchdog_.is_due(now, std::ranges::all_of(server_->shared().workers, runs))) manager_.feed_watchdog();
    }

    /// Called every second.
    void look_after() {
        follow_best_policy();
        for (auto const& notice : server_->logins().refresh()) spdlog::warn("{}", notice.text());
        if (looks_ % looks_a_day == 0) warn_of_certificates();
        if (++looks_ % looks_a_complaint == 0) complain(), give_memory_back();
        if (looks_ % looks_a_minute == 0) tell_handshake_failures();
    }

    /// Logs errors that workers cannot wait to log.
    void complain() {
        auto log = server_->log_stats();
        if (log.write_errors > log_.write_errors)
            spdlog::error("cannot write the access log: {} ({} lines lost so far)", log.last_error, log.lost);
        if (log.dropped > log_.dropped)
            spdlog::warn("the access log is too slow: {} lines dropped so far because the buffer was full{}", log.dropped,
                         most_of(log));
        log_ = log;
    }

    /// glibc keeps memory that is freed between blocks in use: after a burst of connections more than is in use.
    void give_memory_back() {
        if (burst_.has_ended(server_->connections())) ::malloc_trim(0);
    }

    void tell_handshake_failures() {
        auto const failures = server_->take_handshake_failures();
        if (failures.count > 0)
            spdlog::warn("{} TLS handshakes with clients failed in the last minute; the latest: {}", failures.count,
                         failures.latest);
    }

    void warn_of_certificates() {
        for (auto const& warning : certificate_watch_.due(server_->certificates(), wall_now())) spdlog::warn("{}", warning);
    }

    /// On a thread of its own, because it waits for clients. False if something still runs, so that nothing may be destroyed.
    bool stop() {
        auto const deadlines = config_.proxy.deadlines;
        manager_.stopping(deadlines.drain_delay + deadlines.drain_idle + deadlines.drain + end_patience);
        server_->mesh().drain();   // ends readiness, too
        pause(deadlines.drain_delay);
        server_->stop_listening();
        proxy::Drain drain(server_->shared(), hurry_);
        drain.begin();
        say_goodbye(deadlines);
        bool over = drain.wait(deadlines.drain_idle + deadlines.drain);
        if (!over) {
            name(drain.pending());
            over = drain.abort();
        }
        auto const stopped = seen_ ? seen_->stop() : Result<void>();
        if (!stopped) spdlog::error("URL set: {}", stopped.fault().text());
        if (over && admin_) admin_->stop();
        over = over && server_->finish();
        if (!over && disk_) disk_->wait_until_settled(store::Survives::power);
        return over;
    }

    /// The operator does not want stop() to wait for clients. From any thread.
    void hurry() { hurry_ = true; }

private:
    /// Monitors and balancers send clients elsewhere meanwhile.
    void pause(milliseconds time) const {
        constexpr milliseconds look{20};
        if (time > look)
            spdlog::info("shutting down: monitors are told that the proxy is not ready; the listening sockets close in {}",
                         time_text(time));
        for (auto const until = steady_now() + time; !hurry_ && steady_now() < until;) std::this_thread::sleep_for(look);
    }

    void say_goodbye(proxy::Deadlines const& deadlines) const {
        spdlog::info("shutting down: waiting up to {} for idle connections and up to {} for requests in progress ({} connections); "
                     "press Ctrl-C again to quit now",
                     time_text(deadlines.drain_idle), time_text(deadlines.drain), server_->connections());
    }

    /// At the end of the drain.
    static void name(proxy::Drain::Pending const& pending) {
        constexpr std::size_t most = 20;
        auto const& requests = pending.requests;
        for (auto const number : pending.stuck) spdlog::error("worker {} does not respond; its connections are reset", number);
        for (auto const& request : std::span(requests).first(std::min(most, requests.size())))
            spdlog::warn("aborting a pending request: {}", request);
        if (requests.size() > most) spdlog::warn("aborting {} more pending requests", requests.size() - most);
    }

    static void tell_notices(std::span<config::Fault const> notices) {
        std::ostringstream lines;
        config::print_notices(notices, lines);
        io::stderr_lines(lines.str());
    }

    static bool tell_not_reloaded(std::span<config::Fault const> faults) {
        spdlog::error("configuration not reloaded: it has errors; the running configuration stays in use:");
        std::ostringstream lines;
        config::print_faults(faults, lines);
        io::stderr_lines(lines.str());
        return false;
    }

    /// Names the key and line of a file that cannot be used.
    bool tell_not_reloaded(Fault const& fault) const {
        auto const faults = load(line_, config::NamedFiles::reloaded).faults;
        if (!faults.empty()) return tell_not_reloaded(faults);
        spdlog::error("configuration not reloaded; the running configuration stays in use: {}", fault.text());
        return false;
    }

    /// A fault changes nothing.
    Result<void> use_logins(auth::Sources::Loaded loaded) {
        if (!loaded.faults.empty()) return loaded.faults.front();
        for (auto const& notice : loaded.notices) spdlog::warn("{}", notice.text());
        server_->logins().apply(std::move(loaded.sources));
        return {};
    }

    void start() {
        tell_sampling();
        server_->start();
        if (admin_) admin_->start();
        if (seen_) seen_->start();
        if (server_->shared().connections_max < few_connections)
            spdlog::warn("at most {} client connections: the limit of open files is low; raise it (ulimit -n)",
                         server_->shared().connections_max);
        say_hello(*server_, admin_ ? admin_->address() : std::string(), seen_ ? seen_->address() : std::string());
        manager_.ready(state());
    }

    /// For the service manager.
    std::string state() const {
        std::string places;
        for (auto const& address : server_->addresses()) places += (places.empty() ? "listens on " : ", ") + address;
        return places;
    }

    Result<void> open_disk() {
        if (config_.disk.path.empty()) return {};
        auto const opened = keep(disk_, store::DiskStore::open(config_.disk));
        if (opened) cache_.set_disk(disk_.get());
        return opened;
    }

    admin::Options admin_options() const {
        admin::Options options;
        options.address = config_.admin.address;
        options.port = config_.admin.port;
        options.allow = config_.admin.allow;
        options.names = config_.admin.names;
        return options;
    }

    void tell_sampling() {
        std::optional<sim::AutoPolicy::Terms> follow;
        if (sim::AutoPolicy::is_spec(config_.memory.policy)) follow = *sim::AutoPolicy::read(config_.memory.policy);
        auto* sampling = server_->sampling();
        if (sampling) sampling->run(config_.memory.size, policy_, follow);
        if (follow && !sampling)
            spdlog::warn("memory.policy auto needs memory.what_if, which was false at the start: {} stays in use until restart",
                         policy_);
    }

    void follow_best_policy() {
        auto* sampling = server_->sampling();
        if (!sampling) return;
        auto const change = sampling->look(steady_now());
        if (!change) return;
        policy_ = change->policy;
        cache_.reconfigure(cache_options(config_, policy_));
        spdlog::info("memory.policy auto: {}", change->why);
    }

    CommandLine line_;
    config::Config config_;
    config::Json root_;                        // the keys that the running configuration gives
    std::string policy_;                       // the running policy
    std::unique_ptr<store::DiskStore> disk_;   // outlives everything that reads bodies from it
    cache::Cache cache_;
    std::unique_ptr<proxy::Server> server_;
    std::unique_ptr<admin::AdminServer> admin_;
    std::unique_ptr<seen::Service> seen_;
    io::ServiceManager const manager_;
    io::Watchdog watchdog_{manager_.watchdog()};
    proxy::AccessLog::Stats log_;   // at the last check
    proxy::CertificateWatch certificate_watch_;
    Burst burst_;                                // of connections
    static constexpr seconds end_patience{30};   // aborted requests, the disk, logs
    static constexpr unsigned looks_a_complaint = 10;
    static constexpr unsigned looks_a_minute = 60;
    static constexpr unsigned looks_a_day = 86'400;
    unsigned looks_ = 0;
    std::atomic<bool> hurry_{false};
};

/// Runs a task on a thread of its own.
class Task {
public:
    explicit Task(std::function<void()> task)
        : thread_([this, task = std::move(task)] {
              task();
              ended_ = true;
          }) {}
    ~Task() { thread_.join(); }
    bool ended() const { return ended_; }

private:
    std::atomic<bool> ended_{false};
    std::thread thread_;
};

/// The main thread: it receives signals until the process may end. A stop waits for clients and for the disk on another thread, so
/// that the next signal ends the process in any case.
class SignalLoop {
public:
    SignalLoop(std::unique_ptr<App> app, sigset_t const& signals) : app_(std::move(app)), signals_(signals) {}

    /// Returns the exit code.
    int run() {
        while (!destruction_ || !destruction_->ended()) {
            if (!stop_) app_->feed_watchdog();
            auto const signal = next_signal(stop_ ? milliseconds{5} : milliseconds{1'000});
            if (signal == SIGTERM || signal == SIGINT)
                end(signal);
            else if (!stop_)
                while_serving(signal);
            else
                while_stopping(signal);
        }
        return code();
    }

private:
    /// 0 if none comes within `limit`.
    int next_signal(milliseconds limit) const {
        timespec const time{.tv_sec = limit.count() / 1'000, .tv_nsec = limit.count() % 1'000 * 1'000'000};
        return std::max(::sigtimedwait(&signals_, nullptr, &time), 0);
    }

    void while_serving(int signal) {
        if (signal == 0) app_->look_after();
        if (signal == SIGHUP) app_->reload();
        if (signal == SIGUSR1) app_->reopen_log();
    }

    void while_stopping(int signal) {
        if (signal == SIGHUP) spdlog::warn("configuration not reloaded: the process is shutting down");
        if (signal == SIGUSR1 && !destruction_) app_->reopen_log();
        if (second_ && steady_now() > leave_at_) leave();
        if (!stop_->ended() || destruction_) return;
        if (!over_) leave();
        destruction_.emplace([this] { app_.reset(); });
    }

    /// The second signal aborts the requests and gives them a second to be logged. Every byte that the disk has confirmed is safe.
    void end(int signal) {
        if (!stop_) {
            first_ = signal;
            begun_ = steady_now();
            stop_.emplace([this] { over_ = app_->stop(); });
        } else if (!second_ && !is_same_key(signal)) {
            second_ = signal;
            leave_at_ = steady_now() + seconds{1};
            if (!destruction_) app_->hurry();
        }
    }

    /// One key press may signal twice, by the terminal and by a wrapper.
    bool is_same_key(int signal) const { return signal == SIGINT && first_ == SIGINT && steady_now() - begun_ < milliseconds{100}; }

    /// Other threads still run: nothing may be destroyed.
    [[noreturn]] void leave() const {
        spdlog::warn("some requests or threads did not end in time; exiting now");
        io::flush_stderr();
        std::fflush(nullptr);
        std::_Exit(code());
    }

    int code() const { return second_ ? 128 + second_ : 0; }

    std::unique_ptr<App> app_;   // destruction_ destroys it
    sigset_t const& signals_;
    int first_ = 0, second_ = 0;   // the signals that end the process
    SteadyTime begun_{}, leave_at_{};
    std::atomic<bool> over_{false};
    std::optional<Task> stop_, destruction_;
};

int run(CommandLine line) {
    io::open_standard_files();
    auto loaded = load(line, config::NamedFiles::tried);
    config::print_notices(loaded.notices, std::cerr);
    if (!loaded.faults.empty()) {
        config::print_faults(loaded.faults, std::cerr);
        std::fprintf(stderr, "garner: not started: the configuration has errors\n");
        return exit_failed;
    }
    io::forbid_new_privileges();
    // Blocked before any thread starts, so that sigwait receives all of them.
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGHUP, SIGUSR1, SIGTERM, SIGINT}) sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    io::log_to_stderr();
    set_log_level(loaded.config.proxy.log.level);

    auto app = std::make_unique<App>(std::move(line), std::move(loaded));
    if (auto const opened = app->open(); !opened) {
        io::stderr_lines("garner: not started: " + opened.fault().text() + "\n");
        return exit_failed;
    }
    return SignalLoop(std::move(app), signals).run();
}

/// garner cache: for the running proxy's cache, or for the store in the same configuration.
int ask_cache(CommandLine const& line, config::Config const& config) {
    using Kind = admin::CacheCommand::Kind;
    spdlog::set_level(spdlog::level::off);   // the command prints its own errors
    auto const& word = line.rest.front();
    admin::CacheCommand command;
    command.kind = word == "ls" ? Kind::list : word == "verify" ? Kind::verify : word == "purge" ? Kind::purge : Kind::stats;
    if (line.rest.size() > 1) command.pattern = line.rest.back();
    command.json = line.json;
    command.rate = line.rate;
    if (config.admin.enabled) command.address = config.admin.address;
    command.port = config.admin.port;
    command.disk = config.disk;
    command.open = store::DiskStore::open_existing;
    return admin::run_cache_command(command, std::cout, std::cerr);
}

/// garner ca pins: asks a running proxy.
int ask_for_pins(CommandLine const& line, config::Config const& config) {
    if (!config.admin.enabled) {
        std::fputs("garner: this configuration has no admin address to ask\n", stderr);
        return exit_failed;
    }
    admin::Command command{.kind = admin::Command::Kind::pins};
    command.erase = line.erase;
    if (line.rest.size() > 1) command.host = line.rest.back();
    command.address = config.admin.address;
    command.port = config.admin.port;
    return admin::run_command(command, std::cout, std::cerr);
}

/// garner ca: `rest` is the operation and a directory.
int run_ca(CommandLine const& line, config::Config const& config) {
    using Kind = bump::CaCommand::Kind;
    auto const& word = line.rest.front();
    if (word == "pins") return ask_for_pins(line, config);
    bump::CaCommand command;
    command.kind = word == "init" ? Kind::init : word == "export" ? Kind::export_root : Kind::show;
    if (line.rest.size() > 1) command.directory = line.rest.back();
    command.chain = config.bump.ca_chain;
    command.rules = config.bump.rules;
    command.any_host = line.any_host;
    command.der = line.der;
    return bump::run_ca_command(command, std::cout, std::cerr);
}

/// purge, stats, peers, explain, health and log ask a running proxy at the admin address of the same configuration.
int ask(CommandLine const& line) {
    auto loaded = load(line, config::NamedFiles::left);
    if (!loaded.faults.empty()) {
        config::print_faults(loaded.faults, std::cerr);
        return exit_failed;
    }
    if (line.command == CommandLine::Command::cache) return ask_cache(line, loaded.config);
    if (line.command == CommandLine::Command::ca) return run_ca(line, loaded.config);
    auto const& place = loaded.config.admin;
    if (!place.enabled) {
        std::fputs("garner: this configuration has no admin address to ask\n", stderr);
        return exit_failed;
    }
    using Kind = admin::Command::Kind;
    static std::map<CommandLine::Command, Kind> const kinds{
        {CommandLine::Command::purge, Kind::purge},     {CommandLine::Command::explain, Kind::explain},
        {CommandLine::Command::peers, Kind::peers},     {CommandLine::Command::health, Kind::health},
        {CommandLine::Command::log, Kind::reopen_logs}, {CommandLine::Command::stats, Kind::stats}};
    admin::Command const command{.kind = kinds.at(line.command),
                                 .url = line.url,
                                 .method = line.method,
                                 .fields = line.fields,
                                 .client = line.client,
                                 .user = line.rules.user,
                                 .groups = line.rules.groups,
                                 .accelerator = line.accelerator,
                                 .json = line.json,
                                 .what_if = line.what_if,
                                 .ready = line.ready,
                                 .rebuild_digest = line.rebuild_digest,
                                 .address = place.address,
                                 .port = place.port};
    return admin::run_command(command, std::cout, std::cerr);
}

/// `garner rules why --id`: repeats the refused request that the running proxy has under this id.
Result<void> take_refusal(CommandLine& line) {
    auto loaded = load(line, config::NamedFiles::left);
    if (!loaded.faults.empty()) return Fault{config::text_of(loaded.faults.front())};
    auto const place = admin::place_at(loaded.config.admin.address, loaded.config.admin.port);
    if (!place) return place.fault();
    auto const answer =
        admin::ask({.place = *place, .method = "POST", .target = "/refusal", .form = {{"id", line.rules.id}}}, "refusal");
    if (!answer) return answer.fault();
    auto const& refused = answer->at("refusal");
    line.url = refused.at("url");
    line.method = refused.at("method");
    line.client = refused.at("source");
    line.rules.at = refused.at("at");
    line.rules.user = refused.at("user");
    line.rules.groups = refused.at("groups");
    line.rules.listener = refused.at("listener");
    return {};
}

int rules(CommandLine line) {
    if (!line.rules.id.empty())
        if (auto const taken = take_refusal(line); !taken) {
            std::fprintf(stderr, "garner: %s\n", taken.fault().text().c_str());
            return exit_failed;
        }
    return config::rules_command(line, std::cin, std::cout, std::cerr);
}

}   // namespace

int main(int argc, char** argv) {
    auto line = config::parse_command_line(std::span<char const* const>(argv + 1, static_cast<std::size_t>(argc - 1)));
    switch (line.command) {
    case CommandLine::Command::help: std::fputs(line.text.c_str(), stdout); return 0;
    case CommandLine::Command::wrong: std::fputs(line.text.c_str(), stderr); return exit_usage;
    case CommandLine::Command::check: return config::check_command(line.config_file, line.sets, std::cout);
    case CommandLine::Command::import: return config::import_command(line.url, std::cout, std::cerr);
    case CommandLine::Command::rules: return rules(std::move(line));
    case CommandLine::Command::sim: return sim::sim_command(line.rest, std::cout, std::cerr);
    case CommandLine::Command::seen: return config::seen_command(line.rest, std::cin, std::cout, std::cerr);
    // clang-format off
    case CommandLine::Command::run:
        try {
            auto const code = run(std::move(line));
            io::flush_stderr();
            return code;
        } catch (std::exception const& trouble) {   // no descriptors, no threads, no memory
            io::stderr_lines(std::string("garner: not started: ") + trouble.what() + "\n");
            io::flush_stderr();
            return exit_failed;
        }
    // clang-format on
    default: return ask(line);
    }
}
