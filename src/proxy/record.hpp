// The record of one request for the log, the counters and Cache-Status.
#pragma once
#include <string>
#include <string_view>

#include "http/cache_status.hpp"
#include "http/rule.hpp"
#include "proxy/counters.hpp"
#include "proxy/access_log_format.hpp"
#include "store/object.hpp"

namespace garner::proxy {

struct Request;

/// Belongs to one request.
class Record {
public:
    /// Texts whose memory the next request of the connection uses again.
    struct Texts {
        std::string reason;
        std::string content_type;
        std::string rule;          // that decided, for the client
        std::string logged_rule;   // the same with its networks and names
        std::string source;        // "SIBLING_HIT/next door"
        void clear();
    };
    Record(Texts& texts, std::string_view via_name);

    http::CacheStatus cache_status;
    Answer answer = Answer::own;
    ResultTag tag = ResultTag::none;
    Hierarchy hierarchy = Hierarchy::none;
    std::string peer;                // name or address that the answer came from
    bool peers_timed_out = false;
    std::uint16_t sent_status = 0;
    bool truncated = false;          // the client got less than the whole answer, and not by its own doing
    Bytes body_sent = 0;
    Texts& texts;

    /// To the client in Cache-Status, and to the log. A literal.
    void say(char const* why);
    void set_rule(http::Decision const&);
    /// Counts what went over the client's connection since the last call. After each write, so that a transfer of hours shows in
    /// the figures while it runs.
    void count_traffic(Request&);
    /// For the shadow of the cache (sim): a GET that the cache answers, revalidated or not, or whose answer is to be stored.
    void note_use(Request const&, store::ObjectPtr const& object);
    /// The last step: counts and logs.
    void finish(Request&);

private:
    void log(Request const&, milliseconds elapsed) const;
    Bytes sent_ = 0;                 // on the wire, for this request
    Bytes body_counted_ = 0;         // of body_sent
    store::ObjectPtr unsized_;       // was used when its length was not known
};

}  // namespace garner::proxy
