#include "app/upkeep.hpp"

#include <malloc.h>

#include <utility>

#include "io/log.hpp"
#include "proxy/used_certificates.hpp"

namespace garner::app {
namespace {

constexpr unsigned looks_a_check_of_logs = 10;
constexpr unsigned looks_a_minute = 60;
constexpr unsigned looks_a_day = 86'400;

/// Names the client with the most dropped lines.
std::string most_of(proxy::AccessLog::Stats const& log) {
    if (log.dropped_most.empty()) return {};
    auto const& most = log.dropped_most.front();
    return "; most of client " + most.client + " with status " + std::to_string(most.status) + ": " + std::to_string(most.lines);
}

}   // namespace

void Upkeep::look() {
    warn_of_users();
    warn_of_dns();
    if (looks_ % looks_a_day == 0) warn_of_certificates();
    if (++looks_ % looks_a_check_of_logs == 0) warn_of_log(), give_memory_back();
    warn_of_handshakes();
}

void Upkeep::warn_of_users() {
    for (auto const& notice : server_.logins().refresh()) spdlog::warn("{}", notice.text());
}

void Upkeep::warn_of_dns() {
    auto const dns = server_.network().names().health().figures();
    bool const is_silent = dns.is_silent(wall_now());
    if (is_silent == std::exchange(dns_was_silent_, is_silent)) return;
    if (is_silent)
        spdlog::error("the DNS servers have not answered the last lookups ({}); check them, and dns.servers", dns.why);
    else if (dns.names == 0)
        spdlog::info("the DNS servers answer again");
}

void Upkeep::warn_of_log() {
    auto log = server_.log_stats();
    if (log.write_errors > log_.write_errors)
        spdlog::error(
            "cannot write the access log: {} ({} lines lost so far); check the free space and the permissions of log.access",
            log.last_error, log.lost);
    if (log.dropped > log_.dropped)
        spdlog::warn("the access log is too slow: {} lines dropped so far because the buffer was full{}", log.dropped,
                     most_of(log));
    log_ = log;
}

/// At once, then at most once a minute.
void Upkeep::warn_of_handshakes() {
    if (looks_ < quiet_until_) return;
    auto const failures = server_.take_handshake_failures();
    if (failures.count == 0) return;
    quiet_until_ = looks_ + looks_a_minute;
    spdlog::warn("TLS handshakes with clients that failed: {}; the latest: {}", failures.count, failures.latest);
}

void Upkeep::warn_of_certificates() {
    auto const certificates = proxy::with_all_places(proxy::shown_certificates(server_));
    for (auto const& warning : certificates_.due(certificates, wall_now())) spdlog::warn("{}", warning);
}

/// glibc keeps memory that is freed between blocks in use: after a burst of connections more than is in use.
void Upkeep::give_memory_back() {
    if (connections_.has_ended(server_.shared().connections.now())) ::malloc_trim(0);
}

}   // namespace garner::app
