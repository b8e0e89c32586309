#include "icp/icp_responder.hpp"

#include <algorithm>

namespace garner::icp {

namespace {

constexpr std::uint64_t denials_heeded = 100;   // queries, of which over 95 % were denied: the sender ignores denials

bool ignores_denials(Asker const& asker) { return asker.queries > denials_heeded && 100 * asker.denied > 95 * asker.queries; }

/// Squid's format: hops, which are not counted here, and milliseconds; 0 and 65535 milliseconds mean unknown.
std::uint32_t option_data_of(milliseconds rtt) {
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(rtt.count(), 1, 0xfffe));
}

}   // namespace

bool IcpResponder::answer(IcpMessage const& query, IpAddress const& from, Options const& options, Fetching fetching, Now now,
                          std::string& out) {
    counters_.queries.add();
    auto* const asker = askers_.admit(from, options.queries_per_second, now.steady);
    if (!asker) return counters_.limited.add(), false;
    bool const allowed = is_among(from, options.allow);
    if (!allowed && ignores_denials(*asker)) {
        ++asker->denied;
        return counters_.silenced.add(), false;
    }
    IcpMessage reply{.opcode = verdict(query, allowed, options, fetching, now.wall), .number = query.number, .url = query.url};
    if (reply.opcode == Opcode::denied) ++asker->denied;
    bool const of_origin = reply.opcode != Opcode::denied && reply.opcode != Opcode::err;
    if (of_origin && (query.options & flag_source_rtt)) add_source_rtt(reply, now.steady);
    write_message(reply, out);
    return true;
}

/// Checks in Squid's order.
Opcode IcpResponder::verdict(IcpMessage const& query, bool allowed, Options const& options, Fetching fetching, WallTime now) {
    auto const counted = [](Counter& count, Opcode opcode) {
        count.add();
        return opcode;
    };
    if (!read_url(query.url)) return Opcode::err;
    if (!allowed) return counted(counters_.denied, Opcode::denied);
    // While draining, not even a HIT could be fetched: no new clients are accepted.
    bool const serves = fetching != Fetching::no_more;
    if (serves && cache_.would_serve(key(), now, options.hit_margin)) return counted(counters_.hits, Opcode::hit);
    if (fetching != Fetching::yes) return counted(counters_.nofetch, Opcode::miss_nofetch);
    return counted(counters_.misses, Opcode::miss);
}

void IcpResponder::add_source_rtt(IcpMessage& reply, SteadyTime now) {
    auto const rtt = source_rtt(now);
    if (!rtt) return;
    reply.options = flag_source_rtt;
    reply.option_data = option_data_of(*rtt);
}

}   // namespace garner::icp
