#include "app/client_commands.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "admin/admin_client.hpp"
#include "admin/cache_command.hpp"
#include "admin/group_command.hpp"
#include "admin/query_commands.hpp"
#include "admin/purge_command.hpp"
#include "admin/top_command.hpp"
#include "app/app.hpp"
#include "app/token_command.hpp"
#include "bump/ca_command.hpp"
#include "config/check_command.hpp"
#include "config/intercept_command.hpp"
#include "config/rules_command.hpp"
#include "control/control_commands.hpp"
#include "io/log.hpp"
#include "util/build_id.hpp"
#include "util/exit_code.hpp"
#include "util/version.hpp"

namespace garner::app {
namespace {

using config::CommandLine;

constexpr char const* no_admin_address = "this configuration has no admin address to ask";

int fail(Fault const& fault) {
    std::fprintf(stderr, "garner: %s\n", fault.text().c_str());
    return exit_failed;
}

/// garner cache: for the running proxy's cache, or for the store in the same configuration.
int ask_cache(CommandLine const& line, config::Config const& config, std::string const& token) {
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
    command.token = token;
    command.disk = config.disk;
    command.open = store::DiskStore::open_existing;
    return admin::run_cache_command(command, std::cout, std::cerr);
}

/// Asks the proxy that runs with this configuration, at its admin address.
int ask_at(config::Config const& config, std::string const& token, admin::Command command) {
    if (!config.admin.enabled) return fail({no_admin_address});
    command.address = config.admin.address;
    command.port = config.admin.port;
    command.token = token;
    return admin::run_command(command, std::cout, std::cerr);
}

/// garner ca pins: asks a running proxy.
int ask_for_pins(CommandLine const& line, config::Config const& config, std::string const& token) {
    admin::Command command{.kind = admin::Command::Kind::pins};
    command.erase = line.erase;
    if (line.rest.size() > 1) command.host = line.rest.back();
    return ask_at(config, token, std::move(command));
}

/// garner quota: `rest` is empty, or "reset", a name, and perhaps a client.
int ask_for_quotas(CommandLine const& line, config::Config const& config, std::string const& token) {
    using Kind = admin::Command::Kind;
    bool const resets = !line.rest.empty();
    admin::Command command{.kind = resets ? Kind::reset_quota : Kind::quota};
    if (line.rest.size() > 1) command.quota = line.rest[1];
    if (line.rest.size() > 2) command.subject = line.rest[2];
    command.json = line.json;
    return ask_at(config, token, std::move(command));
}

/// garner ca: `rest` is the operation and a directory.
int run_ca(CommandLine const& line, config::Config const& config, std::string const& token) {
    using Kind = bump::CaCommand::Kind;
    auto const& word = line.rest.front();
    if (word == "pins") return ask_for_pins(line, config, token);
    bump::CaCommand command;
    command.kind = word == "init" ? Kind::init : word == "export" ? Kind::export_root : Kind::show;
    if (line.rest.size() > 1) command.directory = line.rest.back();
    command.chain = config.bump.ca_chain;
    command.rules = config.bump.rules;
    command.any_host = line.any_host;
    command.der = line.der;
    return bump::run_ca_command(command, std::cout, std::cerr);
}

/// Becomes `garner takeover --background` with the same configuration. Returns on failure only.
int become_takeover(CommandLine const& line) {
    std::vector<std::string> words{"garner", "takeover", "--background"};
    if (!line.config_file.empty()) words.insert(words.end(), {"--config", line.config_file});
    for (auto const& set : line.sets) words.insert(words.end(), {"--set", set});
    std::vector<char*> arguments;
    for (auto& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    std::cout.flush();
    ::execv("/proc/self/exe", arguments.data());
    return fail({std::string("cannot start the takeover: ") + std::strerror(errno)});
}

/// True if only a takeover brings in the rest of the configuration, or the installed program.
bool needs_takeover(control::Executed const& reload) {
    bool const is_another = reload.version != version || reload.build != build_id();
    return reload.code == exit_pending || (reload.code == exit_done && is_another);
}

/// garner reload and garner confirm.
int ask_control(CommandLine const& line, config::Config const& config) {
    constexpr seconds patience{120};   // a disk tier may be opened
    auto const path = control_path(config);
    if (path.empty())
        return fail({"this configuration has no control socket", "set control.path and restart the proxy", "control.path"});
    control::Json command{{"do", line.command == CommandLine::Command::confirm ? "confirm" : "reload"}};
    if (line.dry_run) command["dry_run"] = true;
    if (line.confirm_within > seconds{}) command["confirm_seconds"] = static_cast<std::uint32_t>(line.confirm_within.count());
    auto const executed = control::execute(path, command, patience, std::cout);
    if (!executed) return fail(executed.fault());
    return line.or_takeover && needs_takeover(*executed) ? become_takeover(line) : executed->code;
}

/// garner purge, except of one URL.
int ask_to_purge(CommandLine const& line, config::Admin const& place, std::string const& token) {
    auto const& purge = line.purge_of;
    admin::PurgeCommand command{.reads_lines = line.url == "-", .address = place.address, .port = place.port, .token = token};
    command.order = {.url = command.reads_lines ? std::string() : line.url,
                     .prefix = purge.prefix,
                     .tag = purge.tag,
                     .origin = purge.origin,
                     .all = purge.all,
                     .soft = purge.soft,
                     .group = true,
                     .wait = purge.wait};
    return admin::run_purge_command(command, std::cin, std::cout, std::cerr);
}

/// garner group fetch: `rest` is "fetch" and URLs.
int ask_to_fetch(CommandLine const& line, config::Admin const& place, std::string const& token) {
    admin::GroupFetchCommand command{.urls = {}, .address = place.address, .port = place.port, .token = token};
    command.urls.assign(line.rest.begin() + 1, line.rest.end());
    return admin::run_group_fetch_command(command, std::cout, std::cerr);
}

/// The size of the terminal, which may change.
admin::TopCommand::Size terminal_size() {
    ::winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
    return {size.ws_row, size.ws_col};
}

/// garner top.
int ask_top(CommandLine const& line, config::Config const& config, std::string const& token) {
    if (!config.admin.enabled) return fail({no_admin_address});
    admin::TopCommand command{.address = config.admin.address, .port = config.admin.port, .token = token, .count = line.count};
    if (::isatty(STDOUT_FILENO)) command.screen = terminal_size;
    return admin::run_top_command(command, std::cout, std::cerr);
}

int ask_admin(CommandLine const& line, config::Config const& config, std::string const& token) {
    auto const& place = config.admin;
    if (!place.enabled) return fail({no_admin_address});
    bool const is_of_url = line.purge_of.is_plain() && line.url != "-";
    if (line.command == CommandLine::Command::purge && !is_of_url) return ask_to_purge(line, place, token);
    if (line.command == CommandLine::Command::group && !line.rest.empty()) return ask_to_fetch(line, place, token);
    using Kind = admin::Command::Kind;
    static std::map<CommandLine::Command, Kind> const kinds{
        {CommandLine::Command::purge, Kind::purge}, {CommandLine::Command::explain, Kind::explain},
        {CommandLine::Command::peers, Kind::peers}, {CommandLine::Command::health, Kind::health},
        {CommandLine::Command::group, Kind::group}, {CommandLine::Command::log, Kind::reopen_logs},
        {CommandLine::Command::stats, Kind::stats}};
    admin::Command const command{.kind = kinds.at(line.command),
                                 .url = line.url,
                                 .method = line.method,
                                 .fields = line.fields,
                                 .client = line.client,
                                 .user = line.rules.user,
                                 .groups = line.rules.groups,
                                 .intercepted = line.intercepted,
                                 .server_name = line.server_name,
                                 .accelerator = line.accelerator,
                                 .json = line.json,
                                 .what_if = line.what_if,
                                 .ready = line.ready,
                                 .level = line.level,
                                 .rebuild_digest = line.rebuild_digest,
                                 .address = place.address,
                                 .port = place.port,
                                 .token = token};
    return admin::run_command(command, std::cout, std::cerr);
}

/// The answer of the running proxy to a question of `garner rules why`, with one parameter.
Result<nlohmann::ordered_json> ask_proxy(CommandLine const& line, config::Admin const& admin, char const* target,
                                         std::pair<std::string_view, std::string> parameter, std::string_view wanted) {
    auto const place = admin::place_at(admin.address, admin.port);
    if (!place) return place.fault();
    auto const token = token_of(line);
    if (!token) return token.fault();
    admin::Question const question{
        .place = *place, .method = "POST", .target = target, .form = {std::move(parameter)}, .token = *token};
    return admin::ask(question, wanted);
}

std::string list_of(std::vector<std::string> const& texts) {
    std::string all;
    for (auto const& text : texts) all += (all.empty() ? "" : ", ") + text;
    return all;
}

/// `garner rules why --user`: the running proxy asks the directory for the groups, or a notice says that nothing did.
void take_groups(CommandLine& line) {
    auto const loaded = load(line, config::NamedFiles::left);
    std::vector<std::string> missing;
    for (auto const& group : loaded.config.auth.groups)
        if (!group.ldap.empty() && std::ranges::count(line.rules.groups, group.name) == 0) missing.push_back(group.name);
    if (!loaded.faults.empty() || missing.empty()) return;
    auto const answer = ask_proxy(line, loaded.config.admin, "/user", {"user", line.rules.user}, "groups");
    auto& unknown = line.rules.unknown_groups;
    std::string why;
    if (answer) {
        for (auto const& group : answer->at("groups").get<std::vector<std::string>>())
            if (std::ranges::count(line.rules.groups, group) == 0) line.rules.groups.push_back(group);
        unknown = answer->at("unknown_groups").get<std::vector<std::string>>();
        why = answer->at("why_unknown");
    } else {
        unknown = std::move(missing);
        why = "no running proxy asked the directory: " + answer.fault().text();
    }
    if (unknown.empty()) return;
    std::cerr << "notice: it is not known whether " << line.rules.user << " is in " << list_of(unknown) << " (" << why
              << "); a deny by group counts as matching, an allow as not; to assume a member, add --group NAME\n";
}

/// `garner rules why --id`: repeats the refused request whose id begins so in the running proxy. The rules do not know why
/// credentials were rejected, or the first bytes of a tunnel.
Result<void> take_refusal(CommandLine& line) {
    auto loaded = load(line, config::NamedFiles::left);
    if (!loaded.faults.empty()) return Fault{config::text_of(loaded.faults.front())};
    auto const answer = ask_proxy(line, loaded.config.admin, "/refusal", {"id", line.rules.id}, "refusal");
    if (!answer) return answer.fault();
    auto const& refused = answer->at("refusal");
    line.url = refused.at("url");
    line.method = refused.at("method");
    line.client = refused.at("source");
    line.rules.at = refused.at("at");
    line.rules.user = refused.at("user");
    line.rules.groups = refused.at("groups");
    line.rules.unknown_groups = refused.at("unknown_groups");
    line.rules.listener = refused.at("listener");
    line.rules.destination = refused.at("destination");
    std::string const rule = refused.at("rule");
    std::string because = refused.at("because");
    bool const is_tunnel = rule.starts_with("bump.");
    if (is_tunnel) because = "not an access rule, but " + rule + " refused the tunnel (bump.otherwise): " + because;
    if (is_tunnel || rule == "auth" || rule == "auth.failures_per_minute")
        std::fputs(("notice: " + because + "\n").c_str(), stderr);
    return {};
}

/// The running proxy has a former state of the file: it must be reachable while an operator mends the file. With a syntax error the
/// default address is asked.
bool can_ask_nevertheless(CommandLine const& line, config::Loaded const& loaded) {
    using enum CommandLine::Command;
    constexpr CommandLine::Command lenient[]{purge, stats, top, peers, group, health, log, explain, quota, confirm};
    if (std::ranges::find(lenient, line.command) == std::end(lenient)) return false;
    bool const by_control = line.command == confirm;
    auto const matters = [by_control](config::Fault const& fault) {
        bool const is_unread = fault.line == 0 && fault.key.empty();
        return is_unread || fault.file == "--set" || fault.key.starts_with(by_control ? "control" : "admin");
    };
    if (std::ranges::any_of(loaded.faults, matters)) return false;
    if (by_control) return true;
    auto const& admin = loaded.config.admin;
    if (admin.enabled)
        std::fprintf(stderr, "garner: asking the proxy at %s port %u nevertheless\n", admin.address.c_str(), admin.port);
    return true;
}

}   // namespace

int ask(CommandLine const& line) {
    auto const loaded = load(line, config::NamedFiles::left);
    config::print_faults(loaded.faults, std::cerr);
    if (!loaded.faults.empty() && !can_ask_nevertheless(line, loaded)) return exit_failed;
    auto const token = token_of(line);
    if (!token) return fail(token.fault());
    switch (line.command) {
    case CommandLine::Command::cache: return ask_cache(line, loaded.config, *token);
    case CommandLine::Command::ca: return run_ca(line, loaded.config, *token);
    case CommandLine::Command::intercept:
        return config::intercept_command(line.intercept_of, loaded.config.proxy.listen, std::cout, std::cerr);
    case CommandLine::Command::quota: return ask_for_quotas(line, loaded.config, *token);
    case CommandLine::Command::top: return ask_top(line, loaded.config, *token);
    case CommandLine::Command::reload:
    case CommandLine::Command::confirm: return ask_control(line, loaded.config);
    default: return ask_admin(line, loaded.config, *token);
    }
}

int ask_rules(CommandLine line) {
    if (!line.rules.id.empty())
        if (auto const taken = take_refusal(line); !taken) return fail(taken.fault());
    if (line.rules.id.empty() && !line.rules.user.empty()) take_groups(line);
    return config::rules_command(line, std::cin, std::cout, std::cerr);
}

}   // namespace garner::app
