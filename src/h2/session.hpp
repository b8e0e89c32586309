// One HTTP/2 connection of a client (RFC 9113), without I/O: bytes in, bytes out.
#pragma once
#include <sys/uio.h>

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "h2/memory_budget.hpp"
#include "h2/connection_counters.hpp"
#include "h2/glitches.hpp"
#include "h2/request_fields.hpp"
#include "h2/stream.hpp"
#include "h2/flow_windows.hpp"
#include "util/clock.hpp"

struct nghttp2_session;
struct nghttp2_session_callbacks;

namespace garner::h2 {

class HeaderFields;

/// Receives what happens to streams. Its functions are called at the end of Session::receive() and pull(), never inside one
/// another. They may call all functions of the session except receive(), and must not destroy it.
class Handler {
public:
    virtual ~Handler() = default;
    /// A request's head is complete, or was refused: Stream::parsed(). The stream is lent until Session::release().
    virtual void on_request(Stream&) = 0;
    /// Bytes of the body arrived, or its end.
    virtual void on_body(Stream&) = 0;
    /// All bodies passed to Session::send() are framed; also when they were framed before send() returned. The same for a head without
    /// a body that had to wait.
    virtual void on_sent(Stream&) = 0;
    /// Stream::is_gone() became true.
    virtual void on_reset(Stream&) = 0;
};

struct SessionLimits {
    std::uint32_t streams = 100;    // at once; a stream counts until it is closed and released
    Bytes window = MiB;             // the largest receive window of a stream; at most 128 MiB
    std::uint32_t glitches = 100;   // a second: see Glitches
    http::HeadLimits head;
};

/// Codes of RFC 9113 7 that this server sends of itself.
enum class ErrorCode : std::uint32_t { none = 0, internal = 2, refused = 7, cancel = 8, connect = 10, calm = 11 };

/// Belongs to one worker.
class Session {
public:
    /// `handler`, `memory` and `counters` outlive the session. Streams that are still lent end with it.
    Session(Handler& handler, SessionLimits const& limits, ClientMemory& memory, Counters& counters);
    ~Session();
    Session(Session const&) = delete;

    // ---- the connection ----

    /// Takes bytes from the client. False after a connection error: fault() has the reason. The caller sends what pull()
    /// still gives, and closes. An error may also come up in pull(): see finished().
    bool receive(std::string_view bytes, SteadyTime now);
    /// Writes frames for the client to `room`, which should have at least least_room bytes; returns how many bytes. 0: nothing can
    /// be sent now, or the room is too small.
    std::size_t pull(std::span<char> room);
    static constexpr std::size_t least_room = 1'024;
    /// True if pull() would give bytes.
    bool has_output() const;
    /// True when the connection is to be closed: after an error, or when it was drained.
    bool finished() const;
    /// Why the connection ended with an error; empty: it did not.
    std::string const& fault() const { return fault_; }
    /// Begins to end the connection without a failed request: GOAWAY without a limit at first, and with one when the client has
    /// answered a PING, or at the second call (RFC 9113 6.8).
    void drain();
    /// Streams that are open or lent.
    std::size_t streams() const { return in_use_; }
    /// Frees the memory that is kept for streams to come. Without effect while there are streams.
    void shrink();
    /// The stream whose request's head has begun and is incomplete; 0: none. The caller's deadline for heads runs.
    std::int32_t incomplete_head() const { return state_ & inside_head ? last_id_ : 0; }

    // ---- a stream that is lent to the handler ----

    /// The receiver took bytes at the start of Stream::body(): the client may send as many more.
    void consume(Stream& stream, std::size_t bytes);
    /// Sends a response in the form of HTTP/1.1 without chunk framing: interim heads, the final head, and its body. All bytes are
    /// borrowed until they are taken, withdrawn, or the stream is gone or released. A body is taken when it is framed, a head at
    /// once: but while the client does not read, only as many heads as the budget permits.
    void send(Stream& stream, std::span<iovec> parts);
    /// Takes back what is not framed yet.
    std::span<iovec> withdraw(Stream& stream) { return stream.outbox_.withdraw(); }
    /// A body without announced length ends after the bytes that are passed to send() before the next pull(). `trailers`: lines,
    /// each with CRLF. A tunnel is half-closed.
    void end(Stream& stream, std::string_view trailers);
    /// Ends the stream with RST_STREAM.
    void reset(Stream& stream, ErrorCode code);
    /// The handler has done with the stream. A response that is incomplete is reset with INTERNAL_ERROR; a request whose body is
    /// incomplete is reset with NO_ERROR after the response.
    void release(Stream& stream);

private:
    enum State : std::uint8_t {
        inside = 1,   // one of nghttp2's functions runs
        delivering = 2,
        broken = 4,
        has_settings = 8,
        draining = 16,
        awaits_pong = 32,
        drained = 64,
        inside_head = 128
    };
    struct Input;   // nghttp2's callbacks
    struct Output;
    static nghttp2_session_callbacks const* callbacks();
    void submit_settings();
    void begin_head(std::int32_t id);
    void end_head();
    void fail(ConnectionFault kind, std::string_view why);
    void note_fault(ConnectionFault kind, std::string_view why);
    void glitch(char const* what);
    void judge_failure(int error);
    Stream* stream_of(std::int32_t id) const;
    Stream& take_slot(std::int32_t id);
    void recycle(Stream& stream);
    void finish_request(Stream& stream, bool ends_stream);
    void finish_trailers(Stream& stream);
    void end_body(Stream& stream);
    void close(Stream& stream);
    void drop_body(Stream& stream);
    Bytes promised() const;
    void open_connection_window();
    void raise_window(Stream& stream, std::size_t taken);
    bool submit_head(Stream& stream);
    bool may_queue_head();
    void wait_for_room(Stream& stream, std::span<iovec> parts);
    bool heads_framed();
    void submit_response(Stream& stream, bool tunnel);
    void note_goaway();
    void finish_drain();
    void report(Stream& stream, std::uint8_t news);
    void deliver();
    void deliver(Stream& stream);

    Handler& handler_;
    SessionLimits const limits_;
    ClientMemory& memory_;
    Counters& counters_;
    nghttp2_session* session_ = nullptr;
    Glitches glitches_;
    Windows windows_;
    Bytes held_ = 0;           // received bytes of bodies that are not taken
    RequestBuilder request_;   // the head being received; one at a time
    TrailerBuilder trailers_;
    Share charged_;   // for request_
    std::unique_ptr<HeaderFields> fields_;
    std::string head_text_;          // the head being sent
    Bytes queued_heads_ = 0;         // submitted since nghttp2 last had none
    Share charged_heads_;            // for them
    std::vector<Stream*> waiting_;   // with heads that cannot be queued yet
    std::vector<std::unique_ptr<Stream>> slots_;
    List<Stream> free_;
    List<Stream> news_;
    std::size_t in_use_ = 0;
    std::string_view frame_;   // the rest of a frame, in nghttp2's memory until its next call
    std::span<char> room_;     // during pull()
    SteadyTime now_{};
    std::string fault_;
    Bytes decoded_ = 0;   // size of the fields of this head or trailer section so far
    std::int32_t last_id_ = 0;
    std::uint8_t state_ = 0;
};

}   // namespace garner::h2
