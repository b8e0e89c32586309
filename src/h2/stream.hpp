// One request of an HTTP/2 connection and the response to it.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "h2/inbox.hpp"
#include "h2/outbox.hpp"
#include "h2/flow_windows.hpp"
#include "http/message.hpp"
#include "util/intrusive_list.hpp"

namespace garner::h2 {

/// A place for one request after another; it keeps its memory, so that a hit allocates nothing by operator new. Owned by a
/// Session, which changes it; lent to the Handler from on_request() to Session::release(). Belongs to one worker.
class Stream : public Link {
public:
    explicit Stream(Account& heads) : charged_(heads) {}

    std::int32_t id() const { return id_; }
    /// Valid until release(), also if it is swapped with another head meanwhile.
    http::RequestHead& head() { return head_; }
    /// The handler's object for this request; null at first.
    void* owner() const { return owner_; }
    void set_owner(void* owner) { owner_ = owner; }
    /// A refused head has no fields.
    http::HeadParse const& parsed() const { return parsed_; }
    /// The request came as an extended CONNECT; head() is a GET with Upgrade.
    bool is_websocket() const { return websocket_; }

    /// The oldest bytes of the body, or of a tunnel; empty if none have arrived. The view lives until Session::consume().
    std::string_view body() const { return inbox_.front(); }
    /// All bytes of the body were taken, and the client has ended it.
    bool body_done() const { return remote_ended_ && inbox_.size() == 0; }
    /// Why the end of the body is invalid, a literal; null: it is not.
    char const* body_refusal() const { return body_refusal_; }
    /// After body_done(): lines, each with CRLF.
    std::string const& trailers() const { return trailers_; }

    /// The client reset the stream, or broke a rule and was reset. Nothing more arrives, and nothing is sent.
    bool is_gone() const { return gone_; }
    /// All bodies that were passed to Session::send() are framed, and all heads at least queued.
    bool is_sent() const { return outbox_.pending() == 0; }
    /// Payload bytes of this stream's frames, both directions.
    Bytes received() const { return received_; }
    Bytes sent() const { return sent_; }

private:
    friend class Session;
    enum News : std::uint8_t { news_request = 1, news_body = 2, news_sent = 4, news_reset = 8 };
    void begin(std::int32_t id);
    void forget_head();

    std::int32_t id_ = 0;
    void* owner_ = nullptr;
    std::string text_;   // head_ points into it
    http::RequestHead head_;
    http::HeadParse parsed_;
    Share charged_;   // for text_ and trailers_
    Inbox inbox_;
    Windows::Stream window_;
    std::string trailers_;
    char const* body_refusal_ = nullptr;
    Outbox outbox_;
    Bytes received_ = 0;
    Bytes sent_ = 0;
    std::uint8_t news_ = 0;   // events not yet reported to the handler
    bool websocket_ = false;
    bool connect_ = false;
    bool head_method_ = false;   // the response has no body
    bool lent_ = false;          // to the handler
    bool open_ = false;          // nghttp2 knows it
    bool gone_ = false;
    bool remote_ended_ = false;   // END_STREAM received
    bool responded_ = false;      // the final head was submitted
    bool ended_ = false;          // END_STREAM was submitted with the head, or framed
    bool end_sent_ = false;
    bool dribbled_ = false;         // the last DATA frame was tiny because of the client's window
    bool waits_for_room_ = false;   // it is in Session::waiting_
};

}   // namespace garner::h2
