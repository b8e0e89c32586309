#include "h2/session_callbacks.hpp"

#include "util/check.hpp"

namespace garner::h2 {

nghttp2_session_callbacks const* Session::callbacks() {
    static nghttp2_session_callbacks const* const all = [] {
        nghttp2_session_callbacks* made = nullptr;
        check(nghttp2_session_callbacks_new(&made) == 0);
        nghttp2_session_callbacks_set_on_begin_frame_callback(made, Input::on_begin_frame);
        nghttp2_session_callbacks_set_on_begin_headers_callback(made, Input::on_begin_headers);
        nghttp2_session_callbacks_set_on_header_callback(made, Input::on_header);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, Input::on_data);
        nghttp2_session_callbacks_set_on_frame_recv_callback(made, Input::on_frame);
        nghttp2_session_callbacks_set_on_stream_close_callback(made, Input::on_close);
        nghttp2_session_callbacks_set_send_data_callback(made, Output::send_data);
        nghttp2_session_callbacks_set_on_frame_send_callback(made, Output::on_sent);
        nghttp2_session_callbacks_set_on_frame_not_send_callback(made, Output::on_not_sent);
        return made;
    }();
    return all;
}

}   // namespace garner::h2
