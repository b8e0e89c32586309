#include "icp/icp_responder.hpp"

#include <algorithm>
#include <chrono>
#include <random>

#include "cache/key.hpp"
#include "http/uri.hpp"
#include "util/text.hpp"

namespace garner::icp {

namespace {

constexpr std::uint64_t told_enough = 100;   // queries, of which more than 95 % were denied: an asker that does not listen

bool is_told_enough(Askers::Asker const& asker) {
    return asker.queries > told_enough && 100 * asker.denied > 95 * asker.queries;
}

IpAddress asker_of(IpAddress const& address) { return first_bits(address, 32, 64); }

bool is_allowed(IpAddress const& address, Options const& options) { return is_among(address, options.allow); }

/// As Squid writes it: hops, which we do not count, and milliseconds, of which 0 and 65535 mean that they are not known.
std::uint32_t option_data_of(microseconds rtt) {
    auto const whole = std::chrono::ceil<milliseconds>(rtt).count();
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(whole, 1, 0xfffe));
}

}  // namespace

// ---- askers ----

Askers::Askers() : askers_(askers_max), seed_(std::random_device{}()) {}

Askers::Asker& Askers::seen(IpAddress const& from, std::uint32_t rate, SteadyTime now) {
    auto const address = asker_of(from);
    std::string_view const bytes(reinterpret_cast<char const*>(address.bytes.data()), address.bytes.size());
    auto* const first = &askers_[fingerprint(bytes, seed_) % (askers_max / places) * places];
    auto* place = std::find_if(first, first + places, [&](Asker const& one) { return one.address == address; });
    if (place == first + places) {
        place = std::min_element(first, first + places, [](auto& a, auto& b) { return a.seen < b.seen; });
        *place = Asker{.address = address};
    }
    auto const quiet = std::chrono::duration<double>(now - place->seen).count();
    place->allowance = std::min<double>(rate, place->allowance + quiet * rate);
    place->seen = now;
    return *place;
}

// ---- answers ----

bool IcpResponder::answer(IcpMessage const& query, IpAddress const& from, Options const& options, Fetching fetching, Now now,
                          std::string& out) {
    counters_.queries.add();
    auto& asker = askers_.seen(from, options.queries_per_second, now.steady);
    if (options.queries_per_second > 0 && asker.allowance < 1) {
        counters_.limited.add();
        return false;
    }
    asker.allowance -= 1;
    ++asker.queries;
    bool const allowed = is_allowed(from, options);
    if (!allowed && is_told_enough(asker)) {
        ++asker.denied;
        counters_.silenced.add();
        return false;
    }
    IcpMessage answer{.opcode = verdict(query, allowed, options, fetching, now.wall), .number = query.number, .url = query.url};
    if (answer.opcode == Opcode::denied) ++asker.denied;
    bool const of_origin = answer.opcode != Opcode::denied && answer.opcode != Opcode::err;
    if (of_origin && (query.options & flag_source_rtt)) add_source_rtt(answer, now.steady);
    write_message(answer, out);
    return true;
}

/// In Squid's order.
Opcode IcpResponder::verdict(IcpMessage const& query, bool allowed, Options const& options, Fetching fetching, WallTime now) {
    auto said = [](Counter& count, Opcode opcode) {
        count.add();
        return opcode;
    };
    http::UriError fault;
    auto const uri = http::parse_absolute(query.url, fault);
    if (!uri) return said(counters_.errors, Opcode::err);
    if (!allowed) return said(counters_.denied, Opcode::denied);
    host_.assign(uri->authority.host);
    for (char& c : host_) c = to_lower(c);
    url_.clear();
    http::append_normalised(*uri, url_);
    cache::write_key_text(cache::Partition::forward, url_, key_);
    // At the end not even a HIT could be fetched any more: nobody is let in.
    bool const serves = fetching != Fetching::no_more;
    if (serves && cache_.would_serve(cache_.key(key_), now, options.hit_margin)) return said(counters_.hits, Opcode::hit);
    if (fetching != Fetching::yes) return said(counters_.nofetch, Opcode::miss_nofetch);
    return said(counters_.misses, Opcode::miss);
}

void IcpResponder::add_source_rtt(IcpMessage& answer, SteadyTime now) {
    auto const rtt = origins_.find(host_, now).rtt;
    if (!rtt) return;
    answer.options = flag_source_rtt;
    answer.option_data = option_data_of(*rtt);
}

}  // namespace garner::icp
