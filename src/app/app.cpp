#include "app/app.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "app/greeting.hpp"
#include "app/part_options.hpp"
#include "app/waiting_keys.hpp"
#include "io/log.hpp"
#include "io/stderr_log.hpp"
#include "proxy/used_certificates.hpp"
#include "store/disk_format.hpp"
#include "util/exit_code.hpp"
#include "util/units.hpp"
#include "util/version.hpp"

namespace garner::app {
namespace {

constexpr char const* not_reloaded = "configuration not reloaded: it has errors; the running configuration stays in use:";

void log(ReloadReport const& report) {
    if (report.refused()) spdlog::error(not_reloaded);
    std::string lines;
    for (auto const& fault : report.faults) lines += text_of(fault) + "\n";
    for (auto const& notice : report.notices) lines += notice_text_of(notice) + "\n";
    io::stderr_lines(lines);
    if (report.refused()) return;
    for (auto const& change : report.changes) spdlog::info("changed: {}", change.text());
    for (auto const& line : report.certificate_lines()) spdlog::info("{}", line);
    spdlog::info("{}", report.summary());
}

constexpr char const* cannot_return = "the former configuration cannot return";
constexpr char const* takeover_runs = "a takeover is running; repeat the command when it has ended";

io::ServiceManager manager_after(Takeover const* takeover) {
    if (!takeover) return {};
    return {takeover->welcome().notify_socket, takeover->welcome().watchdog};
}

std::optional<seconds> seconds_in(control::Json const& command, char const* name) {
    auto const member = command.find(name);
    bool const given = member != command.end() && member->is_number_unsigned();
    return given ? std::optional(seconds(member->get<std::uint32_t>())) : std::nullopt;
}

bool is_set(control::Json const& command, char const* name) {
    auto const member = command.find(name);
    return member != command.end() && member->is_boolean() && member->get<bool>();
}

}   // namespace

config::Loaded load(config::CommandLine const& line, config::NamedFiles files) {
    return line.config_file.empty() ? config::load_defaults(line.sets, files)
                                    : config::load_file(line.config_file, line.sets, files);
}

std::string control_path(config::Config const& config) {
    if (!config.control.path.empty()) return config.control.path;
    char const* const directories = std::getenv("RUNTIME_DIRECTORY");   // the service manager puts colons between them
    if (!directories) return {};
    std::string const all = directories;
    return all.substr(0, all.find(':')) + "/control";
}

App::App(config::CommandLine line, config::Loaded loaded, std::unique_ptr<Takeover> takeover)
    : line_(std::move(line)), started_(loaded.root), loaded_(std::move(loaded)), policy_(loaded_.config.memory.policy),
      parts_(loaded_.config, policy_.running()), takeover_(std::move(takeover)), manager_(manager_after(takeover_.get())) {}

Result<void> App::open() {
    auto const& config = loaded_.config;
    if (auto const opened = parts_.open(config, takeover_.get()); !opened) return opened;
    if (auto const opened = open_control(); !opened) return opened;
    if (takeover_)
        if (auto const serves = takeover_->serving(serving(), parts_); !serves) return serves;
    if (takeover_) take_quotas();
    if (takeover_ && line_.background) takeover_->use_standard_error();
    restore_memory();
    upkeep_.emplace(*parts_.server);
    policy_.simulate(parts_.server->sampling(), config.memory.size);
    parts_.start();
    io::stderr_lines(greeting(*parts_.server, parts_.admin_address(), parts_.seen_address()));
    auto const ready = [this] { manager_.ready(listening_text(*parts_.server)); };
    ready();
    if (takeover_) predecessors_ = takeover_->finish(parts_, ready);
    takeover_ = nullptr;
    if (commands_) commands_->socket().own();   // until now an error must leave it to the running process
    return {};
}

/// A process that has ended early, or is of an older version, has sent none: the ledger may have them.
void App::take_quotas() {
    auto const rows = takeover_->take_quotas();
    if (!rows) return parts_.quotas->load();
    parts_.server->quotas().add(*rows);
    parts_.quotas->begin_anew();
}

/// From the process whose place this one takes, or from a file.
void App::restore_memory() {
    MemoryFile const file(loaded_.config.memory.save);
    if (takeover_) {
        file.discard();   // that process has newer objects
        restoring_ = takeover_->take_objects();
        return;
    }
    int const saved = file.take();
    if (saved < 0) return;
    restoring_ = std::make_unique<Restoring>(parts_.cache, saved, "memory.save", Restoring::Pace::behind_requests);
}

Result<void> App::open_control() {
    auto const path = control_path(loaded_.config);
    if (path.empty()) return {};
    if (auto handed = takeover_ ? takeover_->control_socket(path) : nullptr) {
        commands_ = std::make_unique<control::CommandServer>(std::move(handed));
        return {};
    }
    auto socket = control::Socket::open(path);
    if (!socket) return socket.fault();
    commands_ = std::make_unique<control::CommandServer>(*std::move(socket));
    return {};
}

// ---- reload ----

void App::reload() {
    if (handover_) return spdlog::warn("configuration not reloaded: {}", takeover_runs);
    reload_from_file(std::nullopt);
}

/// Without `confirm_within` the configuration is confirmed.
ReloadReport App::reload_from_file(std::optional<seconds> confirm_within) {
    manager_.reloading();
    auto before = loaded_;
    auto report = apply(load(line_, config::NamedFiles::believed), confirm_within.has_value());   // open files stay open
    if (report.refused()) {
        parts_.server->config_state().refused(text_of(report.faults.front()));
    } else {
        if (confirm_within)
            trial_.begin(std::move(before), steady_now() + *confirm_within);
        else
            trial_.confirm();
    }
    log(report);
    manager_.ready(report.refused() ? "the last reload failed; the former configuration stays in use"
                                    : listening_text(*parts_.server));
    return report;
}

ReloadReport App::compare(config::Loaded const& fresh) const {
    ReloadReport report{.faults = fresh.faults, .notices = fresh.notices, .changes = {}};
    if (report.refused()) return report;
    report.changes = config::changes_of_reload(started_, loaded_.root, fresh.root);
    report.note_disk(loaded_.config.disk, fresh.config.disk);
    return report;
}

ReloadReport App::try_reload(config::Loaded const& fresh) const {
    auto report = compare(fresh);
    if (report.refused()) return report;
    auto const after = proxy::certificates_after(*parts_.server, server_options(fresh.config), *proxy_options(fresh.config));
    if (after)
        report.note_certificates(proxy::certificates_in_use(*parts_.server), *after);
    else
        report.faults.push_back(fresh.fault_at(after.fault()));
    return report;
}

ReloadReport App::apply(config::Loaded fresh, bool unconfirmed) {
    auto report = compare(fresh);
    if (report.refused()) return report;
    if (auto const passed = try_waiting_keys(report.pending(), fresh.config); !passed) {
        report.faults.push_back(fresh.fault_at(passed.fault()));
        return report;
    }
    fit(fresh.config);
    auto const certificates = proxy::certificates_in_use(*parts_.server);
    if (auto const applied = reloading_.apply(loaded_.config, fresh.config); !applied) {
        // The faults of a named file have its lines.
        report = {.faults = load(line_, config::NamedFiles::reloaded).faults, .notices = {}, .changes = {}};
        if (!report.refused()) report.faults.push_back(fresh.fault_at(applied.fault()));
        return report;
    }
    auto const& save = fresh.config.memory.save;
    if (save != loaded_.config.memory.save) MemoryFile(save).discard();   // this process may have removed its objects
    report.note_certificates(certificates, proxy::certificates_in_use(*parts_.server));
    loaded_ = std::move(fresh);
    parts_.server->config_state().applied(report.pending(), unconfirmed);
    return report;
}

/// The shards of the memory tier are those of the start.
void App::fit(config::Config& fresh) const {
    auto const least = parts_.cache.memory().least_size();
    if (fresh.memory.size >= least) return;
    spdlog::warn("memory.size {} is below the minimum {} of the running process; using the minimum until a takeover",
                 size_text(fresh.memory.size), size_text(least));
    fresh.memory.size = least;
}

/// A return may fail because another process has taken an address meanwhile. The proxy tries it again while the present
/// configuration is not confirmed.
void App::return_if_unconfirmed() {
    constexpr seconds until_the_next_try{5};
    auto former = trial_.take_if_over(steady_now());
    if (!former) return;
    spdlog::warn(
        "the configuration was not confirmed in time: returning to the former one; the file still has the other one, which "
        "the next start or reload would apply");
    auto const report = apply(*former, false);
    log(report);
    if (!report.refused()) {
        parts_.server->config_state().returned();
        return manager_.ready(listening_text(*parts_.server));
    }
    trial_.begin(*std::move(former), steady_now() + until_the_next_try);
    parts_.server->config_state().return_failed(std::string(cannot_return) + ": " + text_of(report.faults.front()));
    manager_.ready(cannot_return);
    spdlog::error("{}, and is tried again in {}; `garner confirm` keeps the running one", cannot_return,
                  time_text(until_the_next_try));
}

// ---- commands ----

control::CommandResult App::execute(control::Json const& command) {
    auto const& name = command.at("do").get_ref<std::string const&>();
    if (handover_) return {exit_failed, {takeover_runs}};
    if (name == "reload") return execute_reload(command);
    if (name == "confirm") return execute_confirm();
    return {exit_failed, {"the running proxy does not know the command " + name + "; it may be of another version"}};
}

control::CommandResult App::execute_reload(control::Json const& command) {
    bool const only_shown = is_set(command, "dry_run");
    auto const limit = seconds_in(command, "confirm_seconds");
    auto const report = only_shown ? try_reload(load(line_, config::NamedFiles::reloaded)) : reload_from_file(limit);
    control::CommandResult answer{report.exit_code(), report.lines(only_shown)};
    if (limit && !only_shown && !report.refused()) {
        answer.lines.push_back("the former configuration returns in " + time_text(*limit) +
                               " unless `garner confirm` comes before");
        spdlog::info("{}", answer.lines.back());
    }
    return answer;
}

control::CommandResult App::execute_confirm() {
    if (!trial_.confirm()) return {exit_failed, {"no configuration waits to be confirmed"}};
    parts_.server->config_state().confirmed();
    spdlog::info("the configuration is confirmed");
    return {exit_done, {"the configuration is confirmed"}};
}

// ---- takeover ----

control::CommandServer* App::commands() {
    bool const executes = !handover_ || handover_->executes_commands();
    return executes ? commands_.get() : nullptr;
}

void App::greet(control::Channel channel, control::Json const& hello) {
    auto const read = takeover::hello_of(hello);
    auto const agreed = read ? agree(*read) : Result<void>(read.fault());
    if (!agreed) {
        spdlog::warn("takeover refused: {}", agreed.fault().text());
        (void)channel.send(takeover::refusal(agreed.fault().text()));
        return;
    }
    spdlog::info("takeover: process {} of garner {} takes over", channel.process(), read->version);
    Handover::Needs const needs{parts_, shutdown_, manager_, commands_->socket(), loaded_.config};
    restoring_ = nullptr;   // the objects received so far are handed over
    handover_ = std::make_unique<Handover>(needs, std::move(channel), welcome(), std::move(predecessors_), *read);
    predecessors_.clear();
}

Result<void> App::agree(takeover::Hello const& hello) const {
    constexpr std::ptrdiff_t most = 4;
    if (handover_) return Fault{takeover_runs};
    if (trial_.is_running()) return Fault{"the configuration waits to be confirmed", "run `garner confirm` first"};
    if (parts_.seen && loaded_.config.seen.directory.empty())
        return Fault{"the URL set is only in memory, and would be lost", "set seen.path, or restart the proxy", "seen.path"};
    if (std::ranges::count_if(predecessors_, [](auto const& one) { return !one->is_over(); }) >= most)
        return Fault{"four former processes still end their requests", "wait, or lower deadlines.handover"};
    auto const protocol = takeover::common_protocol(hello, version);
    return protocol ? Result<void>() : protocol.fault();
}

takeover::Welcome App::welcome() const {
    auto const tickets = parts_.server->listening().ticket_keys().state(steady_now());
    takeover::Welcome welcome;
    welcome.version = version;
    welcome.record_format = store::disk::format_version;
    welcome.sequence = parts_.cache.numbers.last();
    welcome.via = parts_.server->process_name();
    welcome.ticket_keys = tickets.bytes;
    welcome.ticket_age = tickets.age;
    welcome.notify_socket = manager_.socket();
    welcome.watchdog = manager_.watchdog().value_or(microseconds{0});
    return welcome;
}

takeover::Serving App::serving() const {
    auto const& path = loaded_.config.disk.path;
    std::error_code error;
    return {.disk = path.empty() ? path : std::filesystem::absolute(path, error).string(),
            .control = commands_ && !commands_->socket().is_own()};
}

bool App::stop() {
    for (auto const& one : predecessors_) one->leave();
    bool const over = shutdown_.run(loaded_.config.proxy.deadlines);
    if (over) save_memory();
    return over;
}

/// A former process that has not ended may still remove objects.
void App::save_memory() {
    constexpr milliseconds patience{5'000};
    auto const& path = loaded_.config.memory.save;
    if (restoring_ && !path.empty()) restoring_->wait(patience);
    restoring_ = nullptr;
    bool const alone = std::ranges::all_of(predecessors_, [](auto const& one) { return one->is_over(); });
    if (alone) return MemoryFile(path).save(parts_.cache.memory(), shutdown_.hurried());
    if (!path.empty()) spdlog::warn("memory.save: the objects in memory are not saved: a former process has not ended");
}

void App::hurry() {
    shutdown_.hurry();
    if (handover_) handover_->hurry();
}

void App::end_handover() {
    predecessors_ = handover_->take_predecessors();
    handover_ = nullptr;
}

// ---- every second ----

void App::reopen_log() {
    auto const reopened = parts_.server->reopen_log();
    if (!reopened)
        spdlog::error("{}; still writing to the former file; check the path and its permissions", reopened.fault().text());
}

void App::feed_watchdog() {
    auto const now = steady_now();
    auto const runs = [now](auto const* services) { return services->worker.responds(now); };
    if (watchdog_.is_due(now, std::ranges::all_of(parts_.server->shared().workers, runs))) manager_.feed_watchdog();
}

void App::look_after() {
    return_if_unconfirmed();
    follow_best_policy();
    std::erase_if(predecessors_, [](auto const& one) { return one->is_over(); });
    if (restoring_ && restoring_->is_over()) restoring_ = nullptr;
    upkeep_->look();
}

void App::follow_best_policy() {
    auto const reason = policy_.look(parts_.server->sampling(), steady_now());
    if (!reason) return;
    parts_.cache.memory().reconfigure(cache_options(loaded_.config, policy_.running()));
    spdlog::info("memory.policy auto: {}", *reason);
}

}   // namespace garner::app
