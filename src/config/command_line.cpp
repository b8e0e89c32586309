// Parsing the command line: one table of subcommands, three options.
#include "config/command_line.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "config/reader.hpp"
#include "http/uri.hpp"
#include "util/units.hpp"
#include "util/version.hpp"

namespace garner::config {
namespace {

using Command = CommandLine::Command;

std::string version_text() { return std::string("garner ") + version + "\n"; }

constexpr char const* explain_help =
    "Tells why the running proxy would, or would not, answer a request from its cache: rules, variants, freshness.\n"
    "It only looks: nothing is fetched or changed. For what would be fetched the peers are asked, as they would be.\n"
    "\n"
    "  -H, --header 'FIELD: VALUE'  a field of the request; may be given often\n"
    "  -X, --method NAME            its method; without it CONNECT for https, as browsers ask, else GET\n"
    "  --client ADDRESS             who asks; 127.0.0.1 without it\n"
    "  --accelerator                of the accelerator that stands for this URL, not of the forward proxy\n"
    "  --json                       prints JSON\n";

constexpr char const* cache_help =
    "Lists, counts, checks or purges what the cache holds, of the running proxy or of the store when none runs.\n"
    "The proxy is asked at admin.address; the store at disk.path is taken, so that none can be started meanwhile.\n"
    "\n"
    "  ls [PATTERN]       the objects on disk, a line each: size, status, how long it is fresh, URL\n"
    "  stats              the figures of the tiers\n"
    "  verify             reads all of the disk tier and checks it; what is damaged is forgotten\n"
    "  purge PATTERN      removes the objects that fit, from memory, too\n"
    "\n"
    "PATTERN is what URLs begin with, \"http://example.com/pictures/\"; or, with * for anything, how they look from end\n"
    "to end: \"*.example.com/*.jpg\". Of a URL all variants leave. Ends with 1 when nothing was purged, or something was\n"
    "damaged.\n"
    "\n"
    "  --json             prints JSON; of ls a line for each object\n"
    "  --rate SIZE        verify: reads at most so much a second; 100 MiB without it, 0 for as fast as it goes\n";

constexpr char const* options_text = R"(
Options:
  --config FILE      configuration: JSON with comments; without it the embedded defaults
  --set KEY=VALUE    overrides one key, e.g. --set memory.size=64MiB; may be given often
  --help             this text
)";

struct CommandRow {
    std::string_view name;
    Command command;
    std::string_view operand;        // what it takes: "" for nothing
    std::string_view usage;
    std::string_view help;
};

constexpr CommandRow rows[]{
    {"check", Command::check, "FILE", "garner check FILE [--set KEY=VALUE ...]",
     "Tells every fault of a configuration with file, line, key and what would mend it.\n"
     "Ends with 0 when there is none, with 1 otherwise.\n"},
    {"purge", Command::purge, "URL", "garner purge URL [--config FILE] [--set KEY=VALUE ...]",
     "Removes a URL with all its variants from the cache of the running proxy, which is asked at admin.address.\n"
     "Ends with 0 when it was there, with 1 otherwise.\n"},
    {"stats", Command::stats, "", "garner stats [--what-if] [--config FILE] [--set KEY=VALUE ...]",
     "Prints one page of figures of the running proxy, which is asked at admin.address.\n"
     "\n"
     "  --what-if          instead: the hit ratios that every policy would have had, at half to four times the size\n"},
    {"peers", Command::peers, "", "garner peers [--json] [--rebuild-digest] [--config FILE] [--set KEY=VALUE ...]",
     "Prints the other caches of the running proxy: their state, times, hits, and what they saved.\n"
     "\n"
     "  --json             prints JSON\n"
     "  --rebuild-digest   instead: has the running proxy build its own cache digest anew, out of turn\n"},
    {"explain", Command::explain, "URL", "garner explain URL [-H 'FIELD: VALUE' ...] [-X METHOD] [--json]\n"
     "                     [--config FILE] [--set KEY=VALUE ...]",
     explain_help},
    {"cache", Command::cache, "ls, stats, verify or purge", "garner cache ls [PATTERN] | stats | verify | purge PATTERN [--json] [--rate SIZE]\n"
     "                   [--config FILE] [--set KEY=VALUE ...]",
     cache_help},
    {"sim", Command::sim, "", "garner sim --trace FILE [--policy NAME,...] [--size SIZE,...] ...",
     "Replays a trace or an access log through the replacement policies; see garner sim --help.\n"},
    {"seen", Command::seen, "", "garner seen WHAT ...",
     "What a crawler needs to know which URLs it has seen; see garner seen --help.\n"},
};

std::string overall_help() {
    std::string out =
        "Garner, a caching HTTP proxy.\n\n"
        "Usage:\n"
        "  garner [--config FILE] [--set KEY=VALUE ...]\n"
        "      Starts the proxy; without a file on 127.0.0.1:3128, for this machine only.\n"
        "      SIGHUP reads the configuration again, SIGTERM ends it after running requests, SIGUSR1 reopens logs.\n";
    for (CommandRow const& row : rows) {
        out += "  " + std::string(row.usage) + "\n      ";
        out += row.help.substr(0, row.help.find('\n') + 1);
    }
    out += options_text;
    return out + "  --version          the version\n\nExit codes: 0 done, 1 faults or failure, 2 wrong command line.\n";
}

std::string help_of(CommandRow const* row) {
    if (!row) return overall_help();
    std::string out = "Usage: " + std::string(row->usage) + "\n\n" + std::string(row->help) + options_text;
    return out;
}

CommandLine wrong(CommandRow const* row, std::string text) {
    CommandLine line;
    line.command = Command::wrong;
    line.text = "garner: " + std::move(text) + "\nTry: garner " + (row ? std::string(row->name) + " " : "") + "--help\n";
    return line;
}

CommandLine prints(Command command, std::string text) {
    CommandLine line;
    line.command = command;
    line.text = std::move(text);
    return line;
}

CommandRow const* row_named(std::string_view name) {
    for (CommandRow const& row : rows)
        if (row.name == name) return &row;
    return nullptr;
}

std::string hint(std::string_view word, std::span<std::string_view const> known) {
    auto const meant = nearest(word, known);
    return meant.empty() ? std::string() : "; did you mean " + std::string(meant) + "?";
}

std::string unknown_word(std::string_view word) {
    std::vector<std::string_view> names;
    for (CommandRow const& row : rows) names.push_back(row.name);
    return "unknown subcommand \"" + std::string(word) + "\"" + hint(word, names);
}

std::string unknown_option(std::string_view option) {
    static constexpr std::string_view names[]{"--config", "--set",    "--help",        "--version", "--header",
                                              "--method", "--client", "--accelerator", "--json",    "--what-if",
                                              "--rebuild-digest", "--rate"};
    return "unknown option " + std::string(option) + hint(option.substr(0, option.find('=')), names);
}

/// Walks the arguments; holds what has been found so far.
class Parser {
public:
    explicit Parser(std::span<char const* const> arguments) : arguments_(arguments) {}

    CommandLine parse() {
        for (; at_ < arguments_.size(); ++at_) {
            std::string_view const word = arguments_[at_];
            if (only_operands_ || word == "-" || !word.starts_with('-')) {
                if (auto error = operand(word)) return wrong(row_, *error);
            } else if (word == "--") {
                only_operands_ = true;
            } else if (word == "--help" || word == "-h") {
                return prints(Command::help, help_of(row_));
            } else if (word == "--version") {
                return prints(Command::version, version_text());
            } else if (auto error = option(word)) {
                return wrong(row_, *error);
            }
        }
        return finish();
    }

private:
    using Error = std::optional<std::string>;

    Error operand(std::string_view word) {
        if (!row_) {
            row_ = row_named(word);
            if (row_ && (row_->command == Command::sim || row_->command == Command::seen)) {   // they read their own options
                line_.rest.assign(arguments_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, arguments_.end());
                at_ = arguments_.size();
            }
            if (row_) return std::nullopt;
            return unknown_word(word);
        }
        if (row_->command == Command::cache) {
            line_.rest.emplace_back(word);
            return std::nullopt;
        }
        if (row_->operand.empty()) return std::string(row_->name) + " takes no \"" + std::string(word) + "\"";
        if (operand_) return std::string(row_->name) + " takes one " + std::string(row_->operand);
        operand_ = word;
        return std::nullopt;
    }

    Error option(std::string_view word) {
        auto const equals = word.find('=');
        auto const name = word.substr(0, equals);
        bool const field = name == "-H" || name == "--header";
        bool const of_request = field || name == "-X" || name == "--method" || name == "--client";
        auto* flag = flag_of(name);
        if (!of_request && !flag && name != "--config" && name != "--set" && name != "--rate") return unknown_option(word);
        if (of_request || name == "--accelerator") explains_ = name;
        if (flag && equals == word.npos) {
            *flag = true;
            return std::nullopt;
        }
        if (flag) return std::string(name) + " takes no value";
        std::string_view value;
        if (equals != word.npos)
            value = word.substr(equals + 1);
        else if (at_ + 1 < arguments_.size())
            value = arguments_[++at_];
        if (value.empty()) return std::string(name) + " needs a value";

        if (of_request) {
            request_option(name, value);
        } else if (name == "--rate") {
            auto const rate = parse_size(value);
            if (!rate) return "--rate " + std::string(value) + ": write it like --rate 50MiB";
            line_.rate = *rate;
            rates_ = true;
        } else if (name == "--set") {
            if (value.find('=') == value.npos) return "--set " + std::string(value) + ": write --set KEY=VALUE";
            line_.sets.emplace_back(value);
        } else if (!line_.config_file.empty()) {
            return "--config is given twice";
        } else {
            line_.config_file = value;
        }
        return std::nullopt;
    }

    /// Options without a value; nullptr: it is none of them.
    bool* flag_of(std::string_view name) {
        if (name == "--json") return &line_.json;
        if (name == "--what-if") return &line_.what_if;
        if (name == "--accelerator") return &line_.accelerator;
        if (name == "--rebuild-digest") return &line_.rebuild_digest;
        return nullptr;
    }

    void request_option(std::string_view name, std::string_view value) {
        if (name == "-X" || name == "--method")
            line_.method = value;
        else if (name == "--client")
            line_.client = value;
        else
            line_.fields.emplace_back(value);
    }

    CommandLine finish() {
        auto const command = row_ ? row_->command : Command::run;
        if (!explains_.empty() && command != Command::explain)
            return wrong(row_, std::string(explains_) + " is for garner explain");
        if (line_.json && command != Command::explain && command != Command::peers && command != Command::cache)
            return wrong(row_, "--json is for garner explain, garner peers and garner cache");
        if (line_.what_if && command != Command::stats) return wrong(row_, "--what-if is for garner stats");
        if (line_.rebuild_digest && command != Command::peers) return wrong(row_, "--rebuild-digest is for garner peers");
        bool const verifies = command == Command::cache && !line_.rest.empty() && line_.rest.front() == "verify";
        if (rates_ && !verifies) return wrong(row_, "--rate is for garner cache verify");
        if (!row_) return std::move(line_);
        if (command == Command::cache) return finish_cache();
        if (!row_->operand.empty() && (!operand_ || operand_->empty()))
            return wrong(row_, std::string(row_->name) + " needs a " + std::string(row_->operand));
        line_.command = row_->command;
        if (row_->command == Command::check) {
            if (!line_.config_file.empty()) return wrong(row_, "check takes the file without --config");
            line_.config_file = *operand_;
        } else if (operand_) {
            http::UriError error;
            line_.url = *operand_;
            bool const authority = line_.method == "CONNECT" && http::parse_authority(*operand_, error);
            if (authority) line_.url = "https://" + line_.url + "/";
            if (!http::parse_absolute(line_.url, error))
                return wrong(row_, "\"" + std::string(*operand_) + "\" is not a URL like http://example.com/page");
        }
        return std::move(line_);
    }

    /// Which of its words it is, and whether a pattern belongs behind it.
    CommandLine finish_cache() {
        static constexpr std::string_view words[]{"ls", "stats", "verify", "purge"};
        auto const& rest = line_.rest;
        if (rest.empty()) return wrong(row_, "cache needs one of ls, stats, verify and purge");
        auto const& word = rest.front();
        if (std::find(std::begin(words), std::end(words), word) == std::end(words))
            return wrong(row_, "cache knows no \"" + word + "\"; it takes ls, stats, verify or purge" + hint(word, words));
        bool const patterned = word == "ls" || word == "purge";
        if (rest.size() > (patterned ? 2u : 1u)) return wrong(row_, "cache " + word + " takes no \"" + rest.back() + "\"");
        if (word == "purge" && (rest.size() < 2 || rest.back().empty()))
            return wrong(row_, "cache purge needs a PATTERN: the beginning of URLs, or * for anything in them");
        line_.command = Command::cache;
        return std::move(line_);
    }

    std::span<char const* const> arguments_;
    std::size_t at_ = 0;
    CommandRow const* row_ = nullptr;
    std::optional<std::string_view> operand_;
    bool only_operands_ = false;
    bool rates_ = false;             // --rate was given
    std::string_view explains_;      // an option that only explain takes
    CommandLine line_;
};

}  // namespace

CommandLine parse_command_line(std::span<char const* const> arguments) { return Parser(arguments).parse(); }

}  // namespace garner::config
