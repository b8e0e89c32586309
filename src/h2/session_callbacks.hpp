// nghttp2's callbacks. For this module's own files only.
#pragma once
#include <nghttp2/nghttp2.h>

#include "h2/session.hpp"

namespace garner::h2 {

/// Frames from the client.
struct Session::Input {
    static int on_begin_frame(nghttp2_session*, nghttp2_frame_hd const*, void* session) noexcept;
    static int on_begin_headers(nghttp2_session*, nghttp2_frame const*, void* session) noexcept;
    static int on_header(nghttp2_session*, nghttp2_frame const*, std::uint8_t const* name, std::size_t name_size,
                         std::uint8_t const* value, std::size_t value_size, std::uint8_t flags, void* session) noexcept;
    static int on_data(nghttp2_session*, std::uint8_t flags, std::int32_t id, std::uint8_t const* data, std::size_t size,
                       void* session) noexcept;
    static int on_frame(nghttp2_session*, nghttp2_frame const*, void* session) noexcept;
    static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t code, void* session) noexcept;
};

/// Frames to the client.
struct Session::Output {
    static ssize_t read(nghttp2_session*, std::int32_t id, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags,
                        nghttp2_data_source* source, void* session) noexcept;
    static int send_data(nghttp2_session*, nghttp2_frame*, std::uint8_t const* header, std::size_t size,
                         nghttp2_data_source* source, void* session) noexcept;
    static int on_sent(nghttp2_session*, nghttp2_frame const*, void* session) noexcept;
    static int on_not_sent(nghttp2_session*, nghttp2_frame const*, int error, void* session) noexcept;
    static ssize_t read_end(Session& self, Stream& stream, std::uint32_t* flags);
    static void mark_end(Session& self, Stream& stream, std::uint32_t* flags);
    static void note_dribble(Session& self, Stream& stream, bool tiny);
    static void note_reset(Session& self, std::uint32_t code);
    static void note_goaway(Session& self, nghttp2_goaway const& frame);
};

}   // namespace garner::h2
