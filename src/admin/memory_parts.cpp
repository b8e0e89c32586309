#include "admin/memory_parts.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <fstream>

#include "admin/figures.hpp"
#include "admin/history.hpp"
#include "admin/recent_windows.hpp"
#include "icp/digest.hpp"
#include "io/stderr_log.hpp"
#include "net/head_buffer.hpp"
#include "net/udp_port.hpp"
#include "proxy/line_account.hpp"
#include "proxy/request_places.hpp"

namespace garner::admin {

struct MemorySources {
    proxy::Server& server;
    Figures const& figures;
    std::shared_ptr<proxy::Options const> options;
    Bytes files;   // the limit of open files: each connection has one

    proxy::Shared const& shared() const { return server.shared(); }
    Bytes clients() const { return shared().connections.most(); }
    Bytes workers() const { return shared().workers.size(); }
    bool offers_http2() const {
        auto const& listen = options->listen;
        return !options->bump.ca_chain.empty() || std::ranges::any_of(listen, [](auto const& one) { return one.tls && one.http2; });
    }
};

namespace {

namespace part {

using Sources = MemorySources;

// Growth of the resident memory by 500 idle connections (docs/results/connections.md). The first three are without TLS sessions.
constexpr Bytes http1_bytes = 3 * KiB;
constexpr Bytes http2_bytes = 26 * KiB;
constexpr Bytes transport_bytes = 1 * KiB;
constexpr Bytes tls_session_bytes = 16 * KiB;

Bytes open_connections(Figures const& figures, proxy::Protocol protocol) {
    auto const index = static_cast<std::size_t>(protocol);
    Bytes begun = 0, ended = 0;
    for (auto const* worker : figures.workers) ended += worker->connections_ended.value(index);
    for (auto const* worker : figures.workers) begun += worker->connections_begun.value(index);
    return begun - ended;
}

MemoryUse objects(Sources const& from) {
    auto const& cache = from.figures.cache;
    return {cache.used - std::min(cache.used, cache.filling), cache.capacity};
}

MemoryUse fills(Sources const& from) { return {from.figures.cache.filling, from.figures.cache.filling_capacity}; }

MemoryUse invalidations(Sources const& from) {
    auto const& stats = from.figures.invalidations;
    return {stats.bytes, stats.bytes_max};
}

MemoryUse disk_index(Sources const& from) { return {from.figures.disk.metadata, from.figures.disk.metadata_max}; }

MemoryUse disk_buffers(Sources const& from) { return {from.figures.disk.buffers, from.figures.disk.buffers_max}; }

MemoryUse connections(Sources const& from) {
    auto const& limits = from.options->limits;
    Bytes heads = 0;
    for (auto const* worker : from.shared().workers) heads += worker->heads.used() + worker->worker.head_buffers.bytes();
    auto const http1 = open_connections(from.figures, proxy::Protocol::http1) * http1_bytes;
    auto const http2 = open_connections(from.figures, proxy::Protocol::http2) * http2_bytes;
    auto const heads_max = std::max(limits.heads, from.workers() * 2 * limits.head.bytes);
    return {http1 + http2 + net::Transport::alive() * transport_bytes + heads,
            from.clients() * (http1_bytes + net::HeadBuffer::usual + http2_bytes) + from.files * transport_bytes + heads_max};
}

/// Each of the texts of a running request may be as long as its head or that of the response.
MemoryUse requests(Sources const& from) {
    constexpr Bytes texts = 6;
    auto const bytes = sizeof(proxy::RequestPlace) + proxy::Scratch::usual;
    auto const at_once =
        from.clients() * (from.offers_http2() ? from.options->http2.streams : 1) + from.workers() * from.shared().refreshes_max;
    return {proxy::RequestPlace::alive() * bytes, at_once * (bytes + texts * from.options->limits.head.bytes)};
}

MemoryUse buffers(Sources const& from) {
    Bytes bytes = 0;
    for (auto const* worker : from.shared().workers) bytes += worker->worker.buffers.bytes();
    return {bytes, from.files * net::BufferPool::size};
}

MemoryUse http2(Sources const& from) {
    auto const& budget = from.shared().http2_memory;
    return {budget.used(), from.offers_http2() ? budget.most() : 0};
}

/// A connection may carry TLS in TLS. Buffers of bytes that the other side does not read are per session, all others per worker.
MemoryUse tls(Sources const& from) {
    using Buffer = net::TlsBuffer;
    constexpr Bytes of_session = tls_session_bytes + 2 * Buffer::medium;
    constexpr Bytes of_worker = Buffer::large_max * Buffer::large + 4 * MiB;
    return {
        net::TlsSession::alive() * tls_session_bytes + CountedBytes<Buffer>::sum() + net::TlsContext::stored_bytes(),
        2 * from.files * of_session + from.workers() * of_worker + net::TlsContext::alive() * net::TlsContext::stored_bytes_max};
}

MemoryUse interception(Sources const& from) {
    auto const now = from.server.interception();
    if (!now || !now->authority) return {};
    using bump::MintedCertificates, bump::Pins;
    return {now->minted->size() * MintedCertificates::certificate_bytes + now->pins->size() * Pins::entry_bytes,
            from.options->bump.certificates * MintedCertificates::certificate_bytes + Pins::entries_max * Pins::entry_bytes};
}

/// Only requests on intercepted connections fill the history.
MemoryUse dns_names(Sources const& from) {
    auto const intercepts = [](auto const& one) { return one.intercept != net::Intercept::off; };
    bool const has_history = std::ranges::any_of(from.options->listen, intercepts);
    return {CountedBytes<net::Names>::sum() + from.shared().name_history.bytes(),
            from.server.network().names().bytes_max() + (has_history ? net::NameHistory::bytes_max() : 0)};
}

Bytes own_digests(icp::Mesh const& mesh) {
    auto const published = mesh.published();
    Bytes sum = 0;
    for (auto const& digest : {published.digest, published.with_https})
        if (digest) sum += digest->capacity();
    return sum;
}

MemoryUse mesh(Sources const& from) {
    using icp::Agent, icp::OriginTimes;
    auto& mesh = from.server.mesh();
    auto const ports = net::UdpPort::alive() * net::UdpPort::memory_max;
    auto const digests =
        2 + static_cast<Bytes>(std::ranges::count_if(from.figures.peers, &icp::PeerOptions::digest, &icp::PeerStats::options));
    auto const used = ports + CountedBytes<icp::Digest>::sum() + own_digests(mesh) +
                      mesh.origins().size() * OriginTimes::host_bytes + mesh.replays().bytes() + mesh.changed().bytes() +
                      Agent::rounds() * Agent::round_bytes;
    if (!mesh.wants_to_know()) return {used, 0};
    auto const limit = ports + digests * icp::Digest::bytes_max + OriginTimes::hosts_max * OriginTimes::host_bytes +
                       mesh.replays().bytes_max() + icp::ChangedUrls::bytes_max +
                       from.workers() * Agent::rounds_max * Agent::round_bytes;
    return {used, limit};
}

MemoryUse logins(Sources const& from) { return {from.server.logins().bytes(), from.server.logins().bytes_max()}; }

MemoryUse refusals(Sources const&) { return {CountedBytes<proxy::Refused>::sum(), proxy::Refusals::bytes_max}; }

MemoryUse logs(Sources const& from) {
    auto const& log = from.figures.log;
    return {log.buffers + io::stderr_bytes(), log.buffers_max + io::stderr_bytes_max()};
}

MemoryUse figures(Sources const& from) {
    constexpr Bytes samples = Samples::most * sizeof(Sample) + LatencySamples::bytes_max + History::bytes_max;
    auto bytes = from.workers() * sizeof(proxy::TopLists) + samples;
    for (auto const* worker : from.shared().workers) bytes += worker->recent->bytes();
    return {bytes, bytes};
}

MemoryUse what_if(Sources const& from) {
    if (!from.figures.what_if) return {};
    auto const& simulation = from.figures.what_if->what_if;
    return {simulation.metadata, simulation.metadata_max};
}

MemoryUse shares(Sources const& from) {
    auto const& figures = from.figures;
    Bytes const limit = share::Subjects::memory_max + share::Caps::most * share::Caps::bytes_each;
    return {figures.share.memory + figures.cap_count * share::Caps::bytes_each, proxy::limits_line(*from.options) ? limit : 0};
}

MemoryUse quotas(Sources const& from) {
    bool const has_any = !from.options->quotas.empty();
    return {from.figures.quotas.memory, has_any ? share::Quotas::memory_max + share::Caps::most * share::Caps::bytes_each : 0};
}

}   // namespace part

constexpr MemoryPart all_parts[]{
    {"objects", "Stored objects, index, replacement policy, negative cache entries, and bodies that clients still read.",
     "memory.size", part::objects},
    {"fills", "Bodies being received for the cache.",
     "memory.size x memory.fill_share_max, or memory.object_max if it is larger; inside the limit of objects", part::fills, true},
    {"invalidations", "Purges by tag and prefix, and soft ones.", "95 MiB", part::invalidations},
    {"disk_index", "Index and policy of the disk tier.",
     "disk.size / (128 bytes + disk.object_min) x 11 bytes, or 51 bytes with a disk.policy other than fifo-reinsertion; and 4 MiB",
     part::disk_index},
    {"disk_buffers", "Segments to be written to disk, and records read from disk.", "2 x disk.buffer, and one segment",
     part::disk_buffers},
    {"connections", "Connections with clients, origins and peers, and incomplete heads of requests.",
     "limits.connections_max x 33 KiB, the limit of open files x 1 KiB, and limits.heads_max", part::connections},
    {"requests", "State and heads of running requests, and the state that workers keep for reuse.",
     "limits.connections_max x http2.streams (1 without HTTP/2) x (a fixed part and 6 x limits.head_max)", part::requests},
    {"buffers", "Buffers of 64 KiB for responses, uploads and tunnels, and those that workers keep for reuse.",
     "the limit of open files x 64 KiB", part::buffers},
    {"http2", "Heads and bodies of HTTP/2 requests, and heads that clients do not read.", "64 MiB", part::http2},
    {"tls", "TLS sessions, their ciphertext, and session tickets of origins and peers.",
     "the limit of open files x 352 KiB, 20 MiB a worker, and 240 MiB of tickets for origins and for each peer with TLS",
     part::tls},
    {"interception", "Minted certificates, those of their origins, and hosts that are spliced because clients refused them.",
     "bump.certificates x 6 KiB, and 32 MiB", part::interception},
    {"dns_names", "Remembered answers of DNS servers.", "dns.entries_max x 1.5 KiB", part::dns_names},
    {"mesh", "UDP datagrams, cache digests, measured origins, purges and queries.",
     "1 MiB for each UDP port and worker, 64 MiB for each digest, 22 MiB, and 4 MiB a worker", part::mesh},
    {"logins", "Remembered logins, and logins that wait for their check.", "auth.entries_max x 2 KiB, and 66 MiB", part::logins},
    {"refusals", "The last refused requests of each client.", "64 MiB", part::refusals},
    {"shares", "Users of the line, and clients and connections with a cap.", "39 MiB with `share` or `caps`", part::shares},
    {"quotas", "Subjects of quotas, and their slow lanes.", "39 MiB with `quotas`", part::quotas},
    {"logs", "Lines that wait for the access log and for standard error.", "1 MiB a worker, and 1 MiB", part::logs},
    {"figures",
     "Lists of the hosts, clients and misses with the most requests, the outcomes of the last requests, and samples for ratios, "
     "percentiles and history.",
     "300 KiB a worker, 40 bytes for each of 65,536 requests (at least 1,024 a worker), and 800 KiB", part::figures},
    {"what_if", "Simulated caches and samples (memory.what_if).", "2 MiB for each policy", part::what_if},
};

}   // namespace

std::span<MemoryPart const> memory_parts() { return all_parts; }

std::vector<MemoryUse> take_memory(proxy::Server& server, Figures const& figures) {
    rlimit files{};
    ::getrlimit(RLIMIT_NOFILE, &files);
    MemorySources const sources{server, figures, server.options(), std::min<Bytes>(files.rlim_cur, INT_MAX)};
    std::vector<MemoryUse> uses;
    for (auto const& part : memory_parts()) uses.push_back(part.take(sources));
    return uses;
}

MemoryUse sum_of(std::span<MemoryUse const> uses) {
    MemoryUse sum;
    for (std::size_t i = 0; i < uses.size(); ++i) {
        sum.bytes += uses[i].bytes;
        if (!memory_parts()[i].is_inside) sum.limit += uses[i].limit;
    }
    return sum;
}

Bytes resident_bytes() {
    std::ifstream statm("/proc/self/statm");
    Bytes program = 0, resident = 0;
    statm >> program >> resident;
    return resident * static_cast<Bytes>(::sysconf(_SC_PAGESIZE));
}

}   // namespace garner::admin
