#include "h2/header_fields.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::h2 {

namespace {

constexpr std::string_view head_end = "\r\n\r\n";

constexpr std::string_view connection_fields[] = {"connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"};

bool is_connection_field(std::string_view name) {
    return std::ranges::any_of(connection_fields, [&](auto field) { return equals_ignoring_case(name, field); });
}

/// A value that differs in each response would only push others out of the client's header table.
nghttp2_nv_flag indexing_of(std::string_view name) {
    return equals_ignoring_case(name, "cache-status") ? NGHTTP2_NV_FLAG_NO_INDEX : NGHTTP2_NV_FLAG_NONE;
}

}   // namespace

bool take_head(std::span<iovec>& parts, std::string& text) {
    text.clear();
    while (!parts.empty()) {
        auto& part = parts.front();
        std::string_view const bytes(static_cast<char const*>(part.iov_base), part.iov_len);
        auto const before = text.size();
        text.append(bytes);
        // The blank line may be split between two parts.
        auto const end = text.find(head_end, before - std::min(before, head_end.size() - 1));
        auto const taken = end == npos ? bytes.size() : end + head_end.size() - before;
        text.resize(before + taken);
        part.iov_base = static_cast<char*>(part.iov_base) + taken;
        part.iov_len -= taken;
        if (part.iov_len == 0) parts = parts.subspan(1);
        if (end != npos) return true;
    }
    return false;
}

void HeaderFields::begin() {
    fields_.clear();
    status_ = 0;
    content_length_.reset();
}

bool HeaderFields::read_head(std::string_view text, bool to_websocket) {
    begin();
    auto const end = text.find("\r\n");
    if (end == npos || !read_status(text.substr(0, end), to_websocket)) return false;
    read_lines(text.substr(end + 2), to_websocket && status_ == 101);
    return true;
}

/// "HTTP/1.1 200 OK"
bool HeaderFields::read_status(std::string_view line, bool to_websocket) {
    constexpr std::size_t at = 9, digits = 3;
    if (!line.starts_with("HTTP/1.") || line.size() < at + digits) return false;
    auto const text = line.substr(at, digits);
    auto const status = parse_decimal(text);
    if (!status || *status < 100) return false;
    status_ = static_cast<std::uint16_t>(*status);
    if (status_ == 101 && !to_websocket) return false;
    if (to_websocket && status_ == 101)
        add(":status", "200");
    else if (to_websocket && status_ / 100 == 2)
        add(":status", "502");
    else
        add(":status", text);
    return true;
}

void HeaderFields::read_trailers(std::string_view lines) {
    begin();
    read_lines(lines, false);
}

/// `switches`: to the WebSocket protocol, whose 200 has neither a key nor a length.
void HeaderFields::read_lines(std::string_view lines, bool switches) {
    while (!lines.empty()) {
        auto const line = lines.substr(0, lines.find("\r\n"));
        lines.remove_prefix(std::min(lines.size(), line.size() + 2));
        auto const colon = line.find(':');
        if (colon == npos || colon == 0) continue;
        auto const name = line.substr(0, colon), value = trim(line.substr(colon + 1));
        if (is_connection_field(name)) continue;
        bool const length = equals_ignoring_case(name, "content-length");
        if (length) content_length_ = parse_decimal(value);
        if (switches && (length || equals_ignoring_case(name, "sec-websocket-accept"))) continue;
        add(name, value);
    }
}

void HeaderFields::add(std::string_view name, std::string_view value) {
    auto const bytes = [](std::string_view text) { return reinterpret_cast<std::uint8_t*>(const_cast<char*>(text.data())); };
    fields_.push_back({bytes(name), bytes(value), name.size(), value.size(), static_cast<std::uint8_t>(indexing_of(name))});
}

}   // namespace garner::h2
