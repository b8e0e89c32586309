// The proxy's response heads as HTTP/2 header fields. Includes nghttp2: for this module's own files only.
#pragma once
#include <nghttp2/nghttp2.h>
#include <sys/uio.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace garner::h2 {

/// Moves the response head at the start of `parts` to `text`, and advances `parts` past it. False: it is incomplete.
bool take_head(std::span<iovec>& parts, std::string& text);

/// The fields of one head or trailer section, as views into its text; nghttp2 writes the names in lower case. Keeps its
/// memory between heads. Pure.
class HeaderFields {
public:
    /// Reads a head with its status line and blank line. Leaves out connection fields (RFC 9113 8.2.2). `to_websocket`: the
    /// request was an extended CONNECT. The origin's 101 is then sent as 200, and its other 2xx responses as 502, because a 2xx
    /// would mean that the WebSocket is open (RFC 8441 5). False: this is no response head.
    bool read_head(std::string_view text, bool to_websocket);
    /// Reads trailer lines, each with CRLF.
    void read_trailers(std::string_view lines);

    /// The status line's status, before read_head() changes it.
    std::uint16_t status() const { return status_; }
    std::optional<std::uint64_t> content_length() const { return content_length_; }
    nghttp2_nv const* data() const { return fields_.data(); }
    std::size_t size() const { return fields_.size(); }

private:
    void begin();
    bool read_status(std::string_view line, bool to_websocket);
    void read_lines(std::string_view lines, bool switches);
    void add(std::string_view name, std::string_view value);

    std::vector<nghttp2_nv> fields_;
    std::uint16_t status_ = 0;
    std::optional<std::uint64_t> content_length_;
};

}   // namespace garner::h2
