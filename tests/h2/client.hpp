// nghttp2's client as the peer, in memory.
#pragma once
#include <nghttp2/nghttp2.h>

#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "h2/server.hpp"

namespace garner::h2 {

class Client {
public:
    using List = std::vector<std::pair<std::string, std::string>>;
    struct Response {
        List fields;
        std::vector<List> interim;
        List trailers;
        std::string body;
        bool has_head = false;                 // the final one
        bool ended = false;                    // END_STREAM
        std::optional<std::uint32_t> closed;   // its error code
        std::string get(std::string_view name) const {
            for (auto const& [key, value] : fields)
                if (key == name) return value;
            return {};
        }
        std::string status() const { return get(":status"); }
    };
    /// The body of a request, sent as far as the windows allow.
    struct Upload {
        explicit Upload(std::string bytes, bool stays_open = false, List lines = {})
            : text(std::move(bytes)), open(stays_open), trailers(std::move(lines)) {}
        std::string text;
        bool open;   // more may follow: no END_STREAM at the end of the text
        List trailers;
        std::size_t at = 0;
    };

    /// `window`: of each stream.
    explicit Client(std::uint32_t window = 65'535) {
        nghttp2_session_callbacks* callbacks = nullptr;
        nghttp2_session_callbacks_new(&callbacks);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
        nghttp2_option* option = nullptr;
        nghttp2_option_new(&option);
        nghttp2_option_set_no_auto_window_update(option, 1);
        nghttp2_session_client_new2(&session_, callbacks, this, option);
        nghttp2_option_del(option);
        nghttp2_session_callbacks_del(callbacks);
        nghttp2_settings_entry const entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window};
        nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, &entry, 1);
    }
    ~Client() { nghttp2_session_del(session_); }
    Client(Client const&) = delete;

    /// The stream's id.
    std::int32_t request(WireFields const& fields, Upload* upload = nullptr) {
        std::vector<nghttp2_nv> list;
        for (auto const& field : fields) list.push_back(nv(field.first, field.second));
        nghttp2_data_provider body{{.ptr = upload}, read};
        return nghttp2_submit_request(session_, nullptr, list.data(), list.size(), upload ? &body : nullptr, nullptr);
    }
    void resume(std::int32_t id) { nghttp2_session_resume_data(session_, id); }
    void reset(std::int32_t id, std::uint32_t code = NGHTTP2_CANCEL) {
        nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, code);
    }
    nghttp2_session* session() { return session_; }

    /// Moves bytes both ways until neither side has any. False: the server reported a connection error.
    bool run(Server& server, std::size_t room = 16 * KiB) {
        for (;;) {
            auto const to_server = output();
            bool const fine = to_server.empty() || server.session.receive(to_server, server.now);
            auto const to_client = server.output(room);
            input(to_client);
            if (!fine) return false;
            if (to_server.empty() && to_client.empty()) return true;
        }
    }
    std::string output() {
        std::string all;
        std::uint8_t const* bytes = nullptr;
        while (auto const size = nghttp2_session_mem_send(session_, &bytes)) {
            if (size < 0) break;
            all.append(reinterpret_cast<char const*>(bytes), static_cast<std::size_t>(size));
        }
        return all;
    }
    void input(std::string_view bytes) {
        received += bytes.size();
        auto const taken = nghttp2_session_mem_recv(session_, reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
        if (taken < 0) failure = nghttp2_strerror(static_cast<int>(taken));
    }

    std::map<std::int32_t, Response> responses;
    bool takes = true;   // opens its windows again for what arrived
    struct Goaway {
        std::int32_t last;
        std::uint32_t code;
    };
    std::vector<Goaway> goaways;
    std::size_t received = 0;
    std::string failure;

private:
    static nghttp2_nv nv(std::string_view name, std::string_view value) {
        auto const bytes = [](std::string_view text) { return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data())); };
        return {bytes(name), bytes(value), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
    }
    static Client& self(void* user) { return *static_cast<Client*>(user); }

    static ssize_t read(nghttp2_session* session, std::int32_t id, std::uint8_t* buffer, std::size_t size, std::uint32_t* flags,
                        nghttp2_data_source* source, void*) {
        auto& upload = *static_cast<Upload*>(source->ptr);
        auto const count = upload.text.copy(reinterpret_cast<char*>(buffer), size, upload.at);
        upload.at += count;
        bool const all = upload.at == upload.text.size();
        if (all && upload.open && count == 0) return NGHTTP2_ERR_DEFERRED;
        if (!all || upload.open) return static_cast<ssize_t>(count);
        *flags |= NGHTTP2_DATA_FLAG_EOF;
        if (upload.trailers.empty()) return static_cast<ssize_t>(count);
        std::vector<nghttp2_nv> list;
        for (auto const& field : upload.trailers) list.push_back(nv(field.first, field.second));
        *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
        nghttp2_submit_trailer(session, id, list.data(), list.size());
        return static_cast<ssize_t>(count);
    }
    static int on_begin_headers(nghttp2_session*, nghttp2_frame const* frame, void* user) {
        auto& response = self(user).responses[frame->hd.stream_id];
        // Interim heads come before the final one, trailers after the body.
        if (response.status().starts_with('1')) response.interim.push_back(std::exchange(response.fields, {}));
        return 0;
    }
    static int on_header(nghttp2_session*, nghttp2_frame const* frame, std::uint8_t const* name, std::size_t name_size,
                         std::uint8_t const* value, std::size_t value_size, std::uint8_t, void* user) {
        auto& response = self(user).responses[frame->hd.stream_id];
        std::string key(reinterpret_cast<char const*>(name), name_size), text(reinterpret_cast<char const*>(value), value_size);
        (response.has_head ? response.trailers : response.fields).emplace_back(std::move(key), std::move(text));
        return 0;
    }
    static int on_data(nghttp2_session* session, std::uint8_t, std::int32_t id, std::uint8_t const* data, std::size_t size,
                       void* user) {
        self(user).responses[id].body.append(reinterpret_cast<char const*>(data), size);
        if (self(user).takes) nghttp2_session_consume(session, id, size);
        return 0;
    }
    static int on_frame(nghttp2_session*, nghttp2_frame const* frame, void* user) {
        auto& all = self(user);
        if (frame->hd.type == NGHTTP2_GOAWAY) all.goaways.push_back({frame->goaway.last_stream_id, frame->goaway.error_code});
        if (frame->hd.type == NGHTTP2_HEADERS) {
            auto& response = all.responses[frame->hd.stream_id];
            response.has_head = !response.status().starts_with('1');
        }
        bool const ends = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
        if (ends && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) all.responses[frame->hd.stream_id].ended = true;
        return 0;
    }
    static int on_close(nghttp2_session*, std::int32_t id, std::uint32_t code, void* user) {
        self(user).responses[id].closed = code;
        return 0;
    }

    nghttp2_session* session_ = nullptr;
};

}   // namespace garner::h2
