// HTTP/2 load that h2load cannot make: requests inside CONNECT tunnels (RFC 9113, 8.5), each tunnel a stream.
//
//   h2_tunnels PORT ORIGIN TARGET BODY_BYTES CONNECTIONS SECONDS STREAMS
//
// The proxy is on 127.0.0.1 and speaks TLS. ORIGIN is host:port; TARGET is requested from it over HTTP/1.1 in each of
// STREAMS tunnels of each connection. After all tunnels are open the program prints "ready" and waits for a line on standard
// input. Then it measures and prints {"good": N, "bad": N}: responses with status 200 and a body of BODY_BYTES, and failures.
#include <nghttp2/nghttp2.h>

#include <map>

#include "tls_client.hpp"

namespace {

constexpr int stream_window = 4 << 20, connection_window = 32 << 20;   // bytes

/// One connection with its tunnels. It belongs to one thread, which waits for the socket only.
class TunnelConnection {
public:
    TunnelConnection(Load& load, int streams) : load_(load), tls_(load.context, load.port, nullptr, "h2") {
        start_session();
        nghttp2_settings_entry const window{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, stream_window};
        nghttp2_submit_settings(session_.get(), NGHTTP2_FLAG_NONE, &window, 1);
        nghttp2_session_set_local_window_size(session_.get(), NGHTTP2_FLAG_NONE, 0, connection_window);
        for (int i = 0; i < streams; ++i) open_tunnel();
        while (static_cast<int>(open_.size()) < streams) turn();
    }

    /// Requests in all tunnels until the time is over and all responses are complete.
    void measure() {
        for (auto const& [stream, tunnel] : open_) ask(stream);
        while (waiting_ > 0) turn();
    }

private:
    struct Tunnel {
        ResponseReader reader;
        bool must_ask = false;
    };
    using Self = TunnelConnection;

    static nghttp2_nv field(std::string_view name, std::string const& value) {
        auto const bytes = [](char const* text) { return reinterpret_cast<uint8_t*>(const_cast<char*>(text)); };
        return {bytes(name.data()), bytes(value.data()), name.size(), value.size(), NGHTTP2_NV_FLAG_NONE};
    }

    void start_session() {
        nghttp2_session_callbacks* callbacks = nullptr;
        nghttp2_session_callbacks_new(&callbacks);
        nghttp2_session_callbacks_set_on_header_callback(callbacks, on_header);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data);
        nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
        nghttp2_session* session = nullptr;
        nghttp2_session_client_new(&session, callbacks, this);
        nghttp2_session_callbacks_del(callbacks);
        session_.reset(session);
    }

    void open_tunnel() {
        std::string const method = "CONNECT";
        nghttp2_nv const fields[] = {field(":method", method), field(":authority", load_.origin)};
        nghttp2_data_provider const requests{{.ptr = this}, next_request};
        nghttp2_submit_request(session_.get(), nullptr, fields, 2, &requests, nullptr);
    }

    void ask(int32_t stream) {
        open_.at(stream).must_ask = true;
        ++waiting_;
        nghttp2_session_resume_data(session_.get(), stream);
    }

    /// Sends what the session has to send, then waits for bytes and gives them to it.
    void turn() {
        std::string out;
        uint8_t const* bytes = nullptr;
        for (ssize_t n; (n = nghttp2_session_mem_send(session_.get(), &bytes)) > 0;) {
            out.append(reinterpret_cast<char const*>(bytes), static_cast<size_t>(n));
        }
        if (!out.empty()) tls_.send(out);
        auto const in = tls_.receive();
        auto const taken = nghttp2_session_mem_recv(session_.get(), reinterpret_cast<uint8_t const*>(in.data()), in.size());
        if (taken < 0) throw std::runtime_error(nghttp2_strerror(static_cast<int>(taken)));
        if (!failure_.empty()) throw std::runtime_error(failure_);
    }

    static ssize_t next_request(nghttp2_session*, int32_t stream, uint8_t* buffer, size_t, uint32_t*, nghttp2_data_source* source,
                                void*) {
        auto& self = *static_cast<Self*>(source->ptr);
        auto const found = self.open_.find(stream);
        if (found == self.open_.end() || !found->second.must_ask) return NGHTTP2_ERR_DEFERRED;
        found->second.must_ask = false;
        auto const request = self.load_.get_request();
        std::memcpy(buffer, request.data(), request.size());   // far shorter than a frame
        return static_cast<ssize_t>(request.size());
    }

    static int on_header(nghttp2_session*, nghttp2_frame const* frame, uint8_t const* name, size_t name_size, uint8_t const* value,
                         size_t value_size, uint8_t, void* user) {
        auto& self = *static_cast<Self*>(user);
        if (std::string_view(reinterpret_cast<char const*>(name), name_size) != ":status") return 0;
        std::string const status(reinterpret_cast<char const*>(value), value_size);
        if (status == "200") {
            self.open_.insert({frame->hd.stream_id, {ResponseReader(self.load_.body)}});
        } else {
            self.failure_ = "CONNECT was answered with " + status;
        }
        return 0;
    }

    static int on_data(nghttp2_session*, uint8_t, int32_t stream, uint8_t const* data, size_t size, void* user) {
        auto& self = *static_cast<Self*>(user);
        auto const found = self.open_.find(stream);
        if (found == self.open_.end()) return 0;   // the body of a refusal
        auto const state = found->second.reader.take({reinterpret_cast<char const*>(data), size});
        if (state == ResponseReader::State::wrong) self.failure_ = "unexpected response";
        if (state != ResponseReader::State::complete) return 0;
        --self.waiting_;
        ++self.load_.good;
        if (self.load_.more()) self.ask(stream);
        return 0;
    }

    static int on_close(nghttp2_session*, int32_t, uint32_t code, void* user) {
        static_cast<Self*>(user)->failure_ = std::string("stream closed: ") + nghttp2_http2_strerror(code);
        return 0;
    }

    Load& load_;
    TlsConnection tls_;
    std::unique_ptr<nghttp2_session, decltype(&nghttp2_session_del)> session_{nullptr, nghttp2_session_del};
    std::map<int32_t, Tunnel> open_;
    int waiting_ = 0;   // responses
    std::string failure_;
};

}   // namespace

int main(int count, char** words) {
    if (count != 8) return std::fprintf(stderr, "h2_tunnels: see the head of h2_tunnels.cpp\n"), 2;
    signal(SIGPIPE, SIG_IGN);
    Load load;
    load.port = std::atoi(words[1]);
    load.origin = words[2];
    load.target = words[3];
    load.body = std::atol(words[4]);
    load.connections = std::atoi(words[5]);
    load.seconds = std::atof(words[6]);
    int const streams = std::atoi(words[7]);
    run_load(load, [&]() -> std::function<void()> {
        auto connection = std::make_shared<TunnelConnection>(load, streams);
        return [connection] { connection->measure(); };
    });
}
