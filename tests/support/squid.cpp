#include "support/squid.hpp"

#include <signal.h>

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

#include "support/client.hpp"

namespace garner::test {

namespace {

// icp_query_timeout: the default may be 5 ms, too short on a busy machine. minimum_direct_*: by default it bypasses peers for
// origins as near as loopback. If started by root it becomes the user proxy, which has to write in the folder.
constexpr auto squid_configuration = R"(
DIRECTIVES
http_port ADDRESS:HTTP_PORT
TLS
udp_incoming_address ADDRESS
tcp_outgoing_address ADDRESS
icp_port ICP_PORT
htcp_port HTCP_PORT
icp_access allow all
htcp_access allow all
http_access allow all
visible_hostname squid-HTTP_PORT.test
pid_filename none
pinger_enable off
netdb_filename none
dns_nameservers ADDRESS
icp_query_timeout 2000
minimum_direct_rtt 0
minimum_direct_hops 0
digest_rebuild_period 10 seconds
digest_rewrite_period 10 seconds
cache_mem 32 MB
maximum_object_size_in_memory 4 MB
memory_cache_shared off
max_filedescriptors 4096
shutdown_lifetime 0 seconds
strip_query_terms off
logformat told %Ss %>Hs %rm %ru %Sh %<a:%<p %>a
access_log stdio:HERE/access.log told
cache_log HERE/cache.log
cache_store_log none
coredump_dir HERE
DISK
)";

constexpr std::array<std::string_view, 9> faults{"FATAL",   "CRITICAL", "assertion", "BUG",        "ERROR",
                                                 "WARNING", "UNKNOWN",  "alformed",  "Invalid ICP"};

std::string trimmed(std::string const& text) {
    auto const first = text.find_first_not_of(" \t\r");
    return first == text.npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") + 1 - first);
}

}   // namespace

Squid::Squid(Setup setup) : ports_(setup.ports) {
    std::filesystem::create_directory(folder());
    std::filesystem::permissions(folder(), std::filesystem::perms(0777));
    Fields const words{{"DISK", setup.disk ? "cache_dir ufs HERE/disk 16 4 4" : ""},
                       {"HERE", folder().string()},
                       {"ADDRESS", address},
                       {"HTTP_PORT", std::to_string(ports_.http)},
                       {"ICP_PORT", std::to_string(ports_.icp)},
                       {"HTCP_PORT", std::to_string(ports_.htcp)},
                       {"TLS", tls_directives(setup)},
                       {"DIRECTIVES", setup.directives}};
    auto const file = dir_.write("squid.conf", filled_in(squid_configuration, words));
    remove_shared_memory();
    if (setup.disk) make_disk(file);
    child_ = start_server(command(file), ports_.http, folder() / "cache.log", address);
}

std::string Squid::tls_directives(Setup const& setup) const {
    std::string lines;
    if (!setup.origin_ca.empty()) lines += "tls_outgoing_options cafile=" + setup.origin_ca + "\n";
    if (!setup.certificate) return lines;
    auto const file = dir_.write("squid.pem", setup.certificate->pem_with_key());
    lines += "https_port " + std::string(address) + ":" + std::to_string(ports_.https) + " tls-cert=" + file + " tls-key=" + file;
    if (!setup.client_ca.empty()) lines += " clientca=" + setup.client_ca;
    return lines + "\n";
}

// Part of the names of its shared memory: two instances of equal name cannot run at once.
std::string Squid::service_name() const { return "garner" + std::to_string(ports_.http); }

std::vector<std::string> Squid::command(std::string const& file) const {
    return {server_program("squid"), "-N", "-n", service_name(), "-f", file};
}

void Squid::make_disk(std::string const& file) const {
    auto making = command(file);
    making.push_back("-z");
    auto const made = run(making);
    if (made.code != 0) throw Trouble("squid -z: " + made.errors);
}

// Left behind by a killed instance.
void Squid::remove_shared_memory() const {
    for (auto const* part : {"metadata", "queues", "readers"}) {
        std::error_code ignored;
        std::filesystem::remove("/dev/shm/" + service_name() + "-cf__" + part + ".shm", ignored);
    }
}

Squid::~Squid() {
    if (!ended_) end(SIGTERM);
    for (auto const& line : complaints()) ADD_FAILURE() << "squid says: " << line;
    remove_shared_memory();
}

void Squid::end(int signal) {
    ended_ = true;
    if (!child_->running()) ADD_FAILURE() << "squid does not live\n" << cache_log() << child_->errors();
    child_->signal(signal);
    auto const code = child_->exit_code();
    auto const expected = signal == SIGTERM ? 0 : 128 + signal;
    if (code != expected) ADD_FAILURE() << "squid ended with " << code.value_or(-1) << "\n" << cache_log();
}

std::vector<SquidLogged> Squid::log() const {
    std::vector<SquidLogged> lines;
    std::istringstream text(read_file(folder() / "access.log"));
    for (std::string line; std::getline(text, line);) {
        SquidLogged logged;
        std::istringstream words(line);
        words >> logged.tag >> logged.status >> logged.method >> logged.url >> logged.hierarchy >> logged.server >> logged.client;
        if (words) lines.push_back(logged);   // incomplete lines are skipped
    }
    return lines;
}

std::vector<SquidLogged> Squid::logged(std::string const& path, std::string const& tag, std::size_t count) const {
    std::vector<SquidLogged> matching;
    eventually([&] {
        matching = log();
        std::erase_if(matching, [&](SquidLogged const& line) { return !line.url.ends_with(path) || !line.tag.starts_with(tag); });
        return matching.size() >= count;
    });
    if (matching.size() < count) throw Trouble("squid has no " + tag + " for " + path + ":\n" + read_file(folder() / "access.log"));
    return matching;
}

std::vector<std::string> Squid::complaints() const {
    std::vector<std::string> found;
    std::istringstream text(cache_log());
    for (std::string line; std::getline(text, line);) {
        // Mutual parents receive their own requests again; Squid then asks the origin.
        if (line.find("Forwarding loop") != line.npos) continue;
        // A client without the right certificate, or a ticket: without "sslcontext" it refuses those of clients with one.
        if (line.find("failure while accepting a TLS connection") != line.npos) continue;
        if (std::any_of(faults.begin(), faults.end(), [&](auto word) { return line.find(word) != line.npos; }))
            found.push_back(line);
    }
    return found;
}

std::vector<SquidPeer> Squid::peers() const {
    auto reply = client().get("/squid-internal-mgr/server_list");
    if (reply.status() != 200) throw Trouble("server_list: " + std::to_string(reply.status()) + " " + reply.trouble());
    std::vector<SquidPeer> peers;
    std::istringstream text(reply.body());
    for (std::string line; std::getline(text, line);) {
        auto const colon = line.find(':');
        if (colon == line.npos) continue;
        auto const label = trimmed(line.substr(0, colon));
        if (label == "Parent" || label == "Sibling") peers.emplace_back();
        if (!peers.empty()) peers.back().said.emplace(label, trimmed(line.substr(colon + 1)));
    }
    return peers;
}

SquidPeer Squid::peer() const {
    auto const all = peers();
    if (all.empty()) throw Trouble("squid has no peers");
    return all.front();
}

std::string SquidPeer::text(std::string const& label) const {
    auto const found = said.find(label);
    if (found == said.end()) throw Trouble("squid says nothing of " + label);
    return found->second;
}

int SquidPeer::number(std::string const& label) const { return std::stoi(text(label)); }

}   // namespace garner::test
