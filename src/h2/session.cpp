#include "h2/session.hpp"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <utility>

#include "h2/header_fields.hpp"
#include "util/base64.hpp"
#include "util/check.hpp"
#include "util/random_bits.hpp"

namespace garner::h2 {

namespace {

constexpr std::size_t longest_response_head = MiB;   // nghttp2 sends no more; the parser of responses is stricter
constexpr std::size_t frame_payload = 16 * KiB;
constexpr std::size_t queued_frames = 1'000;   // beyond four for each stream

/// 16 random bytes in base64.
std::string websocket_key() {
    std::uint64_t const words[] = {random_bits(), random_bits()};
    return encode_base64({reinterpret_cast<char const*>(words), sizeof words});
}

struct OptionDeleter {
    void operator()(nghttp2_option* option) const { nghttp2_option_del(option); }
};

/// PRIORITY_UPDATE frames stay disabled: nghttp2 1.52 writes to freed memory after such a frame for an idle stream.
std::unique_ptr<nghttp2_option, OptionDeleter> options_of(SessionLimits const& limits) {
    nghttp2_option* option = nullptr;
    check(nghttp2_option_new(&option) == 0);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_max_send_header_block_length(option, longest_response_head);
    nghttp2_option_set_max_continuations(option, limits.head.bytes / frame_payload + 4);
    // Session counts resets itself, together with other glitches. nghttp2's own limit must not be lower.
    auto const rate = limits.glitches > 0 ? 2 * std::uint64_t{limits.glitches} : UINT32_MAX;
    nghttp2_option_set_stream_reset_rate_limit(option, 10 * rate, rate);
    return std::unique_ptr<nghttp2_option, OptionDeleter>(option);
}

}   // namespace

// ---- the connection ----

Session::Session(Handler& handler, SessionLimits const& limits, ClientMemory& memory, Counters& counters)
    : handler_(handler), limits_(limits), memory_(memory), counters_(counters), glitches_(limits.glitches),
      windows_(limits.window, limits.streams, memory.windows), charged_(memory.heads), fields_(std::make_unique<HeaderFields>()),
      charged_heads_(memory.heads) {
    auto const options = options_of(limits);
    check(nghttp2_session_server_new2(&session_, callbacks(), this, options.get()) == 0);
    submit_settings();
}

Session::~Session() {
    counters_.streams_ended.add(in_use_);
    nghttp2_session_del(session_);
}

void Session::submit_settings() {
    std::array<nghttp2_settings_entry, 4> const settings{{
        {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits_.streams},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(std::min<std::size_t>(limits_.head.bytes, UINT32_MAX))},
        {NGHTTP2_SETTINGS_ENABLE_CONNECT_PROTOCOL, 1},
        {NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1},
    }};
    check(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
}

bool Session::receive(std::string_view bytes, SteadyTime now) {
    check(!(state_ & (inside | delivering)));
    now_ = now;
    if (state_ & broken) return false;
    state_ |= inside;
    auto const taken = nghttp2_session_mem_recv(session_, reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
    state_ &= ~inside;
    if (taken < 0) judge_failure(static_cast<int>(taken));
    if (nghttp2_session_get_outbound_queue_size(session_) > queued_frames + 4 * limits_.streams)
        fail(ConnectionFault::flood, "the client does not read the frames that its own frames cause");
    open_connection_window();   // also for bytes that nghttp2 has dropped
    deliver();
    return fault_.empty();
}

/// nghttp2 did not process the input to its end.
void Session::judge_failure(int error) {
    bool const flood = error == NGHTTP2_ERR_FLOODED || error == NGHTTP2_ERR_TOO_MANY_CONTINUATIONS;
    fail(flood ? ConnectionFault::flood : ConnectionFault::protocol, nghttp2_strerror(error));
    if (error == NGHTTP2_ERR_BAD_CLIENT_MAGIC || error == NGHTTP2_ERR_NOMEM) state_ |= broken;
}

void Session::fail(ConnectionFault kind, std::string_view why) {
    note_fault(kind, why);
    auto const code = kind == ConnectionFault::protocol ? ErrorCode::internal : ErrorCode::calm;
    nghttp2_session_terminate_session(session_, static_cast<std::uint32_t>(code));
}

/// The first one is the cause.
void Session::note_fault(ConnectionFault kind, std::string_view why) {
    if (!fault_.empty()) return;
    fault_ = why;
    counters_.faults.add(kind);
}

void Session::glitch(char const* what) {
    if (!glitches_.add(now_)) fail(ConnectionFault::glitches, what);
}

std::size_t Session::pull(std::span<char> room) {
    check(!(state_ & inside));
    room_ = room;
    while (!(state_ & broken)) {
        auto const count = frame_.copy(room_.data(), room_.size());
        room_ = room_.subspan(count);
        frame_.remove_prefix(count);
        if (!frame_.empty()) break;
        std::uint8_t const* bytes = nullptr;
        state_ |= inside;
        auto const size = nghttp2_session_mem_send(session_, &bytes);
        state_ &= ~inside;
        if (size < 0) judge_failure(static_cast<int>(size)), state_ |= broken;
        if (size == 0 && queued_heads_ > 0 && heads_framed()) continue;
        if (size <= 0) break;
        frame_ = {reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(size)};
    }
    auto const filled = room.size() - room_.size();
    room_ = {};
    deliver();
    return filled;
}

bool Session::has_output() const { return !(state_ & broken) && (!frame_.empty() || nghttp2_session_want_write(session_)); }

bool Session::finished() const { return !has_output() && ((state_ & broken) || !nghttp2_session_want_read(session_)); }

void Session::drain() {
    if (state_ & draining) return finish_drain();
    state_ |= draining;
    nghttp2_submit_shutdown_notice(session_);
}

/// nghttp2 would send a PING before the GOAWAY, and its answer would not tell that the client knows of the drain.
void Session::note_goaway() {
    if (!(state_ & draining) || (state_ & (awaits_pong | drained))) return;
    state_ |= awaits_pong;
    nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
}

void Session::finish_drain() {
    if (state_ & drained) return;
    state_ |= drained;
    nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR, nullptr,
                          0);
}

void Session::shrink() {
    if (in_use_ > 0) return;
    waiting_.clear();
    slots_.clear();
    slots_.shrink_to_fit();
}

/// The bytes that the client may send on the connection, and those that were not taken.
Bytes Session::promised() const { return static_cast<Bytes>(nghttp2_session_get_local_window_size(session_)) + held_; }

/// Lets the client send again what was taken, when that is half the window. nghttp2's own count of consumed bytes would give back
/// what a smaller window is to withhold.
void Session::open_connection_window() {
    auto const size = windows_.connection(), before = promised();
    if (before + size / 2 > size) return;
    nghttp2_submit_window_update(session_, NGHTTP2_FLAG_NONE, 0, static_cast<std::int32_t>(size - before));
}

// ---- reports ----

void Session::report(Stream& stream, std::uint8_t news) {
    stream.news_ |= news;
    if (!stream.linked()) news_.push_back(stream);
}

/// A handler that calls pull() must not meet reports about other streams inside it.
void Session::deliver() {
    if (state_ & delivering) return;
    state_ |= delivering;
    while (auto* stream = news_.pop_front()) deliver(*stream);
    state_ &= ~delivering;
}

/// The stream may be released by each call. A place is not used again before the next receive().
void Session::deliver(Stream& stream) {
    auto const news = std::exchange(stream.news_, 0);
    if ((news & Stream::news_request) && fault_.empty()) {
        stream.lent_ = true;
        handler_.on_request(stream);
    }
    if ((news & Stream::news_body) && stream.lent_) handler_.on_body(stream);
    if ((news & Stream::news_sent) && stream.lent_) handler_.on_sent(stream);
    if ((news & Stream::news_reset) && stream.lent_) handler_.on_reset(stream);
}

// ---- the life of a stream ----

Stream* Session::stream_of(std::int32_t id) const {
    return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session_, id));
}

Stream& Session::take_slot(std::int32_t id) {
    if (free_.empty()) free_.push_back(*slots_.emplace_back(std::make_unique<Stream>(memory_.heads)));
    auto& stream = *free_.pop_front();
    ++in_use_;
    counters_.streams.add();
    stream.begin(id);
    nghttp2_session_set_stream_user_data(session_, id, &stream);
    return stream;
}

void Session::recycle(Stream& stream) {
    stream.unlink();
    stream.news_ = 0;
    stream.forget_head();
    --in_use_;
    counters_.streams_ended.add();
    free_.push_front(stream);   // the processor's cache holds it
}

void Session::begin_head(std::int32_t id) {
    take_slot(id);
    end_head();
    state_ |= inside_head;
}

/// Frees the memory of a large head.
void Session::end_head() {
    state_ &= ~inside_head;
    charged_.resize(0);
    request_.begin(limits_.head);
}

void Session::finish_request(Stream& stream, bool ends_stream) {
    if (!ends_stream && !windows_.open(stream.window_, promised())) {
        nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id_, NGHTTP2_REFUSED_STREAM);
        return end_head();
    }
    stream.websocket_ = request_.is_websocket();
    stream.connect_ = request_.is_connect();
    stream.head_method_ = request_.is_head();
    std::string const key = stream.websocket_ ? websocket_key() : std::string();
    charged_.resize(0);
    if (!stream.charged_.resize(request_.charge())) request_.refuse_large();
    stream.parsed_ = request_.finish({!ends_stream, key}, stream.text_, stream.head_);
    if (stream.parsed_.kind == http::HeadParse::Kind::refused) glitch("too many refused requests");
    stream.remote_ended_ = ends_stream;
    if (!ends_stream) open_connection_window();
    // Without a signal of the client (RFC 9218) streams share the connection; a tunnel always does.
    nghttp2_extpri const shared{NGHTTP2_EXTPRI_DEFAULT_URGENCY, 1};
    nghttp2_session_change_extpri_stream_priority(session_, stream.id_, &shared, stream.connect_ || stream.websocket_);
    end_head();
    report(stream, Stream::news_request);
}

void Session::finish_trailers(Stream& stream) {
    stream.body_refusal_ = trailers_.finish(stream.trailers_);
    if (stream.charged_.resize(stream.charged_.bytes() + stream.trailers_.size())) return;
    std::string().swap(stream.trailers_);
    stream.body_refusal_ = "no memory for the trailer section";
}

void Session::end_body(Stream& stream) {
    stream.remote_ended_ = true;
    if (stream.inbox_.size() == 0) windows_.close(stream.window_);
    report(stream, Stream::news_body);
}

/// nghttp2 has forgotten the stream.
void Session::close(Stream& stream) {
    stream.open_ = false;
    if (!stream.lent_) {
        if (stream.id_ == last_id_) end_head();   // it may have been malformed
        drop_body(stream);
        return recycle(stream);
    }
    if (stream.remote_ended_ && stream.end_sent_) return;   // its body may still be taken
    stream.gone_ = true;
    stream.outbox_.withdraw();
    drop_body(stream);
    report(stream, Stream::news_reset);
}

/// The bytes count against the connection's window until they are dropped or consumed.
void Session::drop_body(Stream& stream) {
    windows_.close(stream.window_);
    auto const waiting = stream.inbox_.size();
    stream.inbox_.clear();
    if (waiting == 0) return;
    held_ -= waiting;
    open_connection_window();
}

void Session::consume(Stream& stream, std::size_t bytes) {
    stream.inbox_.take(bytes);
    held_ -= bytes;
    if (stream.remote_ended_) {
        if (stream.inbox_.size() == 0) windows_.close(stream.window_);
    } else {
        nghttp2_session_consume_stream(session_, stream.id_, bytes);
        raise_window(stream, bytes);
    }
    open_connection_window();
}

void Session::raise_window(Stream& stream, std::size_t taken) {
    if (stream.window_.size == 0) return;
    auto const before = stream.window_.size;
    windows_.consumed(stream.window_, taken, stream.inbox_.size(), promised());
    if (stream.window_.size == before) return;
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, stream.id_, static_cast<std::int32_t>(stream.window_.size));
}

void Session::reset(Stream& stream, ErrorCode code) {
    stream.outbox_.withdraw();
    if (stream.open_) nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.id_, static_cast<std::uint32_t>(code));
}

void Session::release(Stream& stream) {
    check(stream.lent_);
    stream.lent_ = false;
    drop_body(stream);
    if (!stream.open_) return recycle(stream);
    auto& outbox = stream.outbox_;
    bool const complete = stream.ended_ || (stream.responded_ && outbox.ending() && outbox.pending() == 0 && !outbox.truncated());
    if (!complete) return reset(stream, ErrorCode::internal);
    // If the end is not sent yet, the rest of the request is refused when it is.
    if (stream.end_sent_ && !stream.remote_ended_) reset(stream, ErrorCode::none);
}

}   // namespace garner::h2
