#include "config/command_line.hpp"

#include <utility>

#include "http/uri.hpp"
#include "util/command_form.hpp"
#include "util/units.hpp"
#include "util/version.hpp"

namespace garner::config {
namespace {

using Command = CommandLine::Command;

constexpr char const* about_cache =
    "Lists, counts, checks or purges the objects in the cache.\n"
    "Asks the running proxy at admin.address. If no proxy runs, opens the store at disk.path; no proxy can start meanwhile.";

constexpr char const* about_patterns =
    "PATTERN is what URLs begin with, \"http://example.com/pictures/\"; or, with * for any text, it matches the whole\n"
    "URL: \"*.example.com/*.jpg\". A purge removes all variants of a URL.\n"
    "\n"
    "Exit codes: 0 done, 1 nothing was purged or an object was damaged, 2 wrong command line.";

CommandForm::Take appended_to(std::vector<std::string>& to) {
    return [&to](std::string_view, std::string_view value) { return to.emplace_back(value), std::string(); };
}

std::string check_url(CommandLine& line) {
    auto const given = line.url;
    bool const authority = line.method == "CONNECT" && http::parse_authority(given);
    if (authority) line.url = "https://" + given + "/";
    return http::parse_absolute(line.url) ? "" : quoted_word(given) + " is not a URL like http://example.com/page";
}

}  // namespace

CommandLine parse_command_line(std::span<char const* const> arguments) {
    CommandLine line;
    auto const is = [&](Command command) { return [&line, command] { line.command = command; }; };

    CommandForm root("garner",
                     "Starts Garner, a caching HTTP proxy; without a file on 127.0.0.1:3128, for this machine only.\n"
                     "SIGHUP reads the configuration again, SIGTERM drains requests and exits, SIGUSR1 reopens logs.");
    root.subcommand_optional()
        .option("--config FILE", "configuration: JSON with comments; default: embedded", [&](auto name, auto value) {
            if (!line.config_file.empty()) return std::string(name) + " is given twice";
            return line.config_file = value, std::string();
        })
        .option("--set KEY=VALUE", "overrides one key, e.g. --set memory.size=64MiB; repeatable", [&](auto name, auto value) {
            if (value.find('=') == value.npos)
                return std::string(name) + " " + std::string(value) + ": write --set KEY=VALUE";
            return line.sets.emplace_back(value), std::string();
        })
        .version(std::string("garner ") + version)
        .notes("Exit codes: 0 done, 1 errors or failure, 2 wrong command line.");

    root.subcommand("check", "Reports each error of a configuration with file, line, key and a suggested fix.\n"
                             "Exit codes: 0 no error, 1 errors, 2 wrong command line.", is(Command::check))
        .operand("FILE", line.url)
        .check([&] {
            if (!line.config_file.empty()) return "check takes the file without --config";
            line.config_file = std::exchange(line.url, "");
            return "";
        });
    root.subcommand("purge", "Removes a URL with all its variants from the cache of the running proxy.\n"
                             "The proxy is asked at admin.address.\n"
                             "Exit codes: 0 removed, 1 not in the cache or failure, 2 wrong command line.", is(Command::purge))
        .operand("URL", line.url)
        .check([&] { return check_url(line); });
    root.subcommand("stats", "Prints one page of figures of the running proxy, which is asked at admin.address.",
                    is(Command::stats))
        .flag("--what-if", "prints instead the hit ratios of every policy, at half to four times the size", line.what_if);
    root.subcommand("explain", "Explains why the running proxy would, or would not, answer a request from its cache.\n"
                               "Shows rules, variants and freshness. Fetches and changes nothing. On a miss the peers are\n"
                               "asked, as they would be for a client's request.", is(Command::explain))
        .operand("URL", line.url)
        .option("-H,--header 'FIELD: VALUE'", "a field of the request; repeatable", appended_to(line.fields))
        .option("-X,--method NAME", "the method; default: CONNECT for https, as browsers send it, else GET", line.method)
        .option("--client ADDRESS", "the client's address; default: 127.0.0.1", line.client)
        .flag("--accelerator", "asks the accelerator for this URL, not the forward proxy", line.accelerator)
        .flag("--json", "prints JSON", line.json)
        .check([&] { return check_url(line); });
    root.subcommand("peers", "Prints the other caches of the running proxy: state, times, hits and savings.", is(Command::peers))
        .flag("--json", "prints JSON", line.json)
        .flag("--rebuild-digest", "makes the running proxy rebuild its own cache digest now, and prints no peers",
              line.rebuild_digest);

    auto& cache = root.subcommand("cache", about_cache, {});
    cache.flag("--json", "prints JSON; of ls a line for each object", line.json).notes(about_patterns);
    auto const part = [&](char const* name, char const* about) -> CommandForm& {
        return cache.subcommand(name, about, [&line, name] { line.command = Command::cache, line.rest = {name}; });
    };
    part("ls", "the objects on disk, one a line: size, status, remaining freshness, URL")
        .operand("[PATTERN]", appended_to(line.rest));
    part("stats", "the figures of the tiers");
    part("verify", "reads and checks the whole disk tier; drops damaged objects")
        .option("--rate SIZE", "verify: reads at most SIZE a second; default: 100 MiB; 0: no limit", [&](auto name, auto value) {
            auto const rate = parse_size(value);
            line.rate = rate.value_or(0);
            return rate ? "" : std::string(name) + " " + std::string(value) + ": write it like --rate 50MiB";
        });
    part("purge", "removes the matching objects, from memory, too").operand("PATTERN", appended_to(line.rest));

    root.subcommand("sim", "Replays a trace or an access log through replacement policies.", is(Command::sim), &line.rest);
    root.subcommand("seen", "Commands for crawlers: which URLs have been seen.", is(Command::seen), &line.rest);

    auto const read = root.read(std::vector<std::string>(arguments.begin(), arguments.end()));
    line.text = read.text;
    if (read.help) line.command = Command::help;
    else if (!read.fault.empty()) line.command = Command::wrong;
    return line;
}

}  // namespace garner::config
