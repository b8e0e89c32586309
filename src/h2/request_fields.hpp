// HTTP/2 request fields as an HTTP/1.1 head, which http::parse_request_head judges (RFC 9113 8.3, RFC 8441).
#pragma once
#include <array>
#include <string>
#include <string_view>

#include "http/message.hpp"
#include "util/bytes.hpp"

namespace garner::h2 {

/// Collects the fields of one request after another, and keeps its memory. Refuses, before it writes them, bytes and
/// fields that could change the meaning of the text: CR, LF, NUL or a space in a method or path, bytes in the authority that end
/// it, connection fields, pseudo-fields that are late, unknown or doubled, and a Host that differs from :authority. Pure.
class RequestBuilder {
public:
    void begin(http::HeadLimits const& limits);
    /// Keeps nothing of a field that exceeds the limits.
    void add(std::string_view name, std::string_view value);
    /// Refuses the request with 431, because there is no memory for its head.
    void refuse_large();

    /// The size of the fields so far: names, values, and 32 bytes for each (RFC 9113 6.5.2).
    Bytes size() const { return size_; }
    /// Memory to charge for the head: its bytes above 4 KiB, in steps of 4 KiB.
    Bytes charge() const { return size_ <= free_bytes ? 0 : (size_ - 1) / free_bytes * free_bytes; }
    bool is_connect() const { return pseudo(Pseudo::method) == "CONNECT" && !is_websocket(); }
    bool is_head() const { return pseudo(Pseudo::method) == "HEAD"; }
    /// An extended CONNECT for a WebSocket.
    bool is_websocket() const { return pseudo(Pseudo::protocol) == "websocket"; }

    /// How a request ends its head.
    struct End {
        bool body_follows = true;         // the head does not end the stream
        std::string_view websocket_key;   // for is_websocket(): 16 random bytes in base64
    };
    /// Writes the request to `text` and parses it; the views in `head` point into `text`. The target is in absolute-form,
    /// for CONNECT in authority-form. A body without length is chunked. A WebSocket becomes a GET with Upgrade (RFC 6455 4.1).
    http::HeadParse finish(End const& end, std::string& text, http::RequestHead& head);

private:
    enum class Pseudo : std::uint8_t { method, scheme, authority, path, protocol };
    static constexpr Bytes free_bytes = 4 * KiB;
    static constexpr std::size_t pseudos = 5;
    std::string const& pseudo(Pseudo which) const { return pseudo_[static_cast<std::size_t>(which)]; }
    bool count(std::string_view name, std::string_view value);
    void add_pseudo(std::string_view name, std::string_view value);
    void add_host(std::string_view value);
    void add_cookie(std::string_view value);
    char const* fault_of_field(http::Name id, std::string_view value) const;
    char const* fault_of_pseudos(End const& end) const;
    void append_target(std::string& text) const;
    void write(End const& end, std::string& text) const;
    void refuse(std::uint16_t status, char const* why);
    void drop(std::uint16_t status, char const* why);
    http::HeadParse refused(std::string& text, http::RequestHead& head) const;
    void clear();

    http::HeadLimits limits_;
    std::array<std::string, pseudos> pseudo_;
    std::array<bool, pseudos> seen_{};
    std::string host_;
    std::string cookie_;
    std::string lines_;
    Bytes size_ = 0;
    std::size_t fields_ = 0;
    bool pseudos_end_ = false;   // a field that is no pseudo-field was added
    bool has_host_ = false;
    bool has_length_ = false;
    bool announces_body_ = false;
    std::uint16_t status_ = 0;
    char const* refusal_ = nullptr;
};

/// Collects trailer fields. They are judged and filtered as those of a chunked body (http::BodyDecoder).
class TrailerBuilder {
public:
    void begin();
    void add(std::string_view name, std::string_view value);
    /// Sets `trailers` to the lines, each with CRLF. Returns null, or a literal that names the error.
    char const* finish(std::string& trailers);

private:
    std::string section_;
    char const* refusal_ = nullptr;
};

}   // namespace garner::h2
