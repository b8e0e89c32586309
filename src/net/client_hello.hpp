// Reads the ClientHello at the beginning of a stream (RFC 8446 4.1.2, RFC 5246 7.4.1.2) without taking part in the handshake.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace garner::net {

/// The first byte of a stream that begins with a TLS handshake: the type of its first record (RFC 8446 5.1).
inline constexpr char tls_handshake = 22;

/// A fatal alert access_denied in a record (RFC 8446 6.2), for a client that has begun a handshake.
inline constexpr std::string_view access_denied_alert{"\x15\x03\x01\x00\x02\x02\x31", 7};

/// The host name in the content of a server_name extension (RFC 6066 3). Empty if there is none or the extension is malformed.
std::string_view server_name_in(std::string_view extension);

/// The parts of a ClientHello on which interception depends.
struct ClientHello {
    std::string server_name;               // host_name of SNI (RFC 6066 3), lower case, no final dot; empty: not sent
    std::vector<std::string> protocols;    // ALPN (RFC 7301), in the client's order; empty: not sent
    std::vector<std::uint16_t> versions;   // 0x0304 is TLS 1.3; without GREASE (RFC 8701)
    bool has_ech = false;                  // encrypted_client_hello; browsers also send it as GREASE, with the same look

    bool offers(std::string_view protocol) const;
    friend bool operator==(ClientHello const&, ClientHello const&) = default;
};

/// The result of read_client_hello().
struct ClientHelloReading {
    enum class State : std::uint8_t {
        needs_more,   // read more of the stream and call again
        not_tls,      // the first bytes are no TLS record of a handshake
        malformed,    // `reason` is set
        hello         // `hello` is set
    };
    State state = State::needs_more;
    char const* reason = "";   // malformed: a literal, such as "a repeated extension"
    ClientHello hello = {};
};

/// The longest beginning of a stream that is read, records included.
inline constexpr std::size_t client_hello_max = 64 * 1024;

/// Reads the first bytes of a client's stream. The ClientHello may span several records. Bytes after it are ignored. Never
/// needs_more once there are client_hello_max bytes. A result other than needs_more does not change with more bytes.
ClientHelloReading read_client_hello(std::string_view bytes);

}   // namespace garner::net
