#include "h2/session_callbacks.hpp"

namespace garner::h2 {

namespace {

Session& session_in(void* user) { return *static_cast<Session*>(user); }

std::string_view text_of(std::uint8_t const* bytes, std::size_t size) { return {reinterpret_cast<char const*>(bytes), size}; }

bool starts_request(nghttp2_frame const& frame) {
    return frame.hd.type == NGHTTP2_HEADERS && frame.headers.cat == NGHTTP2_HCAT_REQUEST;
}

bool ends_stream(nghttp2_frame_hd const& header) { return (header.flags & NGHTTP2_FLAG_END_STREAM) != 0; }

}   // namespace

/// Counts the frames that cost work here and carry nothing. nghttp2 does not report frames that it ignores: unknown types,
/// and DATA for closed streams. These cost no more than reading them.
int Session::Input::on_begin_frame(nghttp2_session*, nghttp2_frame_hd const* frame, void* user) noexcept {
    auto& self = session_in(user);
    bool const ack = (frame->flags & NGHTTP2_FLAG_ACK) != 0;
    switch (frame->type) {
    case NGHTTP2_RST_STREAM: self.glitch("too many streams reset by the client"); break;
    case NGHTTP2_PRIORITY: self.glitch("too many PRIORITY frames"); break;
    case NGHTTP2_GOAWAY: self.glitch("too many GOAWAY frames"); break;
    case NGHTTP2_SETTINGS:
        // The first one is due, and each ACK answers one of this server's.
        if (!ack && (self.state_ & has_settings)) self.glitch("too many SETTINGS frames");
        if (!ack) self.state_ |= has_settings;
        break;
    case NGHTTP2_PING:
        if (!ack || !(self.state_ & awaits_pong)) self.glitch("too many PING frames");
        break;
    case NGHTTP2_HEADERS:
        // The block is decoded and dropped.
        if (frame->stream_id <= self.last_id_ && !self.stream_of(frame->stream_id))
            self.glitch("too many HEADERS for closed streams");
        break;
    default: break;
    }
    return 0;
}

int Session::Input::on_begin_headers(nghttp2_session* session, nghttp2_frame const* frame, void* user) noexcept {
    auto& self = session_in(user);
    self.decoded_ = 0;
    if (!starts_request(*frame)) {
        self.trailers_.begin();
        return 0;
    }
    auto const id = self.last_id_ = frame->hd.stream_id;
    if (self.in_use_ >= self.limits_.streams) {
        nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, id, NGHTTP2_REFUSED_STREAM);
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;   // the block is decoded and dropped
    }
    self.begin_head(id);
    return 0;
}

int Session::Input::on_header(nghttp2_session*, nghttp2_frame const* frame, std::uint8_t const* name, std::size_t name_size,
                              std::uint8_t const* value, std::size_t value_size, std::uint8_t, void* user) noexcept {
    auto& self = session_in(user);
    // One byte may decode to a field of 4 KiB (RFC 9113 10.5.1): reading such a head to its end would delay other clients.
    self.decoded_ += name_size + value_size;
    if (self.decoded_ > 2 * self.limits_.head.bytes) {
        self.fail(ConnectionFault::large_head, "a head of more than twice the limit");
        self.end_head();
        return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    auto const name_text = text_of(name, name_size), value_text = text_of(value, value_size);
    if (!starts_request(*frame)) {
        self.trailers_.add(name_text, value_text);
        return 0;
    }
    self.request_.add(name_text, value_text);
    if (!self.charged_.resize(self.request_.charge())) self.request_.refuse_large();
    return 0;
}

int Session::Input::on_data(nghttp2_session* session, std::uint8_t, std::int32_t id, std::uint8_t const* data, std::size_t size,
                            void* user) noexcept {
    auto& self = session_in(user);
    auto* stream = self.stream_of(id);
    bool const wanted = stream && (stream->lent_ || (stream->news_ & Stream::news_request));
    if (!wanted) {
        nghttp2_session_consume_stream(session, id, size);
        return 0;
    }
    stream->received_ += size;
    self.held_ += size;
    stream->inbox_.append(text_of(data, size));
    self.report(*stream, Stream::news_body);
    return 0;
}

int Session::Input::on_frame(nghttp2_session*, nghttp2_frame const* frame, void* user) noexcept {
    auto& self = session_in(user);
    auto const& header = frame->hd;
    if (header.type == NGHTTP2_PING && (header.flags & NGHTTP2_FLAG_ACK) && (self.state_ & awaits_pong)) {
        self.state_ &= ~awaits_pong;
        self.finish_drain();
    }
    if (header.type != NGHTTP2_HEADERS && header.type != NGHTTP2_DATA) return 0;
    auto* stream = self.stream_of(header.stream_id);
    if (!stream) return 0;
    if (starts_request(*frame)) {
        stream->received_ += header.length;
        self.finish_request(*stream, ends_stream(header));
        return 0;
    }
    if (header.type == NGHTTP2_HEADERS) self.finish_trailers(*stream);
    bool const empty = header.type == NGHTTP2_DATA && header.length == frame->data.padlen;
    if (ends_stream(header))
        self.end_body(*stream);
    else if (empty)
        self.glitch("too many empty DATA frames");
    return 0;
}

int Session::Input::on_close(nghttp2_session*, std::int32_t id, std::uint32_t, void* user) noexcept {
    auto& self = session_in(user);
    if (auto* stream = self.stream_of(id)) self.close(*stream);
    return 0;
}

}   // namespace garner::h2
