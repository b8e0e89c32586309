#include "icp/htcp_responder.hpp"

#include "io/log.hpp"

namespace garner::icp {

namespace {

using htcp::Refusal;
using htcp::Verdict;

/// HIT is sent only for objects that stay fresh at least this long, like Squid's: the request follows at once.
constexpr milliseconds hit_margin{10'000};

void add_line(std::string& lines, std::string_view name, std::string_view value) {
    lines.append(name).append(": ").append(value).append("\r\n");
}

char const* why_rejected(Verdict verdict) {
    switch (verdict) {
    case Verdict::missing: return "they are not signed; set the same htcp.secret there";
    case Verdict::expired: return "their signature has expired, or the clocks differ by more than 30 s";
    case Verdict::bad: return "their signature is wrong; set the same htcp.secret in both proxies";
    case Verdict::good: break;
    }
    return "";
}

/// The lines of a detail; its views are valid as long as this object.
struct Lines {
    std::string response, entity, cache;
    htcp::Detail detail() const { return {response, entity, cache}; }
};

void describe(store::Object const& object, WallTime now, Lines& lines) {
    add_line(lines.response, "Age", std::to_string(http::current_age(object.terms(), now)));
    for (auto const name : {"Expires", "Last-Modified"})
        if (auto const value = http::field_in(object.head(), name); !value.empty()) add_line(lines.entity, name, value);
    if (auto const length = object.length()) add_line(lines.entity, "Content-Length", std::to_string(*length));
}

}   // namespace

std::string HtcpResponder::answer(htcp::Message const& request, IpAddress const& from, Options const& all, WallTime now) {
    auto const& options = all.htcp;
    bool const purges = request.opcode == htcp::Opcode::clr;
    bool const known = purges || request.opcode == htcp::Opcode::tst || request.opcode == htcp::Opcode::nop;
    // Without RD only a purge has an effect.
    if (!known || (!request.flag && !purges)) return {};
    if (!purges && !askers_.admit(from, all.queries_per_second, steady_now())) return counters_.limited.add(), std::string();
    std::string reply;
    auto const verdict = htcp::judge(request, options.secret, now);
    bool const is_listed = is_among(from, purges ? options.clear_allow : options.allow);
    if (verdict != Verdict::good) {
        if (is_listed) tell_rejected(from, why_rejected(verdict));
        reply = refused(request, verdict == Verdict::missing ? Refusal::unsigned_message : Refusal::bad_signature);
        // A client that cannot sign cannot verify a signature, and must not get more bytes than it sent.
        if (!reply.empty()) htcp::seal(reply, {}, now);
        return reply;
    }
    if (!is_listed)
        reply = refused(request, Refusal::not_allowed);
    else if (request.opcode == htcp::Opcode::tst)
        reply = test(request, now);
    else
        reply = htcp::answer(request, purges && !is_replay(request, now) ? clear(request) : htcp::response::done);
    if (!request.flag) return {};
    htcp::seal(reply, options.secret, now);
    return reply;
}

/// Once a minute: anyone may send datagrams with the address of another cache.
void HtcpResponder::tell_rejected(IpAddress const& from, char const* why) {
    auto const now = steady_now();
    if (told_at_ && now - *told_at_ < seconds{60}) return;
    told_at_ = now;
    spdlog::warn("HTCP messages of {} are rejected: {}", from.text(), why);
}

/// Counts the refusal; empty when no reply is wanted.
std::string HtcpResponder::refused(htcp::Message const& request, Refusal refusal) {
    (request.opcode == htcp::Opcode::clr ? counters_.refused_clears : counters_.denied).add();
    return request.flag ? htcp::refusal(request, refusal) : std::string();
}

std::string HtcpResponder::test(htcp::Message const& request, WallTime now) {
    counters_.queries.add();
    if (!read_url(request.specifier.uri)) return htcp::tst_answer(request, false, {});
    auto const method = http::method_of(request.specifier.method);
    bool const reads = method == http::Method::get || method == http::Method::head;
    bool const hit = reads && cache_.would_serve(key(), now, hit_margin);
    (hit ? counters_.hits : counters_.misses).add();
    Lines lines;
    // Null when only variants are stored, and none matches a request without fields.
    http::RequestHead const plain;
    http::RequestCacheControl const any;
    auto const object = hit ? cache_.peek({key(), plain, any, now, cache::Collapse::alone}).object : nullptr;
    if (object) describe(*object, now, lines);
    // A parent that misses ranks higher the closer it is to the origin.
    if (auto const rtt = source_rtt(steady_now())) lines.cache = htcp::cache_to_origin(host_, *rtt);
    return htcp::tst_answer(request, hit, lines.detail());
}

/// A copy is acknowledged but not executed: a sender without a reply may send the same bytes again.
bool HtcpResponder::is_replay(htcp::Message const& request, WallTime now) {
    return request.auth && !replays_.is_first(request.auth->signature, now);
}

/// Removes everything stored for the URL, whatever method and fields are given (6.5).
std::uint8_t HtcpResponder::clear(htcp::Message const& request) {
    if (!read_url(request.specifier.uri)) return htcp::response::was_not_here;
    counters_.cleared.add();
    return cache_.purge(url_) ? htcp::response::done : htcp::response::was_not_here;
}

}   // namespace garner::icp
