#include "support/message.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ctime>

namespace garner::test {

namespace {

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
}

std::string word(std::string_view line, int index) {
    for (; index > 0; --index) {
        auto const space = line.find(' ');
        if (space == line.npos) return {};
        line.remove_prefix(space + 1);
    }
    return std::string(line.substr(0, line.find(' ')));
}

std::pair<std::string, std::string> split_field(std::string_view line) {
    auto const colon = line.find(':');
    if (colon == line.npos) return {std::string(line), {}};
    return {std::string(line.substr(0, colon)), std::string(trimmed(line.substr(colon + 1)))};
}

template <class Number>
Number number(std::string_view text, int base = 10) {
    Number value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value, base);
    return value;
}

/// Removes the first line from `buffer` and returns it without CRLF.
std::optional<std::string> take_line(std::string& buffer) {
    auto const end = buffer.find("\r\n");
    if (end == buffer.npos) return std::nullopt;
    auto line = buffer.substr(0, end);
    buffer.erase(0, end + 2);
    return line;
}

bool is_chunked(Head const& head) { return lower(head.field("Transfer-Encoding")).ends_with("chunked"); }

}   // namespace

std::string lower(std::string_view text) {
    std::string result(text);
    std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::tolower(c); });
    return result;
}

bool same_name(std::string_view a, std::string_view b) { return lower(a) == lower(b); }

std::vector<std::string> Head::all(std::string_view name) const {
    std::vector<std::string> values;
    for (auto const& [field_name, value] : fields)
        if (same_name(field_name, name)) values.push_back(value);
    return values;
}

std::string Head::field(std::string_view name) const {
    std::string joined;
    for (auto const& value : all(name)) joined += joined.empty() ? value : ", " + value;
    return joined;
}

std::string Head::method() const { return word(start, 0); }
std::string Head::target() const { return word(start, 1); }
std::string Head::version() const { return start.starts_with("HTTP/") ? word(start, 0) : word(start, 2); }
int Head::status() const { return start.starts_with("HTTP/") ? number<int>(word(start, 1)) : 0; }

std::string Head::text() const {
    auto text = start + "\r\n";
    for (auto const& [name, value] : fields) text += name + ": " + value + "\r\n";
    return text + "\r\n";
}

std::optional<Head> take_head(std::string& buffer) {
    while (buffer.starts_with("\r\n")) buffer.erase(0, 2);
    auto const end = buffer.find("\r\n\r\n");
    if (end == buffer.npos) return std::nullopt;
    auto lines = buffer.substr(0, end + 2);
    buffer.erase(0, end + 4);
    Head head;
    head.start = *take_line(lines);
    while (auto line = take_line(lines)) head.fields.push_back(split_field(*line));
    return head;
}

Body Body::of_request(Head const& head) {
    Body body;
    if (is_chunked(head)) {
        body.state_ = State::size_line;
        body.chunked_ = true;
    } else if (auto const length = number<std::uint64_t>(head.field("Content-Length")); length > 0) {
        body.state_ = State::length;
        body.left_ = length;
    }
    return body;
}

Body Body::of_response(Head const& head, std::string_view method) {
    auto const status = head.status();
    bool const tunnel = method == "CONNECT" && status / 100 == 2;
    if (method == "HEAD" || status / 100 == 1 || status == 204 || status == 304 || tunnel) return {};
    auto body = of_request(head);
    if (!body.chunked_ && !head.has("Content-Length")) body.state_ = State::until_close;
    return body;
}

void Body::take(std::string& buffer) {
    while (!done() && step(buffer)) {
    }
}

// Decodes one step; false if more bytes are needed.
bool Body::step(std::string& buffer) {
    auto move_bytes = [&](std::uint64_t most) {
        auto const count = static_cast<std::size_t>(std::min<std::uint64_t>(buffer.size(), most));
        bytes_.append(buffer, 0, count);
        buffer.erase(0, count);
        left_ -= count;
        return left_ == 0;
    };
    switch (state_) {
    case State::done: return false;
    case State::until_close:
        bytes_ += buffer;
        buffer.clear();
        return false;
    case State::length:
        if (!move_bytes(left_)) return false;
        state_ = State::done;
        return true;
    case State::chunk:
        if (!move_bytes(left_)) return false;
        state_ = State::chunk_end;
        return true;
    case State::chunk_end:
        if (!take_line(buffer)) return false;
        state_ = State::size_line;
        return true;
    case State::size_line: {
        auto const line = take_line(buffer);
        if (!line) return false;
        left_ = number<std::uint64_t>(*line, 16);
        state_ = left_ == 0 ? State::trailers : State::chunk;
        return true;
    }
    case State::trailers: {
        auto const line = take_line(buffer);
        if (!line) return false;
        if (line->empty())
            state_ = State::done;
        else
            trailers_.push_back(split_field(*line));
        return true;
    }
    }
    return false;
}

void Body::ended() {
    if (done()) return;
    cut_short_ = state_ != State::until_close;
    state_ = State::done;
}

std::string chunk(std::string_view bytes, std::string_view extension) {
    char size[17];
    auto const end = std::to_chars(size, size + sizeof size, bytes.size(), 16).ptr;
    std::string text(size, end);
    text += extension;
    text += "\r\n";
    text += bytes;
    text += "\r\n";
    return text;
}

std::string http_date(std::int64_t seconds_from_now) {
    std::time_t const when = std::time(nullptr) + seconds_from_now;
    std::tm parts{};
    gmtime_r(&when, &parts);
    char text[40];
    std::strftime(text, sizeof text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
    return text;
}

std::string pattern(std::size_t size, unsigned seed) {
    std::string bytes(size, '\0');
    std::uint32_t state = seed * 2654435761u + 1;
    for (char& byte : bytes) {
        state = state * 1664525u + 1013904223u;
        byte = static_cast<char>('a' + (state >> 24) % 26);
    }
    return bytes;
}

}   // namespace garner::test
