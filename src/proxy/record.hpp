// The record of one request for log, counters and Cache-Status.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "http/cache_status.hpp"
#include "http/access_rules.hpp"
#include "proxy/counters.hpp"
#include "proxy/access_log_format.hpp"
#include "proxy/target.hpp"
#include "store/object.hpp"

namespace garner::proxy {

struct Request;

/// Belongs to one request.
class Record {
public:
    /// Strings whose memory is reused by the connection's next request.
    struct Texts {
        std::string reason;
        std::string content_type;
        std::string rule;          // the deciding rule, for the client
        std::string because;       // the reason that the rule gives
        std::string logged_rule;   // the deciding rule with its networks and names
        std::string source;        // "SIBLING_HIT/next door"
        std::string id;            // the id of the error page; empty: no error page was sent
        std::string reach;         // `peer_reach`, if another process has found it
        /// Calls use(text) for each of them.
        void each(auto const& use) {
            use(reason), use(content_type), use(rule), use(because), use(logged_rule), use(source), use(id), use(reach);
        }
        void clear();
    };
    Record(Texts& texts, std::string_view via_name);

    http::CacheStatus cache_status;
    Answer answer = Answer::own;
    ResultTag tag = ResultTag::none;
    Hierarchy hierarchy = Hierarchy::none;
    std::string peer;              // name or address of the response's source
    std::string_view peer_reach;   // icp::reach_of(); empty: no peer
    bool peers_timed_out = false;
    std::uint16_t sent_status = 0;
    bool by_destination = false;                    // the rules or defaults refused the address of the origin
    bool by_port = false;                           // a default refused the port
    std::optional<IpAddress> refused_address;       // the address of the origin that was decided on; nothing: it was not known
    bool truncated = false;                         // the client got an incomplete response, and did not cause that
    std::uint32_t rule = http::Decision::no_rule;   // the index of the access rule that decided
    Bytes body_sent = 0;
    Texts& texts;

    /// Sets a literal for Cache-Status and the log.
    void say(char const* why);
    /// For the statistics of rules. A decision that is still open is not counted.
    void note_rule(http::Decision const& decision) {
        if (decision.allowed() || decision.denied()) rule = decision.index;
    }
    /// `destination`: the address of the origin, if the decision is about it.
    void set_rule(http::Decision const&, std::optional<IpAddress> const& destination = std::nullopt);
    /// The rule that refused the tunnel around the request.
    void set_rule(FixedOrigin::Refusal const&);
    /// Draws the id of an error page: "1764078120.123-9f3a0c1d". The number before the hyphen is the time in Squid's log format.
    std::string_view draw_id();
    /// Counts the connection's traffic since the last call. Called after each write, so that a transfer of hours shows in
    /// the statistics while it runs.
    void count_traffic(Request&);
    /// For the shadow cache (sim): a GET that the cache answers, revalidated or not, or whose response is to be stored.
    void note_use(Request const&, store::ObjectPtr const& object);
    /// Its method, URL, client and time so far; without what may be secret.
    static std::string name(Request const&);
    /// The last step: counts and logs the request.
    void finish(Request&);
    /// The last step in this process: another one goes on with the tunnel, and logs it.
    void leave(Request&);
    /// Sent to the client for this request.
    Bytes sent() const { return sent_; }
    /// Before the first count: the bytes that another process has sent.
    void go_on_from(Bytes sent) { sent_ = listed_ = sent; }

private:
    void count_rule(Request const&) const;
    void list(Request const&, SteadyTime now);
    void list_hit(Request const&, SteadyTime now);
    void note_recent(Request const&, microseconds elapsed) const;
    void log(Request const&, milliseconds elapsed) const;
    std::optional<WallTime> drawn_at_;   // the time in the id
    Bytes sent_ = 0;                     // on the wire, for this request
    Bytes body_counted_ = 0;             // the counted part of body_sent
    Bytes listed_ = 0;                   // the part of sent_ that the top lists have
    bool is_listed_ = false;             // they have the request
    store::ObjectPtr unsized_;           // was used while its length was unknown
};

}   // namespace garner::proxy
