#include "admin/metrics.hpp"

#include <cstdio>
#include <limits>

#include "admin/disk_json.hpp"
#include "util/version.hpp"

namespace garner::admin {

/// Writes the samples of one family after the other.
class MetricText {
public:
    void begin(Metric const& metric) {
        name_ = metric.name;
        out_.append("# HELP ").append(name_).append(" ").append(metric.meaning).append("\n# TYPE ").append(name_);
        out_.append(" ").append(metric.type).append("\n");
    }

    template <class Number>
    void value(Number number) {
        line("", "", number);
    }
    template <class Number>
    void labelled(std::string_view label, std::string_view is, Number number) {
        line("", labels(label, is), number);
    }
    /// `said`: a second label's value.
    template <class Number>
    void of_peer(std::string_view peer, std::string_view said, Number number) {
        line("", "{" + pair("peer", peer) + "," + pair("said", said) + "}", number);
    }
    void histogram(LatencySnapshot const&);
    std::string take() { return std::move(out_); }

private:
    static std::string labels(std::string_view label, std::string_view is) { return "{" + pair(label, is) + "}"; }
    /// Names of peers are anybody's words.
    static std::string pair(std::string_view label, std::string_view is) {
        std::string out = std::string(label) + "=\"";
        for (char c : is) {
            if (c == '\\' || c == '"') out += '\\';
            if (c == '\n')
                out += "\\n";
            else
                out += c;
        }
        return out + "\"";
    }
    static std::string text(std::uint64_t number) { return std::to_string(number); }
    static std::string text(double number) {
        if (number != number) return "NaN";
        char digits[32];
        auto const length = std::snprintf(digits, sizeof digits, "%.15g", number);
        return {digits, static_cast<std::size_t>(length)};
    }
    template <class Number>
    void line(std::string_view suffix, std::string const& labels, Number number) {
        out_.append(name_).append(suffix).append(labels).append(" ").append(text(number)).append("\n");
    }

    std::string out_;
    std::string_view name_;
};

namespace {

constexpr std::array bucket_limits{   // µs
    100u,     250u,     500u,     1'000u,   2'500u,     5'000u,     10'000u,    25'000u,    50'000u,
    100'000u, 250'000u, 500'000u, 1'000'000u, 2'500'000u, 5'000'000u, 10'000'000u, 30'000'000u};

/// A metric that is one of the plain figures.
template <auto Member>
void figure(Report const& report, MetricText& out) {
    out.value(static_cast<std::uint64_t>(report.figures.*Member));
}
template <auto Member>
void cache_figure(Report const& report, MetricText& out) {
    out.value(static_cast<std::uint64_t>(report.figures.cache.*Member));
}
template <auto Member>
void disk_figure(Report const& report, MetricText& out) {
    out.value(static_cast<std::uint64_t>(report.figures.disk.*Member));
}
void disk_state(Report const& report, MetricText& out) {
    using enum store::DiskStats::State;
    for (auto state : {off, recovering, working, failing})
        out.labelled("state", name_of(state), std::uint64_t{report.figures.disk.state == state});
}
void disk_not_stored(Report const& report, MetricText& out) {
    auto const& counts = report.figures.disk.not_stored;
    for (std::size_t i = 1; i < std::size(counts); ++i)
        out.labelled("reason", text(static_cast<store::NotStored>(i)), counts[i]);
}
template <auto Member>
void log_figure(Report const& report, MetricText& out) {
    out.value(static_cast<std::uint64_t>(report.figures.log.*Member));
}
template <auto Member>
void latency(Report const& report, MetricText& out) {
    out.histogram(report.figures.*Member);
}
template <auto Member>
void ratio(Report const& report, MetricText& out) {
    for (std::size_t i = 0; i < windows.size(); ++i)
        out.labelled("window", windows[i].name,
                     (report.ratios[i].*Member).value_or(std::numeric_limits<double>::quiet_NaN()));
}
template <auto Member>
void reasons(Report const& report, MetricText& out) {
    auto write = [&](std::string_view reason, std::uint64_t count) { out.labelled("reason", reason, count); };
    (report.figures.*Member).each(write);
}
void build_info(Report const&, MetricText& out) { out.labelled("version", version, std::uint64_t{1}); }
void policy_info(Report const& report, MetricText& out) {
    out.labelled("policy", report.figures.cache.policy, std::uint64_t{1});
}
void uptime(Report const& report, MetricText& out) { out.value(report.figures.uptime_seconds); }
void requests(Report const& report, MetricText& out) {
    for (std::size_t i = 0; i < answer_count; ++i)
        out.labelled("answer", name_of(static_cast<proxy::Answer>(i)), report.figures.answers[i]);
}

template <auto Member>
void icp_figure(Report const& report, MetricText& out) {
    out.value(static_cast<std::uint64_t>(report.figures.icp.*Member));
}
template <auto Member>
void peer_figure(Report const& report, MetricText& out) {
    for (auto const& peer : report.figures.peers)
        out.labelled("peer", peer.options.name, static_cast<std::uint64_t>(peer.*Member));
}
template <auto Member>
void peer_seconds(Report const& report, MetricText& out) {
    auto const unknown = std::numeric_limits<double>::quiet_NaN();
    for (auto const& peer : report.figures.peers) {
        auto const& time = peer.*Member;
        out.labelled("peer", peer.options.name, time ? static_cast<double>(time->count()) / 1e6 : unknown);
    }
}
void peer_throughput(Report const& report, MetricText& out) {
    for (auto const& peer : report.figures.peers)
        out.labelled("peer", peer.options.name, peer.throughput.value_or(std::numeric_limits<double>::quiet_NaN()));
}
void peer_alive(Report const& report, MetricText& out) {
    for (auto const& peer : report.figures.peers)
        out.labelled("peer", peer.options.name, std::uint64_t{peer.health == icp::Health::alive});
}
void peer_dead(Report const& report, MetricText& out) {
    for (auto const& peer : report.figures.peers)
        out.labelled("peer", peer.options.name, std::uint64_t{peer.health == icp::Health::dead});
}
/// Of a peer, or of ourselves as a peer of others: both count the same words.
template <class Counts, class Use>
void each_word(Counts const& counts, Use use) {
    use("hit", counts.hits);
    use("miss", counts.misses);
    use("nofetch", counts.nofetch);
    use("denied", counts.denied);
    use("error", counts.errors);
}
void peer_answers(Report const& report, MetricText& out) {
    for (auto const& peer : report.figures.peers)
        each_word(peer, [&](auto said, auto count) { out.of_peer(peer.options.name, said, count); });
}
void icp_answers(Report const& report, MetricText& out) {
    each_word(report.figures.icp, [&](auto said, auto count) { out.labelled("said", said, count); });
}

using cache::Stats;
using icp::AgentFigures;
using icp::PeerStats;
using store::DiskStats;
using LogStats = proxy::AccessLog::Stats;

constexpr Metric all_metrics[]{
    {"garner_build_info", "gauge", "1", "version", "Always 1; the label tells the version.", build_info},
    {"garner_uptime_seconds", "gauge", "seconds", "", "Since the start.", uptime},
    {"garner_workers", "gauge", "threads", "", "Workers, each with its own connections.", figure<&Figures::workers>},

    {"garner_requests_total", "counter", "requests", "answer", "Requests by how they were answered.", requests},
    {"garner_not_stored_total", "counter", "responses", "reason",
     "Responses for the cache that were not stored, by why.",
     reasons<&Figures::not_stored>},
    {"garner_passed_total", "counter", "requests", "reason", "Requests that went past the cache, by why.",
     reasons<&Figures::passed>},
    {"garner_not_fresh_total", "counter", "requests", "reason",
     "Requests for something stored that the origin had to be asked about first, by why.",
     reasons<&Figures::not_fresh>},
    {"garner_stale_served_total", "counter", "requests", "reason", "Requests answered with something stale, by why.",
     reasons<&Figures::stale_used>},
    {"garner_hit_ratio", "gauge", "0 to 1", "window",
     "Hits among the requests for an object: all but tunnels, refusals, failures, purges and own pages.", ratio<&Ratios::hit>},
    {"garner_byte_hit_ratio", "gauge", "0 to 1", "window",
     "Bytes of bodies sent on hits, among those of all bodies.", ratio<&Ratios::byte_hit>},
    {"garner_hit_duration_seconds", "histogram", "seconds", "le",
     "From the request's head to the last byte of the answer, for hits.", latency<&Figures::hit_time>},
    {"garner_miss_duration_seconds", "histogram", "seconds", "le",
     "The same for all other answers, without tunnels.", latency<&Figures::miss_time>},

    {"garner_client_received_bytes_total", "counter", "bytes", "", "Received from clients.",
     figure<&Figures::client_received>},
    {"garner_client_sent_bytes_total", "counter", "bytes", "", "Sent to clients, heads and tunnels included.",
     figure<&Figures::client_sent>},
    {"garner_client_body_bytes_total", "counter", "bytes", "", "Bodies sent to clients, without tunnels.",
     figure<&Figures::client_body_bytes>},
    {"garner_client_hit_body_bytes_total", "counter", "bytes", "", "Bodies sent to clients on hits.",
     figure<&Figures::client_hit_bytes>},
    {"garner_client_aborts_total", "counter", "requests", "", "Clients that left before the end of an answer.",
     figure<&Figures::client_aborts>},
    {"garner_client_connections", "gauge", "connections", "", "Open connections of clients.",
     figure<&Figures::connections_now>},
    {"garner_client_connections_limit", "gauge", "connections", "", "How many there may be at once.",
     figure<&Figures::connections_limit>},
    {"garner_client_connections_total", "counter", "connections", "", "Connections of clients accepted.",
     figure<&Figures::connections>},
    {"garner_client_connections_refused_total", "counter", "connections", "",
     "Closed at once: the client had too many.", figure<&Figures::connections_refused>},
    {"garner_client_connections_displaced_total", "counter", "connections", "",
     "Closed while they waited for a request: another client needed the place.", figure<&Figures::connections_displaced>},
    {"garner_accept_pauses_total", "counter", "times", "", "Times a worker stopped accepting for a while at the limit.",
     figure<&Figures::accept_pauses>},

    {"garner_origin_received_bytes_total", "counter", "bytes", "", "Received from origins.",
     figure<&Figures::origin_received>},
    {"garner_origin_sent_bytes_total", "counter", "bytes", "", "Sent to origins.", figure<&Figures::origin_sent>},
    {"garner_origin_connections_total", "counter", "connections", "", "Connections made to origins.",
     figure<&Figures::origin_connections>},
    {"garner_origin_reused_total", "counter", "requests", "", "Requests sent on a connection that was there already.",
     figure<&Figures::origin_reused>},
    {"garner_origin_retries_total", "counter", "requests", "",
     "Requests sent again because a kept connection had died.", figure<&Figures::origin_retries>},
    {"garner_origin_failures_total", "counter", "requests", "", "Requests that got no usable answer from the origin.",
     figure<&Figures::origin_failures>},
    {"garner_resumed_total", "counter", "bodies", "",
     "Bodies that broke off at a peer, or on this disk, and went on from another source.", figure<&Figures::resumed>},
    {"garner_refreshes_total", "counter", "requests", "",
     "Revalidations in the background of what clients were given stale.", figure<&Figures::refreshes>},

    {"garner_peer_alive", "gauge", "0 or 1", "peer", "1: it answers, and is waited for.", peer_alive},
    {"garner_peer_dead", "gauge", "0 or 1", "peer", "1: it is used only when nobody else is left.", peer_dead},
    {"garner_peer_query_rtt_seconds", "gauge", "seconds", "peer", "Smoothed time from a query to its answer.",
     peer_seconds<&PeerStats::query_rtt>},
    {"garner_peer_connect_rtt_seconds", "gauge", "seconds", "peer", "Smoothed time of connecting to its HTTP port.",
     peer_seconds<&PeerStats::connect_rtt>},
    {"garner_peer_throughput", "gauge", "bytes a second", "peer", "Smoothed, of larger bodies from it.", peer_throughput},
    {"garner_peer_connections", "gauge", "connections", "peer", "Requests that it is answering.",
     peer_figure<&PeerStats::connections>},
    {"garner_peer_queries_total", "counter", "queries", "peer", "Sent to it, by ICP or HTCP.",
     peer_figure<&PeerStats::queries>},
    {"garner_peer_answers_total", "counter", "answers", "peer, said", "What it said.", peer_answers},
    {"garner_peer_expired_total", "counter", "queries", "peer", "Queries that it did not answer in time.",
     peer_figure<&PeerStats::expired>},
    {"garner_peer_late_total", "counter", "answers", "peer", "Answers that came when their query had run out.",
     peer_figure<&PeerStats::late>},
    {"garner_peer_fetches_total", "counter", "responses", "peer", "Responses that came from it.",
     peer_figure<&PeerStats::fetches>},
    {"garner_peer_false_hits_total", "counter", "responses", "peer", "It had said HIT and did not have it.",
     peer_figure<&PeerStats::false_hits>},
    {"garner_peer_connect_failures_total", "counter", "connections", "peer",
     "Connections to its HTTP port that could not be had, or broke without an answer.",
     peer_figure<&PeerStats::connect_failures>},
    {"garner_peer_received_bytes_total", "counter", "bytes", "peer", "Of responses that came from it.",
     peer_figure<&PeerStats::bytes>},
    {"garner_peer_saved_bytes_total", "counter", "bytes", "peer",
     "Of them, those of its hits: what the origin did not have to send.", peer_figure<&PeerStats::saved>},
    {"garner_peer_digest_entries", "gauge", "objects", "peer", "In its cache digest as last fetched.",
     peer_figure<&PeerStats::digest_entries>},

    {"garner_icp_questions_total", "counter", "requests", "", "Misses for which peers were asked.",
     icp_figure<&AgentFigures::questions>},
    {"garner_icp_timed_out_total", "counter", "requests", "",
     "Of them, those where somebody who was waited for did not answer in time.", icp_figure<&AgentFigures::timed_out>},
    {"garner_icp_unexpected_total", "counter", "answers", "", "Answers that nobody asked for, or not from there; dropped.",
     icp_figure<&AgentFigures::unexpected>},
    {"garner_icp_moved_total", "counter", "answers", "", "Answers that came to another worker than the one that asked.",
     icp_figure<&AgentFigures::moved>},
    {"garner_icp_queries_total", "counter", "queries", "", "Of other caches to us, by ICP or HTCP.",
     icp_figure<&AgentFigures::queries>},
    {"garner_icp_answers_total", "counter", "answers", "said", "What they were told.", icp_answers},
    {"garner_icp_silenced_total", "counter", "queries", "", "Denied and not even told: almost all of that address are.",
     icp_figure<&AgentFigures::silenced>},
    {"garner_icp_limited_total", "counter", "datagrams", "", "Dropped because an address sent too many.",
     icp_figure<&AgentFigures::limited>},
    {"garner_icp_malformed_total", "counter", "datagrams", "", "Dropped because they do not parse or are ICP version 3.",
     icp_figure<&AgentFigures::malformed>},
    {"garner_icp_cleared_total", "counter", "purges", "", "Purges that other caches asked for by HTCP.",
     icp_figure<&AgentFigures::cleared>},
    {"garner_icp_refused_clears_total", "counter", "purges", "", "The same, by those who may not.",
     icp_figure<&AgentFigures::refused_clears>},

    {"garner_cache_policy_info", "gauge", "1", "policy", "Always 1; the label tells the replacement policy in force.",
     policy_info},
    {"garner_cache_objects", "gauge", "objects", "", "Objects in memory, each variant by itself.",
     cache_figure<&Stats::objects>},
    {"garner_cache_capacity_bytes", "gauge", "bytes", "", "The memory tier's whole budget (memory.size).",
     cache_figure<&Stats::capacity>},
    {"garner_cache_used_bytes", "gauge", "bytes", "",
     "Taken from the budget: objects, fills, index, and what readers still hold.", cache_figure<&Stats::used>},
    {"garner_cache_stored_bytes", "gauge", "bytes", "", "Objects in the index, with their heads and keys.",
     cache_figure<&Stats::cached>},
    {"garner_cache_filling_bytes", "gauge", "bytes", "", "Bodies that are being received.",
     cache_figure<&Stats::filling>},
    {"garner_cache_pinned_bytes", "gauge", "bytes", "", "No longer stored, but still read by somebody.",
     cache_figure<&Stats::pinned>},
    {"garner_cache_metadata_bytes", "gauge", "bytes", "", "Index, replacement policy and remembered failures.",
     cache_figure<&Stats::metadata>},
    {"garner_cache_fills", "gauge", "fetches", "", "Fetches in progress that others may join.",
     cache_figure<&Stats::fills>},
    {"garner_cache_followers", "gauge", "requests", "", "Requests that wait for those fetches or read along.",
     cache_figure<&Stats::followers>},
    {"garner_cache_evictions_total", "counter", "objects", "", "Objects that left to make room.",
     cache_figure<&Stats::evictions>},
    {"garner_cache_no_room_total", "counter", "objects", "", "Objects and bodies that the budget had no room for.",
     cache_figure<&Stats::refused_for_room>},
    {"garner_cache_not_admitted_total", "counter", "objects", "",
     "Objects not stored: the policy held them worth less than what would have left for them.",
     cache_figure<&Stats::not_admitted>},
    {"garner_cache_failures", "gauge", "failures", "", "Failed fetches that are remembered.",
     cache_figure<&Stats::failures>},

    {"garner_disk_state", "gauge", "0 or 1", "state", "1 for the state that the disk tier is in.", disk_state},
    {"garner_disk_size_bytes", "gauge", "bytes", "", "The disk tier's file.", disk_figure<&DiskStats::size>},
    {"garner_disk_live_bytes", "gauge", "bytes", "", "Records that can still be found.", disk_figure<&DiskStats::live>},
    {"garner_disk_records", "gauge", "records", "", "Objects, and pieces of large bodies.", disk_figure<&DiskStats::records>},
    {"garner_disk_metadata_bytes", "gauge", "bytes", "", "Of memory, for its index, policy and segments.",
     disk_figure<&DiskStats::metadata>},
    {"garner_disk_buffered_bytes", "gauge", "bytes", "", "Waiting to be written.", disk_figure<&DiskStats::buffered>},
    {"garner_disk_segments", "gauge", "segments", "", "Parts of the log.", disk_figure<&DiskStats::segments>},
    {"garner_disk_segments_recovered", "gauge", "segments", "", "Of them, those looked through since the start.",
     disk_figure<&DiskStats::segments_recovered>},
    {"garner_disk_segments_retired", "gauge", "segments", "", "Of them, those not used any more after faults.",
     disk_figure<&DiskStats::segments_retired>},
    {"garner_disk_hits_total", "counter", "objects", "", "Found on disk, and verified.", disk_figure<&DiskStats::hits>},
    {"garner_disk_hits_at_once_total", "counter", "objects", "", "Of them, those read without waiting for the disk.",
     disk_figure<&DiskStats::hits_at_once>},
    {"garner_disk_pieces_total", "counter", "pieces", "", "Pieces of large bodies that were read, and verified.",
     disk_figure<&DiskStats::pieces>},
    {"garner_disk_misses_total", "counter", "look-ups", "", "The index knew something, and it was another or had gone.",
     disk_figure<&DiskStats::misses>},
    {"garner_disk_damaged_total", "counter", "records", "", "Records that did not fit their checksum; never served.",
     disk_figure<&DiskStats::damaged>},
    {"garner_disk_too_late_total", "counter", "look-ups", "", "Given up: the disk took longer than disk.patience.",
     disk_figure<&DiskStats::too_late>},
    {"garner_disk_stored_total", "counter", "objects", "", "Stored on disk.", disk_figure<&DiskStats::stored>},
    {"garner_disk_not_stored_total", "counter", "objects", "reason", "Not stored on disk, by why.", disk_not_stored},
    {"garner_disk_stored_bytes_total", "counter", "bytes", "", "Heads and bodies stored.",
     disk_figure<&DiskStats::stored_bytes>},
    {"garner_disk_written_bytes_total", "counter", "bytes", "", "All that was written to the file.",
     disk_figure<&DiskStats::written_bytes>},
    {"garner_disk_reinserted_bytes_total", "counter", "bytes", "",
     "Of it, records that were kept when their segment was needed.", disk_figure<&DiskStats::reinserted_bytes>},
    {"garner_disk_evicted_total", "counter", "records", "", "Records that left to make room.",
     disk_figure<&DiskStats::evicted>},
    {"garner_disk_laps_total", "counter", "times", "", "Times that the log came round.", disk_figure<&DiskStats::laps>},
    {"garner_disk_read_errors_total", "counter", "errors", "", "Reads that the system refused.",
     disk_figure<&DiskStats::read_errors>},
    {"garner_disk_write_errors_total", "counter", "errors", "", "Writes that the system refused.",
     disk_figure<&DiskStats::write_errors>},

    {"garner_log_lines_written_total", "counter", "lines", "", "Lines of the access log written.",
     log_figure<&LogStats::written>},
    {"garner_log_lines_dropped_total", "counter", "lines", "", "Lines dropped because the buffer was full.",
     log_figure<&LogStats::dropped>},
    {"garner_log_lines_lost_total", "counter", "lines", "", "Lines lost because they could not be written.",
     log_figure<&LogStats::lost>},
    {"garner_log_write_errors_total", "counter", "errors", "", "Failed writes of the access log.",
     log_figure<&LogStats::write_errors>},
    {"garner_log_written_bytes_total", "counter", "bytes", "", "Bytes of the access log written.",
     log_figure<&LogStats::bytes>},
};

}  // namespace

void MetricText::histogram(LatencySnapshot const& times) {
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    for (auto limit : bucket_limits) {
        // One of our own buckets that lies across the limit counts above it, so a value is at most 1/16 too high.
        while (bucket < times.buckets.size() && LatencyBuckets::most(bucket) <= limit) seen += times.buckets[bucket++];
        line("_bucket", labels("le", text(limit / 1e6)), seen);
    }
    line("_bucket", labels("le", "+Inf"), times.total);
    line("_sum", "", static_cast<double>(times.sum_micros) / 1e6);
    line("_count", "", times.total);
}

std::span<Metric const> metrics() { return all_metrics; }

std::string metrics_text(Report const& report) {
    MetricText out;
    for (Metric const& metric : all_metrics) {
        out.begin(metric);
        metric.write(report, out);
    }
    return out.take();
}

}  // namespace garner::admin
