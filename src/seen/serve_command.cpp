#include "seen/serve_command.hpp"

#include <signal.h>

#include <exception>
#include <ostream>

#include "catalog/seen_caches.hpp"
#include "catalog/url_sets.hpp"
#include "crawl/url_layers.hpp"
#include "io/stderr_log.hpp"
#include "seen/link_status.hpp"
#include "seen/service.hpp"
#include "util/command_form.hpp"
#include "util/exit_code.hpp"
#include "util/text.hpp"
#include "util/units.hpp"

namespace garner::seen {

namespace {

constexpr Bytes least_memory = 16 * MiB;

struct Given {
    Options options;
    std::uint32_t partition = partitions_max;   // none
    std::uint64_t of = 0;
};

std::string read_patience(std::string_view name, std::string_view value, milliseconds& to) {
    auto const time = parse_time(value);
    if (!time || *time < peer_answer_least || *time > peer_answer_most)
        return std::string(name) + ": " + quoted_word(value) + " is not a time from 100ms to 10m; write 20s";
    to = *time;
    return {};
}

std::string read_address(std::string_view value, Options& options) {
    auto const places = read_peers(value);
    if (!places || places->size() != 1) return "--listen: " + quoted_word(value) + " is no address and port; write 127.0.0.1:3132";
    auto const& [host, port] = places->front();
    options.address = host == "localhost" ? "127.0.0.1" : host;
    options.port = port;
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

std::string read_processes(std::string_view value, std::vector<Peer>& peers) {
    auto const read = read_peers(value);
    if (!read) return "--peers: " + read.fault().text();
    peers = *read;
    return {};
}

std::string check_partitions(Given& given) {
    auto& options = given.options;
    bool const has_partition = given.partition < partitions_max;
    if (!has_partition && given.of == 0 && options.peers.empty()) return {};
    if (!has_partition || given.of == 0 || options.peers.empty())
        return "a partition is given by --partition I, --of N and --peers HOST:PORT,... together";
    options.partition = given.partition;
    if (options.partition >= given.of)
        return "--partition " + std::to_string(options.partition) + " of " + std::to_string(given.of) + ": they count from 0";
    if (options.peers.size() != given.of)
        return "--peers names " + std::to_string(options.peers.size()) + " processes and --of says " + std::to_string(given.of) +
               "; name all of them in their order, this one too";
    return {};
}

constexpr char const* about_serve =
    "Serves a set of seen URLs to crawlers over HTTP.\n"
    "Runs until SIGTERM or Ctrl-C. POST /seen takes URLs one a line, a JSON list or fingerprints of 8 bytes, and replies in "
    "order which are new. GET /seen/stats prints figures, and GET /metrics prints them for Prometheus.";

/// Reference caches must know the whole stream in advance, so the service cannot use them.
std::vector<std::string> cache_names() {
    std::vector<std::string> names{"none"};
    for (auto const& row : catalog::seen_caches())
        if (!row.foresees) names.emplace_back(row.name);
    return names;
}

void declare_partition(CommandForm& form, Given& given) {
    auto& options = given.options;
    form.option("--partition I", "index of this process's partition of the hosts, from 0",
                number_into<std::uint32_t>(given.partition, 0, partitions_max - 1))
        .option("--of N", "number of processes that share the hosts; needs --partition and --peers",
                number_into<std::uint64_t>(given.of, 1, partitions_max))
        .option("--peers HOST:PORT,...", "addresses of all processes by partition, including this one",
                [&](auto, auto value) { return read_processes(value, options.peers); })
        .option("--peer-answer TIME", "timeout for all answers of other processes to a batch; default: 20s",
                [&](auto name, auto value) { return read_patience(name, value, options.peer_answer); });
}

void declare(CommandForm& form, Given& given) {
    auto& options = given.options;
    constexpr std::uint64_t million = 1'000'000;
    auto const number = [](std::uint64_t& to, std::uint64_t most) { return number_into<std::uint64_t>(to, 1, most); };
    form.group("crawl")
        .option("--listen ADDRESS:PORT", "address and port to listen on; default: 127.0.0.1:3132",
                [&](auto, auto value) { return read_address(value, options); })
        .option("--allow NETWORK,...", "networks of allowed clients, in addition to this machine",
                [&](auto, auto value) { return read_networks(value, options); })
        .option("--path DIR", "directory of the set; continues a set that is there; default: in memory", options.directory)
        .option("--memory SIZE", "memory for the set, without the batches; default: 1GiB", size_into(options.memory, least_memory))
        .option("--set NAME", "kind of set, see below; default: lines without --path, runs with --path", options.set)
        .values(row_names(catalog::url_sets()))
        .option("--expected N", "expected number of entries; lines allocates memory for exactly so many",
                number(options.expected, 100'000 * million))
        .option("--cache NAME", "cache in front of the set (garner help caches), or none; default: line",
                [&](auto, auto value) { return options.cache = value == "none" ? "" : value, std::string(); })
        .values(cache_names())
        .option("--cache-entries N", "entries of the cache; default: 65536",
                number(options.cache_entries, crawl::cache_entries_max))
        .option("--layers NAME,...", "normalization of URLs beyond the standard, see garner help seen canon", options.layers)
        .values(row_names(crawl::url_layer_names()));
    declare_partition(form, given);
    form.option("--batch N", "maximum number of links in a batch; default: 1000000", number(options.batch_links, 100 * million))
        .option("--body SIZE", "maximum size of a batch; default: 256MiB", size_into(options.body_bytes, 1 * KiB))
        .option("--waiting N", "maximum links that wait for the set or a partition; default: 4000000",
                number(options.waiting_links, 1'000 * million))
        .check([&] {
            auto fault = check_partitions(given);
            return fault.empty() ? validate(options).fault_text() : fault;
        })
        .notes("Sets:\n" + help_rows(catalog::url_sets()))
        .exit_statuses({{0, "stopped"}, {1, "failure"}, {2, "wrong command line"}})
        .examples({"garner seen serve --path /var/lib/garner/seen --memory 4GiB",
                   "garner seen serve --listen 10.0.0.5:3132 --allow 10.0.0.0/8 --expected 100000000"});
}

int serve(Options const& options, std::ostream& err) {
    auto fail = [&](std::string const& fault) { return err << "garner seen serve: " << fault << "\n", exit_failed; };
    // The signals are blocked before any thread starts, so that only sigwait receives them.
    ::signal(SIGPIPE, SIG_IGN);
    sigset_t signals;
    sigemptyset(&signals);
    for (int signal : {SIGHUP, SIGTERM, SIGINT}) sigaddset(&signals, signal);
    ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    io::log_to_stderr();

    auto const opened = Service::open(options);
    if (!opened) return fail(opened.fault().text());
    auto& service = **opened;
    service.start();
    io::stderr_lines("garner seen serve listens on http://" + service.address() + "/ (" + service.set_text() +
                     "); stop it with Ctrl-C\n");
    int signal = 0;
    ::sigwait(&signals, &signal);
    auto const stopped = service.stop();
    if (!stopped) io::stderr_lines("garner seen serve: " + stopped.fault().text() + "\n");
    io::flush_stderr();
    return stopped ? exit_done : exit_failed;
}

}   // namespace

int serve_command(std::span<std::string const> arguments, std::istream&, std::ostream& out, std::ostream& err) {
    Given given;
    CommandForm form("garner seen serve", about_serve);
    declare(form, given);
    if (auto const code = form.read(arguments).print(out, err)) return *code;
    try {
        return serve(given.options, err);
    } catch (std::exception const& trouble) {   // no memory, no threads, no descriptors
        return err << "garner seen serve: " << trouble.what() << "\n", exit_failed;
    }
}

void use_serve_form(CommandForm::Use const& use) {
    Given given;
    CommandForm form("garner seen serve", about_serve);
    declare(form, given);
    use(form);
}

}   // namespace garner::seen
