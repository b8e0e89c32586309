#include <algorithm>
#include <cstring>
#include <utility>

#include "h2/header_fields.hpp"
#include "h2/session_callbacks.hpp"

namespace garner::h2 {

namespace {

constexpr std::size_t frame_header = 9;
constexpr std::size_t record_payload = 16 * KiB - frame_header;   // a frame fills a TLS record
constexpr std::size_t least_fragment = Session::least_room - frame_header;
constexpr std::size_t tiny_frame = 64;
constexpr Bytes queued_heads_free = 4 * KiB;
constexpr Bytes queued_heads_max = 64 * KiB;
constexpr Bytes queued_head_overhead = 256;   // nghttp2's state of a frame; that of a field is an nghttp2_nv

Stream& stream_in(nghttp2_data_source const* source) { return *static_cast<Stream*>(source->ptr); }

/// The client is to blame for a reset with such a code. The server itself resets streams with others.
bool is_clients_fault(std::uint32_t code) {
    return code == NGHTTP2_PROTOCOL_ERROR || code == NGHTTP2_FLOW_CONTROL_ERROR || code == NGHTTP2_STREAM_CLOSED ||
           code == NGHTTP2_REFUSED_STREAM || code == NGHTTP2_FRAME_SIZE_ERROR || code == NGHTTP2_COMPRESSION_ERROR;
}

}   // namespace

// ---- responses ----

void Session::send(Stream& stream, std::span<iovec> parts) {
    if (!stream.open_) return;
    while (!stream.responded_ && !parts.empty()) {
        if (queued_heads_ >= queued_heads_free && !may_queue_head()) return wait_for_room(stream, parts);
        bool const sent = take_head(parts, head_text_) && submit_head(stream);
        if (!sent) return reset(stream, ErrorCode::internal);
    }
    if (stream.ended_) return;   // a body that is not allowed, or exceeds its length, is dropped
    stream.outbox_.attach(parts);
    nghttp2_session_resume_data(session_, stream.id_);
}

bool Session::submit_head(Stream& stream) {
    if (!fields_->read_head(head_text_, stream.websocket_)) return false;
    queued_heads_ += head_text_.size() + fields_->size() * sizeof(nghttp2_nv) + queued_head_overhead;
    auto const status = fields_->status();
    bool const opens_tunnel = (stream.websocket_ && status == 101) || (stream.connect_ && status / 100 == 2);
    if (status >= 200 || opens_tunnel) {
        submit_response(stream, opens_tunnel);
    } else {
        nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.id_, nullptr, fields_->data(), fields_->size(), nullptr);
    }
    return true;
}

void Session::submit_response(Stream& stream, bool tunnel) {
    auto const status = fields_->status();
    auto const length = tunnel ? std::nullopt : fields_->content_length();
    stream.responded_ = true;
    stream.ended_ = !tunnel && (stream.head_method_ || status == 204 || status == 304 || length == 0u);
    if (length) stream.outbox_.announce(*length);
    nghttp2_data_provider body{{.ptr = &stream}, Output::read};
    nghttp2_submit_response(session_, stream.id_, fields_->data(), fields_->size(), stream.ended_ ? nullptr : &body);
}

/// The client takes nothing, and nghttp2 holds copies of heads. The last one is not charged: a stream needs room for one.
bool Session::may_queue_head() { return queued_heads_ < queued_heads_max && charged_heads_.resize(queued_heads_); }

void Session::wait_for_room(Stream& stream, std::span<iovec> parts) {
    stream.outbox_.attach(parts);
    if (std::exchange(stream.waits_for_room_, true)) return;
    waiting_.push_back(&stream);
}

/// nghttp2 sends heads before all DATA frames. False: no head was waiting.
bool Session::heads_framed() {
    queued_heads_ = 0;
    charged_heads_.resize(0);
    if (waiting_.empty()) return false;
    for (auto* stream : std::exchange(waiting_, {})) {
        stream->waits_for_room_ = false;
        if (stream->responded_ || stream->is_sent()) continue;   // its parts were withdrawn
        send(*stream, stream->outbox_.withdraw());
        if (stream->responded_ && stream->is_sent()) report(*stream, Stream::news_sent);
    }
    return true;
}

void Session::end(Stream& stream, std::string_view trailers) {
    if (!stream.open_ || stream.ended_) return;
    stream.outbox_.end(trailers);
    if (stream.responded_) nghttp2_session_resume_data(session_, stream.id_);
}

// ---- callbacks ----

/// Decides the size of the next DATA frame: the windows, the TLS record and the free buffer limit it.
ssize_t Session::Output::read(nghttp2_session*, std::int32_t, std::uint8_t*, std::size_t size, std::uint32_t* flags,
                              nghttp2_data_source* source, void* user) noexcept {
    auto& self = *static_cast<Session*>(user);
    auto& stream = stream_in(source);
    auto const pending = stream.outbox_.pending();
    if (pending == 0) return read_end(self, stream, flags);
    auto bytes = std::min<Bytes>({size, pending, record_payload});
    auto const room = self.room_.size();
    if (room < frame_header + std::min(bytes, least_fragment)) return NGHTTP2_ERR_PAUSE;
    note_dribble(self, stream, size < tiny_frame && size < pending);
    bytes = std::min<Bytes>(bytes, room - frame_header);
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (stream.outbox_.ends_with(bytes)) mark_end(self, stream, flags);
    return static_cast<ssize_t>(bytes);
}

/// No bytes are attached.
ssize_t Session::Output::read_end(Session& self, Stream& stream, std::uint32_t* flags) {
    if (stream.outbox_.truncated()) return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;   // reset with INTERNAL_ERROR
    if (!stream.outbox_.ending()) return NGHTTP2_ERR_DEFERRED;
    mark_end(self, stream, flags);
    return 0;
}

void Session::Output::mark_end(Session& self, Stream& stream, std::uint32_t* flags) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    stream.ended_ = true;
    if (stream.outbox_.trailers().empty()) return;
    self.fields_->read_trailers(stream.outbox_.trailers());
    if (self.fields_->size() == 0) return;
    *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
    nghttp2_submit_trailer(self.session_, stream.id_, self.fields_->data(), self.fields_->size());
}

/// A window may end with a tiny frame. A client that opens its window by a few bytes each time causes one after the other.
void Session::Output::note_dribble(Session& self, Stream& stream, bool tiny) {
    if (tiny && stream.dribbled_) self.glitch("too many tiny DATA frames because of the client's window");
    stream.dribbled_ = tiny;
}

int Session::Output::send_data(nghttp2_session*, nghttp2_frame*, std::uint8_t const* header, std::size_t size,
                               nghttp2_data_source* source, void* user) noexcept {
    auto& self = *static_cast<Session*>(user);
    auto& stream = stream_in(source);
    std::memcpy(self.room_.data(), header, frame_header);
    stream.outbox_.copy(self.room_.subspan(frame_header, size));
    self.room_ = self.room_.subspan(frame_header + size);
    if (stream.outbox_.pending() == 0) self.report(stream, Stream::news_sent);
    return 0;
}

void Session::Output::note_reset(Session& self, std::uint32_t code) {
    if (code == NGHTTP2_REFUSED_STREAM) self.counters_.streams_refused.add();
    if (is_clients_fault(code)) self.glitch("too many malformed or refused requests");
}

/// nghttp2 ends the connection of itself.
void Session::Output::note_goaway(Session& self, nghttp2_goaway const& frame) {
    std::string why = nghttp2_http2_strerror(frame.error_code);
    if (frame.opaque_data_len > 0) why.append(": ").append(reinterpret_cast<char const*>(frame.opaque_data), frame.opaque_data_len);
    bool const calm = frame.error_code == NGHTTP2_ENHANCE_YOUR_CALM;
    self.note_fault(calm ? ConnectionFault::flood : ConnectionFault::protocol, why);
}

int Session::Output::on_sent(nghttp2_session*, nghttp2_frame const* frame, void* user) noexcept {
    auto& self = *static_cast<Session*>(user);
    auto const& header = frame->hd;
    if (header.type == NGHTTP2_RST_STREAM) note_reset(self, frame->rst_stream.error_code);
    if (header.type == NGHTTP2_GOAWAY && frame->goaway.error_code != NGHTTP2_NO_ERROR) note_goaway(self, frame->goaway);
    if (header.type == NGHTTP2_GOAWAY && frame->goaway.error_code == NGHTTP2_NO_ERROR) self.note_goaway();
    if (header.type != NGHTTP2_HEADERS && header.type != NGHTTP2_DATA) return 0;
    auto* stream = self.stream_of(header.stream_id);
    if (!stream) return 0;
    stream->sent_ += header.length;
    if (!(header.flags & NGHTTP2_FLAG_END_STREAM)) return 0;
    stream->end_sent_ = true;
    if (!stream->lent_ && !stream->remote_ended_) self.reset(*stream, ErrorCode::none);
    return 0;
}

int Session::Output::on_not_sent(nghttp2_session*, nghttp2_frame const* frame, int, void* user) noexcept {
    auto& self = *static_cast<Session*>(user);
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    if (auto* stream = self.stream_of(frame->hd.stream_id)) self.reset(*stream, ErrorCode::internal);
    return 0;
}

}   // namespace garner::h2
