// Raw frames (RFC 9113 4.1), for what no client library sends.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace garner::h2 {

inline constexpr std::string_view preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

enum FrameType : std::uint8_t {
    data_frame = 0,
    headers_frame = 1,
    priority_frame = 2,
    rst_frame = 3,
    settings_frame = 4,
    push_frame = 5,
    ping_frame = 6,
    goaway_frame = 7,
    window_frame = 8,
    continuation_frame = 9
};
enum FrameFlag : std::uint8_t { no_flag = 0, end_stream = 1, ack = 1, end_headers = 4, padded = 8 };

inline std::string number(std::uint32_t value, int bytes = 4) {
    std::string text;
    for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
    return text;
}

inline std::string frame(FrameType type, int flags, std::uint32_t id, std::string_view payload = {}) {
    std::string text = number(static_cast<std::uint32_t>(payload.size()), 3);
    text += static_cast<char>(type);
    text += static_cast<char>(flags);
    return text.append(number(id)).append(payload);
}

using WireField = std::pair<std::string_view, std::string_view>;
using WireFields = std::vector<WireField>;

inline std::string hpack_number(std::size_t value, std::size_t most) {
    if (value < most) return std::string(1, static_cast<char>(value));
    std::string text(1, static_cast<char>(most));
    for (value -= most; value >= 128; value /= 128) text += static_cast<char>(value % 128 + 128);
    return text + static_cast<char>(value);
}

/// Literal fields without indexing and without Huffman code (RFC 7541 6.2.2).
inline std::string field_block(WireFields const& fields) {
    std::string block;
    for (auto const& [name, value] : fields) {
        block += '\0';
        block.append(hpack_number(name.size(), 127)).append(name);
        block.append(hpack_number(value.size(), 127)).append(value);
    }
    return block;
}

inline WireFields get_fields(WireFields more = {}) {
    WireFields fields{{":method", "GET"}, {":scheme", "https"}, {":authority", "a.example"}, {":path", "/"}};
    fields.insert(fields.end(), more.begin(), more.end());
    return fields;
}

inline std::string request_frame(std::uint32_t id, WireFields const& fields, int flags = end_stream) {
    return frame(headers_frame, flags | end_headers, id, field_block(fields));
}

/// The connection preface of a client (RFC 9113 3.4).
inline std::string opening() { return std::string(preface) + frame(settings_frame, no_flag, 0); }

struct WireFrame {
    FrameType type;
    int flags;
    std::uint32_t id;
    std::string payload;
    std::uint32_t code() const;   // the error code; the frame is RST_STREAM or GOAWAY
};

inline std::uint32_t read_number(std::string_view text) {
    std::uint32_t value = 0;
    for (char c : text) value = value << 8 | static_cast<unsigned char>(c);
    return value;
}

inline std::uint32_t WireFrame::code() const {
    return read_number(std::string_view(payload).substr(type == goaway_frame ? 4 : 0, 4));
}

inline std::vector<WireFrame> frames_in(std::string_view text) {
    std::vector<WireFrame> frames;
    while (text.size() >= 9) {
        auto const size = read_number(text.substr(0, 3));
        frames.push_back({static_cast<FrameType>(text[3]), static_cast<unsigned char>(text[4]), read_number(text.substr(5, 4)),
                          std::string(text.substr(9, size))});
        text.remove_prefix(9 + size);
    }
    return frames;
}

}   // namespace garner::h2
