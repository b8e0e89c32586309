#include "admin/figures.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>

#include "group/group.hpp"
#include "io/stderr_log.hpp"
#include "proxy/used_certificates.hpp"
#include "store/disk_store.hpp"

namespace garner::admin {

namespace {

void add(Figures& sum, proxy::Counters const& one) {
    for (std::size_t i = 0; i < answer_count; ++i) {
        auto const value = one.answers[i].value();
        sum.answers[i] += value;
        sum.requests += value;
    }
    sum.hit_time += one.hit_time.snapshot();
    sum.miss_time += one.miss_time.snapshot();
}

/// Since Linux 6.2 the size of the directory is the number of descriptors; before, it is 0, and the entries have to be counted.
std::uint64_t count_open_files() {
    struct ::stat directory {};
    if (::stat("/proc/self/fd", &directory) == 0 && directory.st_size > 0) return static_cast<std::uint64_t>(directory.st_size);
    std::error_code error;
    std::filesystem::directory_iterator const entries("/proc/self/fd", error);
    return error ? 0 : static_cast<std::uint64_t>(std::distance(begin(entries), end(entries)));
}

std::uint64_t open_files_limit() {
    ::rlimit limit{};
    return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : 0;
}

}   // namespace

std::string_view name_of(proxy::Answer answer) {
    static constexpr std::array<std::string_view, answer_count> names{"hit",    "miss",     "revalidated", "refreshed", "collapsed",
                                                                      "stale",  "negative", "passed",      "tunnelled", "refused",
                                                                      "failed", "purged",   "own"};
    return names[static_cast<std::size_t>(answer)];
}

std::string_view name_of(icp::PeerOptions::Type type) { return type == icp::PeerOptions::Type::parent ? "parent" : "sibling"; }

std::uint64_t Figures::sum(Counter proxy::Counters::*counter) const {
    std::uint64_t sum = 0;
    for (auto const* worker : workers) sum += (worker->*counter).value();
    return sum;
}

Figures take_figures(proxy::Server& server) {
    Figures figures;
    figures.at = steady_now();
    figures.uptime_seconds = std::chrono::duration<double>(figures.at - server.started()).count();
    figures.options = server.options();
    figures.via_name = figures.options->via_name;
    auto const is_stuck = [&](proxy::Services const* services) { return !services->worker.responds(figures.at); };
    figures.stuck_workers = static_cast<std::size_t>(std::ranges::count_if(server.shared().workers, is_stuck));
    figures.config = server.config_state().figures();
    figures.workers = server.counters();
    for (auto const* worker : figures.workers) add(figures, *worker);
    figures.connections_now = server.shared().connections.now();
    figures.connections_limit = server.shared().connections.max();
    figures.cache = server.cache().memory().stats();
    figures.invalidations = server.cache().invalidations.stats();
    if (server.group()) figures.group = server.group()->state();
    if (figures.group) figures.group_acceptance = figures.group->acceptance;
    if (figures.group) figures.group_spread = figures.group->spread;
    if (auto const disk = server.cache().disk().store()) figures.disk = disk->stats();
    figures.log = server.log_stats();
    figures.troubles = server.logins().troubles();
    figures.dns = server.network().names().health().figures();
    figures.share = server.shared().shares.figures();
    figures.caps = server.shared().caps.figures();
    figures.cap_count = server.shared().caps.size();
    figures.quotas = server.shared().quotas.figures();
    figures.messages_lost = io::stderr_lines_lost();
    for (auto const& certificate : proxy::with_all_places(proxy::shown_certificates(server))) {
        auto const [known, is_new] = figures.certificates.try_emplace(certificate.name(), certificate.not_after);
        if (!is_new) known->second = std::min(known->second, certificate.not_after);
    }
    figures.peers = server.mesh().peers(figures.at);
    figures.icp = server.mesh().figures();
    if (auto* sampling = server.sampling()) figures.what_if = sampling->report(figures.at);
    figures.memory = take_memory(server, figures);
    figures.resident = resident_bytes();
    figures.open_files = count_open_files();
    figures.open_files_limit = open_files_limit();
    return figures;
}

TopTables take_top(proxy::Server& server, SteadyTime now) {
    std::vector<std::unique_ptr<proxy::TopLists::Copy>> copies;
    for (auto const* services : server.shared().workers)
        if (services->top) copies.push_back(services->top->copy(now));
    return merge_lists(copies);
}

}   // namespace garner::admin
