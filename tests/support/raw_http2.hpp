// A client of HTTP/2 over TLS that writes its own frames.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "h2/wire.hpp"
#include "support/wire.hpp"

namespace garner::test {

/// It offers no other protocol than h2.
class RawHttp2 {
public:
    explicit RawHttp2(std::uint16_t port, std::string const& settings_payload = "")
        : RawHttp2(Wire::connect("127.0.0.1", port), "localhost", settings_payload) {}
    /// Over a connection or a tunnel that is open already.
    RawHttp2(Wire wire, std::string const& server_name, std::string const& settings_payload = "") : wire_(std::move(wire)) {
        wire_.start_tls_client(server_name, "h2");
        send(std::string(h2::preface) + h2::frame(h2::settings_frame, h2::no_flag, 0, settings_payload));
    }
    bool send(std::string_view bytes) { return wire_.send(bytes); }
    bool request(std::uint32_t stream, std::string const& path, int flags = h2::end_stream | h2::end_headers) {
        return send(h2::frame(h2::headers_frame, flags, stream, h2::field_block(fields_of(path))));
    }
    /// True once these bytes have come so often.
    bool receives(std::string_view bytes, std::size_t count) {
        return eventually([&] {
            std::size_t found = 0;
            auto const& all = wire_.buffer();
            for (auto at = all.find(bytes); at != all.npos; at = all.find(bytes, at + 1)) ++found;
            return found >= count || (wire_.receive(Millis{50}), false);
        });
    }
    /// Any frame GOAWAY of the connection without further data (RFC 9113, section 6.8).
    bool receives_goaway() { return receives({"\0\0\x08\x07\0\0\0\0\0", 9}, 1); }
    /// The connection has ended.
    bool closed() {
        return eventually([&] { return wire_.receive(Millis{50}) != Wire::Read::data && wire_.peer_closed(); });
    }
    Wire& wire() { return wire_; }
    static h2::WireFields fields_of(std::string_view path, h2::WireFields const& more = {}) {
        h2::WireFields fields{{":method", "GET"}, {":scheme", "https"}, {":authority", "localhost"}, {":path", path}};
        fields.insert(fields.end(), more.begin(), more.end());
        return fields;
    }

private:
    Wire wire_;
};

}   // namespace garner::test
