// What the proxy has counted, all workers together, at one moment.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.hpp"
#include "icp/agent.hpp"
#include "proxy/server.hpp"
#include "store/disk_options.hpp"

namespace garner::admin {

inline constexpr std::size_t answer_count = static_cast<std::size_t>(proxy::Answer::count_);

/// The answer's name as the figures give it: "hit", "tunnelled".
std::string_view name_of(proxy::Answer);

/// How often each reason was given, in the words of Cache-Status and the log.
template <class Enum>
class ReasonCounts {
public:
    void add(proxy::CounterOf<Enum> const& counters) {
        for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += counters.value(i);
    }
    /// Calls use(reason, count) for each that can be given.
    template <class Use>
    void each(Use use) const {
        for (std::size_t i = 0; i < counts_.size(); ++i)
            if (is_given(static_cast<Enum>(i))) use(std::string_view(text(static_cast<Enum>(i))), counts_[i]);
    }

private:
    static bool is_given(http::StoreRefusal reason) { return reason != http::StoreRefusal::none; }
    static bool is_given(http::Bypass reason) { return reason != http::Bypass::none; }
    static bool is_given(proxy::StaleUse) { return true; }
    /// What is served at once is no reason to ask the origin first.
    static bool is_given(http::ReuseReason reason) {
        using enum http::ReuseReason;
        return reason != fresh && reason != stale_while_revalidate && reason != max_stale_request;
    }
    std::array<std::uint64_t, proxy::CounterOf<Enum>::size> counts_{};
};

struct Figures {
    SteadyTime at{};
    double uptime_seconds = 0;
    std::string via_name;
    std::uint32_t workers = 0;

    std::array<std::uint64_t, answer_count> answers{};
    std::uint64_t requests = 0;                  // all answers
    ReasonCounts<http::StoreRefusal> not_stored;
    ReasonCounts<http::Bypass> passed;
    ReasonCounts<http::ReuseReason> not_fresh;
    ReasonCounts<proxy::StaleUse> stale_used;
    LatencySnapshot hit_time;
    LatencySnapshot miss_time;

    std::uint64_t client_received = 0;           // bytes
    std::uint64_t client_sent = 0;
    std::uint64_t client_body_bytes = 0;
    std::uint64_t client_hit_bytes = 0;
    std::uint64_t client_aborts = 0;
    std::uint32_t connections_now = 0;
    std::uint32_t connections_limit = 0;
    std::uint64_t connections = 0;
    std::uint64_t connections_refused = 0;
    std::uint64_t connections_displaced = 0;
    std::uint64_t accept_pauses = 0;

    std::uint64_t origin_received = 0;           // bytes
    std::uint64_t origin_sent = 0;
    std::uint64_t origin_connections = 0;
    std::uint64_t origin_reused = 0;
    std::uint64_t origin_retries = 0;
    std::uint64_t origin_failures = 0;
    std::uint64_t resumed = 0;
    std::uint64_t refreshes = 0;

    cache::Stats cache;
    store::DiskStats disk;
    proxy::AccessLog::Stats log;
    std::vector<icp::PeerStats> peers;
    icp::AgentFigures icp;
    std::optional<proxy::Sampling::Report> what_if;   // nothing: it is switched off

    std::uint64_t count(proxy::Answer answer) const { return answers[static_cast<std::size_t>(answer)]; }
};

/// Each figure is exact; they are read one after another while the workers go on.
Figures take_figures(proxy::Server&);

}  // namespace garner::admin
