#include "seen/serve_command.hpp"

#include <signal.h>

#include <exception>
#include <ostream>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "crawl/seen_caches.hpp"
#include "crawl/url_sets.hpp"
#include "seen/answers.hpp"
#include "seen/service.hpp"
#include "util/exit_code.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::seen {

namespace {

constexpr Bytes least_memory = 16 * MiB;

struct Given {
    Options options;
    bool partition = false;
    std::uint64_t of = 0;
    bool help = false;
};

std::string read_number(std::string_view name, std::string_view value, std::uint64_t least, std::uint64_t most,
                        std::uint64_t& to) {
    auto const number = parse_decimal(value);
    if (!number || *number < least || *number > most)
        return std::string(name) + ": " + quoted_word(value) + " is not a number from " + std::to_string(least) + " to " +
               std::to_string(most);
    to = *number;
    return {};
}

std::string read_bytes(std::string_view name, std::string_view value, Bytes least, Bytes& to) {
    auto const size = parse_size(value);
    if (!size) return std::string(name) + ": " + quoted_word(value) + " is no size; write 2GiB";
    if (*size < least) return std::string(name) + ": " + quoted_word(value) + " is too little; at least " + size_text(least);
    to = *size;
    return {};
}

std::string read_patience(std::string_view name, std::string_view value, milliseconds& to) {
    auto const time = parse_time(value);
    if (!time || *time < peer_answer_least || *time > peer_answer_most)
        return std::string(name) + ": " + quoted_word(value) + " is not a time from 100ms to 10m; write 20s";
    to = *time;
    return {};
}

std::string read_address(std::string_view value, Options& options) {
    std::string fault;
    auto const places = read_peers(value, fault);
    if (!fault.empty() || places.size() != 1) return "--listen: " + quoted_word(value) + " is no address and port; write 127.0.0.1:3132";
    options.address = places.front().host == "localhost" ? "127.0.0.1" : places.front().host;
    options.port = places.front().port;
    return parse_ip(options.address) ? "" : "--listen: " + quoted_word(options.address) + " is no IP address";
}

std::string read_networks(std::string_view value, Options& options) {
    for (auto const part : comma_parts(value)) {
        auto const network = parse_network(part);
        if (!network) return "--allow: " + quoted_word(part) + " is no network; write 10.0.0.0/8, with a comma between two";
        options.allow.push_back(*network);
    }
    return {};
}

/// Takes one option with its value; the fault, if any.
std::string take(std::string_view name, std::string_view value, Given& given) {
    auto& options = given.options;
    constexpr std::uint64_t million = 1'000'000;
    if (name == "--listen") return read_address(value, options);
    if (name == "--allow") return read_networks(value, options);
    if (name == "--path") return options.directory = value, std::string();
    if (name == "--memory") return read_bytes(name, value, least_memory, options.memory);
    if (name == "--set") return options.set = value, std::string();
    if (name == "--expected") return read_number(name, value, 1, 100'000 * million, options.expected);
    if (name == "--cache") return options.cache = value == "none" ? "" : value, std::string();
    if (name == "--cache-entries") return read_number(name, value, 1, crawl::cache_entries_max, options.cache_entries);
    if (name == "--batch") return read_number(name, value, 1, 100 * million, options.batch_links);
    if (name == "--body") return read_bytes(name, value, 1 * KiB, options.body_bytes);
    if (name == "--waiting") return read_number(name, value, 1, 1'000 * million, options.waiting_links);
    if (name == "--of") return read_number(name, value, 1, partitions_max, given.of);
    if (name == "--peer-answer") return read_patience(name, value, options.peer_answer);
    if (name == "--layers") return options.layers = value, std::string();
    if (name == "--partition") {
        std::uint64_t number = 0;
        auto fault = read_number(name, value, 0, partitions_max - 1, number);
        options.partition = static_cast<std::uint32_t>(number);
        given.partition = true;
        return fault;
    }
    std::string fault;
    options.peers = read_peers(value, fault);
    return fault.empty() ? "" : "--peers: " + fault;
}

std::string check_partitions(Given const& given) {
    auto const& options = given.options;
    bool const any = given.partition || given.of > 0 || !options.peers.empty();
    if (!any) return {};
    if (!given.partition || given.of == 0 || options.peers.empty())
        return "a partition is given by --partition I, --of N and --peers HOST:PORT,... together";
    if (options.partition >= given.of)
        return "--partition " + std::to_string(options.partition) + " of " + std::to_string(given.of) + ": they count from 0";
    if (options.peers.size() != given.of)
        return "--peers names " + std::to_string(options.peers.size()) + " processes and --of says " +
               std::to_string(given.of) + "; name all of them in their order, this one too";
    return {};
}

std::string read_options(std::span<std::string const> arguments, Given& given) {
    constexpr std::string_view names[]{"--listen", "--allow", "--path",          "--memory", "--set",    "--expected",
                                       "--cache",  "--batch", "--cache-entries", "--body",   "--layers", "--partition",
                                       "--of",     "--peers", "--waiting",       "--peer-answer"};
    OptionForm const form{names, {}, "options begin with --"};
    auto fault = read_option_words(arguments, form, given.help,
                                   [&](std::string_view name, std::string_view value) { return take(name, value, given); });
    if (!fault.empty() || given.help) return fault;
    if (fault = check_partitions(given); !fault.empty()) return fault;
    return fault_of(given.options);
}

void print_help(std::ostream& out) {
    out << "Usage: garner seen serve [--listen 127.0.0.1:3132] [--path DIR] ...\n\n"
           "Tells crawlers over HTTP which URLs they have seen, until it is stopped by SIGTERM or Ctrl-C.\n\n"
           "  POST /seen         URLs one a line, a JSON list, or fingerprints of 8 bytes; which are new, in their order\n"
           "  GET /seen/stats    figures; GET /metrics the same for Prometheus\n\n"
           "  --listen ADDRESS:PORT  127.0.0.1:3132 without it\n"
           "  --allow NETWORK,...    who may ask, beside this machine\n"
           "  --path DIR             keeps the set there, and goes on with what is there; in memory without it\n"
           "  --memory SIZE          what the set may take beside a batch; 1GiB without it\n"
           "  --set NAME             lines without --path, runs with it; there are\n";
    for (auto const& row : crawl::url_sets())
        out << "                           " << row.name << std::string(15 - row.name.size(), ' ') << row.what << "\n";
    out << "  --expected N           entries that will come: lines then take just the room that they need\n"
           "  --cache NAME           before the set: line without it, none for none; see garner seen sim --help\n"
           "  --cache-entries N      65536 without it\n"
           "  --layers NAME,...      what is done to URLs beyond the standard; see garner seen canon --help\n"
           "  --partition I          which of the hosts are ours, from 0; with\n"
           "  --of N                 how many processes share the hosts, and\n"
           "  --peers HOST:PORT,...  where they listen, in their order, this one too\n"
           "  --peer-answer TIME     for all that the others answer to a batch; 20s without it\n"
           "  --batch N              links in a batch at most; 1000000 without it\n"
           "  --body SIZE            bytes of a batch at most; 256MiB without it\n"
           "  --waiting N            links that may wait for the set, or for a partition; 4000000 without it\n\n"
           "Exit codes: 0 stopped, 1 a fault, 2 wrong command line.\n";
}

int serve(Options const& options, std::ostream& err) {
    auto fail = [&](std::string const& fault) { return err << "garner seen serve: " << fault << "\n", exit_failed; };
    spdlog::set_default_logger(spdlog::stderr_logger_mt("garner"));
    // Blocked before any thread starts, so that all of them come to sigwait.
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGHUP, SIGTERM, SIGINT}) sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);

    std::string fault;
    auto const service = Service::open(options, fault);
    if (!service) return fail(fault);
    service->start();
    err << "garner seen serve listens on http://" << service->address() << "/ (" << service->set_text()
        << "); stop it with Ctrl-C\n" << std::flush;
    int signal = 0;
    ::sigwait(&signals, &signal);
    fault = service->stop();
    return fault.empty() ? exit_done : fail(fault);
}

}  // namespace

int serve_command(std::span<std::string const> arguments, std::istream&, std::ostream& out, std::ostream& err) {
    Given given;
    auto const fault = read_options(arguments, given);
    if (given.help) return print_help(out), exit_done;
    if (!fault.empty()) return err << "garner seen serve: " << fault << "\nTry: garner seen serve --help\n", exit_usage;
    try {
        return serve(given.options, err);
    } catch (std::exception const& trouble) {   // no memory, no threads, no descriptors
        return err << "garner seen serve: " << trouble.what() << "\n", exit_failed;
    }
}

}  // namespace garner::seen
