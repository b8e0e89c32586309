#include "config/command_line.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "config/command_arguments.hpp"
#include "config/command_texts.hpp"
#include "config/keys.hpp"
#include "config/seen_command.hpp"
#include "config/version_text.hpp"
#include "sim/sim_options.hpp"
#include "util/command_form.hpp"
#include "util/completion.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::config {
namespace {

using Command = CommandLine::Command;

using Statuses = std::vector<CommandDescription::ExitStatus>;

/// The keys that have one place, as --set takes them.
std::vector<std::string> assignments() {
    std::vector<std::string> words;
    for (auto const& path : key_paths())
        if (path.find_first_of("[$") == path.npos) words.push_back(path + "=");
    return words;
}

/// The commands below `command` as operands of `name`.
CommandDescription names_below(CommandDescription const& command, std::string const& name) {
    CommandDescription names{.name = name, .usage = {}, .group = {}, .about = command.about};
    for (auto const& below : command.subcommands) names.subcommands.push_back(names_below(below, name + " " + below.word()));
    return names;
}

void answer_completion(CommandLine& line) {
    auto program = describe_commands();
    auto const names = names_below(program, "garner help").subcommands;
    auto& help = *std::ranges::find(program.subcommands, "garner help", &CommandDescription::name);
    help.subcommands = names;
    for (auto const& topic : topics_of(program)) help.operand.values.push_back(topic.name);
    line.text = line.url == "bash" ? bash_completion(program) : zsh_completion(program);
}

void answer_version(CommandLine& line) { line.text = version_text() + "\n"; }

/// garner help WORDS.
void answer_help(CommandLine& line) {
    bool const about_itself = std::ranges::any_of(line.rest, [](auto const& word) { return word == "-h" || word == "--help"; });
    if (about_itself) line.rest = {"help"};
    auto answer = help_about(describe_commands(), line.rest);
    line.text = answer.fault.empty() ? std::move(answer.text) : "garner: help: " + answer.fault + "\nTry: garner help\n";
    if (!answer.fault.empty()) line.command = Command::wrong;
}

/// Declares the commands in the order in which the overview prints them. Their values go to `line`.
class Declaration {
public:
    Declaration(CommandForm& root, CommandLine& line) : root_(root), line_(line) {}

    /// Makes the text of help, version or completion; nullptr for all other commands.
    void (*answer)(CommandLine&) = nullptr;

    void declare() {
        declare_start();
        declare_check();
        declare_import();
        declare_stats();
        declare_top();
        declare_quota();
        declare_explain();
        declare_peers();
        declare_group();
        declare_health();
        declare_cache();
        declare_purge();
        declare_log();
        declare_reload();
        declare_rules();
        declare_intercept();
        declare_token();
        declare_ca();
        root_.subcommand("sim", {}, is(Command::sim), &line_.rest).own_form(sim::use_sim_form);
        root_.subcommand("seen", {}, is(Command::seen), &line_.rest).own_form(use_seen_form);
        declare_help();
    }

private:
    std::function<void()> is(Command command) {
        return [this, command] { line_.command = command; };
    }
    std::function<void()> is_answered_by(void (*function)(CommandLine&)) {
        return [this, function] { line_.command = Command::help, answer = function; };
    }

    /// For a command that asks the admin address. `part`: "pins: ", if the help of the command above has the option.
    CommandForm& with_token(CommandForm& form, std::string const& part = "") {
        return form.option("--token-file FILE", part + "reads the token of admin.tokens from FILE; default: GARNER_TOKEN",
                           line_.token_file);
    }

    void declare_start() {
        root_.group("run")
            .subcommand_optional()
            .option("--config FILE", "configuration file, JSON with comments; default: built-in defaults",
                    [this](auto name, auto value) {
                        if (!line_.config_file.empty()) return std::string(name) + " is given twice";
                        return line_.config_file = value, std::string();
                    })
            .option("--set KEY=VALUE", "overrides one key of the configuration; repeatable",
                    [this](auto name, auto value) {
                        if (value.find('=') == value.npos)
                            return std::string(name) + " " + std::string(value) + ": write --set KEY=VALUE";
                        return line_.sets.emplace_back(value), std::string();
                    })
            .values(assignments)
            .version(version_text())
            .exit_statuses(
                {{0, "stopped"}, {1, "faulty configuration or failure"}, {2, "wrong command line"}, {130, "second Ctrl-C"}})
            .examples({"garner --config /etc/garner/garner.json",
                       "garner --set memory.size=1GiB --set 'listen[0].address=127.0.0.1:8080'"});
    }

    void declare_check() {
        root_
            .subcommand("check",
                        "Reports each error of a configuration and suggests a fix.\n"
                        "Prints file, line and key of each error and of each notice. A notice does not prevent a start.",
                        is(Command::check))
            .group("run")
            .operand("[FILE]", line_.url)
            .check([this] {
                if (line_.url.empty() && line_.config_file.empty()) return "check needs a FILE";
                if (!line_.url.empty() && !line_.config_file.empty()) return "check takes one FILE, with or without --config";
                if (!line_.url.empty()) line_.config_file = std::exchange(line_.url, "");
                return "";
            })
            .exit_statuses({{0, "no error"}, {1, "errors"}, {2, "wrong command line"}})
            .examples({"garner check /etc/garner/garner.json", "garner check garner.json --set memory.size=64MiB"});
    }

    void declare_import() {
        root_.subcommand("import", about_import, is(Command::import))
            .group("run")
            .operand("FILE", line_.url)
            .notes(about_imported)
            .exit_statuses({{0, "no directive needs you"},
                            {1, "the file cannot be read"},
                            {2, "a directive needs you, or wrong command line"}})
            .examples(
                {"garner import /etc/squid/squid.conf > garner.json", "garner import squid.conf > garner.json 2> report.txt"});
    }

    void declare_stats() {
        with_token(root_.subcommand("stats",
                                    "Prints statistics of the running proxy.\n"
                                    "Asks the proxy at admin.address of the same configuration.",
                                    is(Command::stats)))
            .group("inspect")
            .flag("--what-if", "prints the hit ratios that every policy would have, at half to four times the size", line_.what_if)
            .exit_statuses({{0, "done"}, {1, "failure"}, {2, "wrong command line"}})
            .examples({"garner stats", "garner stats --what-if --config /etc/garner/garner.json"});
    }

    void declare_top() {
        with_token(root_.subcommand("top", about_top, is(Command::top)))
            .group("inspect")
            .option("--count N", "ends after N prints; default: never", number_into<std::uint32_t>(line_.count, 1, 1'000'000'000))
            .exit_statuses({{0, "done"}, {1, "failure"}, {2, "wrong command line"}})
            .examples({"garner top", "garner top --count 2 --config /etc/garner/garner.json"});
    }

    void declare_quota() {
        auto& quota = root_.subcommand("quota", about_quota, is(Command::quota));
        with_token(quota)
            .group("inspect")
            .subcommand_optional()
            .flag("--json", "prints JSON", line_.json)
            .exit_statuses({{0, "done"},
                            {1, "failure, or there is no such quota or client"},
                            {2, "wrong command line, or CLIENT is a user and an address"}})
            .examples({"garner quota", "garner quota reset guests 10.9.0.7"});
        quota
            .subcommand("reset", "Begins the quota NAME anew for CLIENT, or for all clients.",
                        [this] { line_.command = Command::quota, line_.rest = {"reset"}; })
            .operand("NAME", appended_to(line_.rest))
            .and_operand("[CLIENT]");
    }

    void declare_token() {
        root_.subcommand("token", about_token, is(Command::token))
            .group("change")
            .operand("NAME", appended_to(line_.rest))
            .option("--role ROLE", "viewer: may read; operator: may also purge and change; default: viewer",
                    [this](auto name, auto value) {
                        line_.operates = value == "operator";
                        bool const known = line_.operates || value == "viewer";
                        return known ? "" : std::string(name) + ": " + quoted_word(value) + " is neither viewer nor operator";
                    })
            .values({"viewer", "operator"})
            .notes(about_token_use)
            .exit_statuses({{0, "done"}, {1, "wrong name"}, {2, "wrong command line"}})
            .examples({"garner token desk", "garner token desk --role operator"});
    }

    void declare_explain() {
        with_token(root_.subcommand("explain", about_explain, is(Command::explain)))
            .group("inspect")
            .operand("URL", line_.url)
            .option("-H,--header 'FIELD: VALUE'", "a field of the request; repeatable", appended_to(line_.fields))
            .option("-X,--method NAME", "the method; default: CONNECT for https, as browsers send it, else GET", line_.method)
            .option("--client ADDRESS", "the client's address; default: 127.0.0.1", line_.client)
            .option("--user NAME", "the logged-in user; default: the user of the address, if auth has one", line_.rules.user)
            .option("--group NAME", "a further group of the user, besides those that list the name; repeatable",
                    appended_to(line_.rules.groups))
            .option("--intercepted ADDRESS",
                    "the client has connected to ADDRESS, and the firewall diverts it to listen[].intercept", line_.intercepted)
            .option("--sni NAME", "the server name in the ClientHello of a tunnel; -: none. Default: unknown", line_.server_name)
            .flag("--accelerator", "asks the accelerator for this URL, not the forward proxy", line_.accelerator)
            .flag("--json", "prints JSON", line_.json)
            .check([this] {
                bool const both = line_.accelerator && !line_.intercepted.empty();
                return both ? "explain takes --accelerator or --intercepted, not both" : check_url(line_);
            })
            .exit_statuses({{0, "done"}, {1, "failure"}, {2, "wrong command line"}})
            .examples({"garner explain http://example.org/ -H 'Accept-Language: de' --user anna --group staff",
                       "garner explain -X CONNECT example.org:443 --sni other.example"});
    }

    void declare_rules() {
        auto& rules = root_.subcommand("rules", about_rules, {}).group("inspect");
        auto const part = [&](char const* name, char const* about) -> CommandForm& {
            return rules.subcommand(name, about, [this, name] { line_.command = Command::rules, line_.rest = {name}; });
        };
        auto& why = part("why", "Shows for one request which rules match, which one decides, and the nearest that would allow it.");
        why.operand("[URL]", line_.url)
            .option("--user NAME", "why: the logged-in user", line_.rules.user)
            .option("--group NAME", "why: a further group of the user; repeatable", appended_to(line_.rules.groups))
            .option("--source ADDRESS", "why: the client's address; default: 127.0.0.1", line_.client)
            .option("--listener PORT", "why: the port that the client connects to",
                    number_into<std::uint16_t>(line_.rules.listener, 1, 65'535))
            .option("--method NAME", "why: the method; default: CONNECT for https, else GET", line_.method)
            .option("--at TIME", "why: \"Mon 09:00\" or 2026-11-23T09:30:10Z; default: now", line_.rules.at)
            .option("--destination ADDRESS", "why: the origin's address", line_.rules.destination)
            .option("-H,--header 'FIELD: VALUE'", "why: a field of the request; repeatable", appended_to(line_.fields))
            .option("--id ID", "why: a refusal of the running proxy, by the beginning of its id", line_.rules.id)
            .option("--token-file FILE", "why: reads the token for --id from FILE; default: GARNER_TOKEN", line_.token_file)
            .flag("--json", "why: prints JSON", line_.json)
            .check([this] { return line_.url.empty() == line_.rules.id.empty() ? "rules why takes a URL, or --id" : ""; });
        part("decide", "Reads requests as lines of JSON from standard input, and writes a decision for each.");
        part("test", "Replays an access log: squid, combined or JSON, also packed by gzip or zstd.")
            .required("--log FILE", "test: the log", line_.rules.log)
            .option("--against FILE", "test: compares with the rules of this configuration; default: with the log",
                    line_.rules.against)
            .option("--max-new-denials PERCENT", "test: exits with 1 if more requests are newly denied, such as 0.1%",
                    percent_into(line_.rules.new_denials_max));
        rules.notes(about_rule_lines)
            .exit_statuses({{0, "done"}, {1, "failure, a faulty line, or too many new denials"}, {2, "wrong command line"}})
            .examples({"garner rules why http://example.org/ --source 10.0.0.7 --at 'Mon 09:00' --config garner.json",
                       "garner rules test --log access.log.gz --against garner.json --config new.json"});
    }

    void declare_intercept() {
        auto& intercept = line_.intercept_of;
        root_.subcommand("intercept", about_intercept, is(Command::intercept))
            .group("inspect")
            .flag("--print", "prints a shell script that sets the rules of nftables and the routes", intercept.print)
            .flag("--check", "prints each of them that this machine does not have", intercept.check)
            .option("--interface NAME", "diverts clients at this network interface only; repeatable",
                    appended_to(intercept.interfaces))
            .check([this] { return check_intercept(line_.intercept_of); })
            .exit_statuses(
                {{0, "done; --check: nothing is missing"}, {1, "something is missing, or failure"}, {2, "wrong command line"}})
            .examples({"garner intercept --print --interface lan0 --config garner.json",
                       "garner intercept --check --interface lan0 --config garner.json"});
    }

    void declare_peers() {
        with_token(root_.subcommand("peers",
                                    "Prints the cache peers of the running proxy.\n"
                                    "Shows their states, times, hits and savings. Asks the proxy at admin.address.",
                                    is(Command::peers)))
            .group("inspect")
            .flag("--json", "prints JSON", line_.json)
            .flag("--rebuild-digest", "rebuilds the proxy's own cache digest now, and prints no peers", line_.rebuild_digest)
            .exit_statuses({{0, "done"}, {1, "failure"}, {2, "wrong command line"}})
            .examples({"garner peers", "garner peers --json --config /etc/garner/garner.json"});
    }

    void declare_group() {
        auto& group =
            root_.subcommand("group",
                             "Prints the group of the running proxy.\n"
                             "Its members share invalidations and objects. Shows its state, the leases of the voters, the "
                             "offered objects, and at a voter the members. Asks the proxy at admin.address.",
                             is(Command::group));
        with_token(group)
            .group("inspect")
            .subcommand_optional()
            .flag("--json", "prints JSON", line_.json)
            .exit_statuses({{0, "current, or without a group; fetch: all were accepted"},
                            {1, "cut off, or failure; fetch: one was refused"},
                            {2, "wrong command line"}})
            .examples({"garner group --json --config /etc/garner/garner.json", "garner group fetch http://example.org/film.mp4"});
        group
            .subcommand("fetch", "Fetches each URL once from its origin, and makes all members store it.",
                        [this] { line_.command = Command::group, line_.rest = {"fetch"}; })
            .operand("URL...", appended_to(line_.rest))
            .check([this] { return check_urls(std::span(line_.rest).subspan(1)); });
    }

    void declare_health() {
        root_.subcommand("health", about_health, is(Command::health))
            .group("inspect")
            .flag("--ready", "requires that it accepts clients: fails while it drains", line_.ready)
            .option("--level LEVEL", "fails with a problem of this level, too: attention (and trouble) or trouble",
                    level_into(line_.level))
            .exit_statuses({{0, "it serves"},
                            {1, "it does not serve, is not ready, or has a problem of --level; or failure"},
                            {2, "wrong command line"}})
            .examples({"garner health --level trouble", "garner health --ready --config /etc/garner/garner.json"});
    }

    void declare_cache() {
        auto& cache = root_.subcommand("cache", about_cache, {}).group("inspect");
        auto const part = [&](char const* name, char const* about) -> CommandForm& {
            auto const chosen = [this, name] { line_.command = Command::cache, line_.rest = {name}; };
            return cache.subcommand(name, about, chosen);
        };
        with_token(cache)
            .flag("--json", "prints JSON; ls prints a line for each object", line_.json)
            .notes(about_patterns)
            .exit_statuses({{0, "done"}, {1, "failure, nothing was purged or an object was damaged"}, {2, "wrong command line"}})
            .examples({"garner cache ls http://example.org/pictures/", "garner cache purge 'http://example.org/*.jpg'"});
        part("ls", "Lists the objects on disk: size, status, freshness, URL.").operand("[PATTERN]", appended_to(line_.rest));
        part("stats", "Prints statistics of the memory and disk tiers.");
        part("verify", "Reads and checks the disk tier; drops damaged objects.")
            .option("--rate SIZE", "verify: reads at most SIZE per second; default: 100 MiB; 0: no limit",
                    [this](auto name, auto value) {
                        auto const rate = parse_size(value);
                        line_.rate = rate.value_or(0);
                        return rate ? "" : std::string(name) + " " + std::string(value) + ": write it like --rate 50MiB";
                    });
        part("purge", "Removes the matching objects from memory and disk.").operand("PATTERN", appended_to(line_.rest));
    }

    void declare_purge() {
        auto& purge = line_.purge_of;
        with_token(root_.subcommand("purge",
                                    "Removes URLs from the cache, also by prefix or tag.\n"
                                    "Asks the running proxy at admin.address.",
                                    is(Command::purge)))
            .group("change")
            .operand("[URL]", line_.url)
            .option("--prefix URL", "every URL that begins with URL, which ends with /", purge.prefix)
            .option("--tag TAG", "every response with TAG in Cache-Groups, Surrogate-Key or Cache-Tag", purge.tag)
            .option("--origin URL", "with --tag: only responses of this origin", purge.origin)
            .flag("--all", "everything", purge.all)
            .flag("--soft", "marks the responses stale; default: they are not used again", purge.soft)
            .flag("--group", "accepts the purge also if nothing is stored", purge.group)
            .flag("--wait", "waits until it holds at every member of the group", purge.wait)
            .check([this] { return check_purge(line_); })
            .notes(about_purges)
            .exit_statuses({{0, "removed, or accepted"},
                            {1, "URL not in the cache, or failure"},
                            {2, "wrong command line, or a wrong line of -"},
                            {4, "removed here, but a peer has not confirmed it"}})
            .examples({"garner purge http://example.org/", "garner purge --tag product-17 --origin http://example.org --soft"});
    }

    void declare_log() {
        auto& log = root_.subcommand("log", about_log, {});
        log.subcommand("reopen", "Reopens the log files after they were renamed.",
                       [this] { line_.command = Command::log, line_.rest = {"reopen"}; })
            .group("change");
        with_token(log)
            .exit_statuses({{0, "reopened"}, {1, "failure; the former file stays in use"}, {2, "wrong command line"}})
            .examples({"garner log reopen", "garner log reopen --config /etc/garner/garner.json"});
    }

    void declare_reload() {
        root_.subcommand("reload", about_reload, is(Command::reload))
            .group("change")
            .flag("--dry-run", "prints what a reload would change, and changes nothing", line_.dry_run)
            .option("--confirm TIME", "returns to the former configuration after TIME unless it is confirmed, such as 60s",
                    time_of_trial_into(line_.confirm_within))
            .flag("--or-takeover", "starts a takeover in the background if keys wait, or the running program is another build",
                  line_.or_takeover)
            .check([this] {
                int const given = line_.dry_run + (line_.confirm_within > seconds{}) + line_.or_takeover;
                return given > 1 ? "reload takes one of --dry-run, --confirm and --or-takeover" : "";
            })
            .notes(about_reload_keys)
            .exit_statuses({{0, "applied"},
                            {1, "refused: nothing has changed; or failure"},
                            {2, "wrong command line"},
                            {3, "applied, but keys that it names wait for a takeover"}})
            .examples({"garner reload --dry-run --config /etc/garner/garner.json",
                       "garner reload --confirm 60s --config /etc/garner/garner.json"});
        root_.subcommand("takeover", about_takeover, is(Command::takeover))
            .group("change")
            .flag("--background", "returns once the new process serves", line_.background)
            .option("--from PATH", "the control socket of the running proxy, if control.path has changed", line_.from)
            .notes(about_takeover_steps)
            .exit_statuses({{0, "it served, and was stopped; --background: it serves"},
                            {1, "refused, or failure: the running process goes on"},
                            {2, "wrong command line"}})
            .examples({"garner takeover --background --config /etc/garner/garner.json",
                       "garner takeover --config /etc/garner/garner.json"});
        root_.subcommand("confirm", about_confirm, is(Command::confirm))
            .group("change")
            .exit_statuses({{0, "confirmed"}, {1, "no configuration waits, or failure"}, {2, "wrong command line"}})
            .examples({"garner confirm", "garner confirm --config /etc/garner/garner.json"});
    }

    void declare_ca() {
        auto& ca = root_.subcommand("ca", about_ca, {}).group("change");
        auto const part = [&](char const* name, char const* about) -> CommandForm& {
            return ca.subcommand(name, about, [this, name] { line_.command = Command::ca, line_.rest = {name}; });
        };
        ca.notes(about_ca_files)
            .exit_statuses({{0, "done"}, {1, "failure"}, {2, "wrong command line"}})
            .examples({"garner ca init /etc/garner/ca --config /etc/garner/garner.json",
                       "garner ca export /etc/garner/ca > garner-root.pem"});
        part("init", "Makes a root and a signing certificate.")
            .operand("DIR", appended_to(line_.rest))
            .flag("--any-host", "init: the CA may sign for every host", line_.any_host);
        part("export", "Prints the root certificate, which clients must trust.")
            .operand("[DIR]", appended_to(line_.rest))
            .flag("--der", "export: prints DER, not PEM", line_.der);
        with_token(part("pins", "Lists or erases the hosts that are spliced because clients refused their minted certificates."),
                   "pins: ")
            .operand("[HOST]", appended_to(line_.rest))
            .flag("--erase", "pins: erases those of HOST, or all", line_.erase);
        part("show", "Prints names, dates, constraints and fingerprints.").operand("[DIR]", appended_to(line_.rest));
    }

    void declare_help() {
        Statuses const statuses{{0, "done"}, {2, "wrong command line"}};
        root_
            .subcommand("help",
                        "Prints an overview, or the help of a command.\n"
                        "garner help COMMAND prints the same as garner COMMAND --help.",
                        is_answered_by(answer_help), &line_.rest)
            .group("help")
            .operand("[COMMAND]", line_.url)
            .exit_statuses(statuses)
            .examples({"garner help explain", "garner help seen canon"});
        root_.subcommand("version", "Prints the versions of Garner, its compiler and libraries.", is_answered_by(answer_version))
            .group("help")
            .exit_statuses(statuses)
            .examples({"garner version", "garner --version"});
        root_.subcommand("completion", about_completion, is_answered_by(answer_completion))
            .group("help")
            .operand("SHELL", shell_into(line_.url))
            .values({"bash", "zsh"})
            .exit_statuses(statuses)
            .examples({"source <(garner completion bash)", "garner completion zsh > _garner"});
    }

    CommandForm& root_;
    CommandLine& line_;
};

}   // namespace

CommandDescription describe_commands() {
    CommandLine line;
    CommandForm root("garner", about_garner);
    Declaration(root, line).declare();
    return root.describe();
}

CommandLine parse_command_line(std::span<char const* const> arguments) {
    CommandLine line;
    CommandForm root("garner", about_garner);
    Declaration declaration(root, line);   // the form calls it
    declaration.declare();
    auto const read = root.read(std::vector<std::string>(arguments.begin(), arguments.end()));
    line.text = read.text;
    if (read.help)
        line.command = Command::help;
    else if (!read.fault.empty())
        line.command = Command::wrong;
    else if (declaration.answer)
        declaration.answer(line);
    return line;
}

}   // namespace garner::config
