#include "h2/request_fields.hpp"

#include <algorithm>
#include <utility>

#include "http/framing.hpp"
#include "util/text.hpp"

namespace garner::h2 {

using http::Name;

namespace {

constexpr std::size_t field_overhead = 32;
constexpr std::size_t kept_capacity = 4 * KiB;
constexpr std::size_t trailer_bytes = 16 * KiB;

constexpr std::array<std::string_view, 5> pseudo_names{":method", ":scheme", ":authority", ":path", ":protocol"};

/// True for control bytes and the space.
bool is_unprintable(char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7f; }

bool has_unprintable(std::string_view text) { return std::ranges::any_of(text, is_unprintable); }

/// True for bytes that end an authority in a URL, or begin user information.
bool ends_authority(std::string_view text) { return text.find_first_of("/?#@\\") != npos; }

bool has_upper_case(std::string_view text) {
    return std::ranges::any_of(text, [](char c) { return c >= 'A' && c <= 'Z'; });
}

/// CR, LF or NUL. Without an early end, so that the compiler compares many bytes at once.
bool has_line_break(std::string_view text) {
    bool found = false;
    for (char const c : text) found |= c == '\r' || c == '\n' || c == '\0';
    return found;
}

/// Null, or why this field cannot become a line of text.
char const* fault_of_line(std::string_view name, std::string_view value) {
    if (!http::is_token(name)) return "bad byte in field name";
    if (has_upper_case(name)) return "upper case in field name";
    if (has_line_break(value)) return "CR, LF or NUL in field value";
    return nullptr;
}

void append_line(std::string_view name, std::string_view value, std::string& out) {
    out.append(name).append(": ").append(value).append("\r\n");
}

/// Keeps the memory unless it is large.
void make_empty(std::string& text) {
    text.clear();
    if (text.capacity() > kept_capacity) std::string().swap(text);
}

}   // namespace

void RequestBuilder::begin(http::HeadLimits const& limits) {
    limits_ = limits;
    clear();
    seen_ = {};
    size_ = fields_ = 0;
    pseudos_end_ = has_host_ = has_length_ = announces_body_ = false;
    status_ = 0;
    refusal_ = nullptr;
}

void RequestBuilder::clear() {
    for (auto& text : pseudo_) make_empty(text);
    make_empty(host_);
    make_empty(cookie_);
    make_empty(lines_);
}

void RequestBuilder::refuse(std::uint16_t status, char const* why) {
    if (refusal_) return;
    status_ = status;
    refusal_ = why;
}

void RequestBuilder::refuse_large() { drop(431, "head too large"); }

void RequestBuilder::drop(std::uint16_t status, char const* why) {
    refuse(status, why);
    make_empty(lines_);
    make_empty(cookie_);
}

/// Clients send a Cookie line in many parts (RFC 9113 8.2.3): these count as bytes, and not as fields.
bool RequestBuilder::count(std::string_view name, std::string_view value) {
    if (refusal_) return false;
    size_ += name.size() + value.size() + field_overhead;
    if (size_ > limits_.bytes) {
        if (name == "proxy-authorization") drop(407, "Proxy-Authorization exceeds limits.head_max");
        refuse_large();
    }
    if (!name.starts_with(':') && name != "cookie" && ++fields_ > limits_.fields) {
        refuse(431, "too many fields");
        make_empty(lines_);
    }
    return !refusal_;
}

void RequestBuilder::add(std::string_view name, std::string_view value) {
    if (!count(name, value)) return;
    if (name.starts_with(':')) return add_pseudo(name, value);
    pseudos_end_ = true;
    if (auto const* fault = fault_of_line(name, value)) return refuse(400, fault);
    auto const id = http::name_of(name);
    if (auto const* fault = fault_of_field(id, value)) return refuse(400, fault);
    if (id == Name::host) return add_host(value);
    if (id == Name::cookie) return add_cookie(value);
    if (id == Name::content_length) {
        has_length_ = true;
        announces_body_ = value != "0";
    }
    // A WebSocket over HTTP/2 has no key (RFC 8441 5); the one for the origin is not the client's.
    if (is_websocket() && name == "sec-websocket-key") return;
    append_line(name, value, lines_);
}

void RequestBuilder::add_pseudo(std::string_view name, std::string_view value) {
    auto const known = std::ranges::find(pseudo_names, name);
    if (known == pseudo_names.end()) return refuse(400, "unknown pseudo-field");
    auto const index = static_cast<std::size_t>(known - pseudo_names.begin());
    if (pseudos_end_) return refuse(400, "pseudo-field after a field");
    if (std::exchange(seen_[index], true)) return refuse(400, "pseudo-field twice");
    if (has_unprintable(value)) return refuse(400, "control byte or space in a pseudo-field");
    pseudo_[index] = value;
}

void RequestBuilder::add_host(std::string_view value) {
    if (std::exchange(has_host_, true)) return refuse(400, "more than one Host field");
    host_ = value;
}

void RequestBuilder::add_cookie(std::string_view value) {
    if (!cookie_.empty()) cookie_ += "; ";
    cookie_ += value;
}

/// RFC 9113 8.2.2.
char const* RequestBuilder::fault_of_field(Name id, std::string_view value) const {
    switch (id) {
    case Name::connection:
    case Name::keep_alive:
    case Name::proxy_connection:
    case Name::transfer_encoding:
    case Name::upgrade: return "connection field in an HTTP/2 request";
    case Name::te: return equals_ignoring_case(value, "trailers") ? nullptr : "TE is not \"trailers\"";
    case Name::host: return has_unprintable(value) || ends_authority(value) ? "invalid Host field" : nullptr;
    case Name::content_length: return is_websocket() ? "Content-Length in a request for a WebSocket" : nullptr;
    default: return nullptr;
    }
}

char const* RequestBuilder::fault_of_pseudos(End const& end) const {
    auto const has = [this](Pseudo which) { return seen_[static_cast<std::size_t>(which)]; };
    auto const& authority = pseudo(Pseudo::authority);
    if (!has(Pseudo::method) || !http::is_token(pseudo(Pseudo::method))) return "no valid :method";
    if (ends_authority(authority)) return "bad byte in :authority";
    if (has_host_ && has(Pseudo::authority) && !equals_ignoring_case(host_, authority)) return "Host differs from :authority";
    if (is_connect() && !has(Pseudo::protocol))
        return !has(Pseudo::authority) || has(Pseudo::scheme) || has(Pseudo::path) ? "CONNECT with other pseudo-fields" : nullptr;
    auto const& scheme = pseudo(Pseudo::scheme);
    if (!equals_ignoring_case(scheme, "http") && !equals_ignoring_case(scheme, "https")) return "neither http nor https";
    if (!has(Pseudo::authority) && !has_host_) return "no :authority";
    bool const asterisk = pseudo(Pseudo::path) == "*" && pseudo(Pseudo::method) == "OPTIONS";
    if (!pseudo(Pseudo::path).starts_with('/') && !asterisk) return "no path in :path";
    if (has(Pseudo::protocol) && pseudo(Pseudo::method) != "CONNECT") return ":protocol without CONNECT";
    return !end.body_follows && announces_body_ ? "Content-Length without a body" : nullptr;
}

/// OPTIONS for a server as a whole has no path in absolute-form (RFC 9112 3.2.4).
void RequestBuilder::append_target(std::string& text) const {
    auto const& authority = seen_[static_cast<std::size_t>(Pseudo::authority)] ? pseudo(Pseudo::authority) : host_;
    if (is_connect()) {
        text.append(authority);
    } else {
        text.append(pseudo(Pseudo::scheme)).append("://").append(authority);
        if (pseudo(Pseudo::path) != "*") text.append(pseudo(Pseudo::path));
    }
    text.append(" HTTP/1.1\r\n");
    append_line("Host", authority, text);
}

void RequestBuilder::write(End const& end, std::string& text) const {
    text.clear();
    text.append(is_websocket() ? std::string_view("GET") : pseudo(Pseudo::method)).append(" ");
    append_target(text);
    text.append(lines_);
    if (!cookie_.empty()) append_line("Cookie", cookie_, text);
    if (is_websocket()) {
        text.append("Connection: Upgrade\r\nUpgrade: websocket\r\n");
        append_line("Sec-WebSocket-Key", end.websocket_key, text);
    } else if (end.body_follows && !has_length_ && !is_connect()) {
        text.append("Transfer-Encoding: chunked\r\n");
    }
    text.append("\r\n");
}

http::HeadParse RequestBuilder::finish(End const& end, std::string& text, http::RequestHead& head) {
    if (!refusal_)
        if (auto const* fault = fault_of_pseudos(end)) refuse(400, fault);
    if (seen_[static_cast<std::size_t>(Pseudo::protocol)] && !is_websocket()) refuse(501, "unknown :protocol");
    if (refusal_) return refused(text, head);
    write(end, text);
    // The sizes were judged in the form in which the fields came; the text has other ones.
    auto limits = http::HeadLimits::none();
    limits.target = limits_.target;
    std::size_t scanned = 0;
    auto const parsed = http::parse_request_head(text, limits, scanned, head);
    bool const whole = parsed.kind == http::HeadParse::Kind::complete && parsed.bytes == text.size();
    if (parsed.kind != http::HeadParse::Kind::refused && !whole) refuse(400, "malformed head");
    if (parsed.kind == http::HeadParse::Kind::refused) refuse(parsed.status, parsed.refusal);
    return refusal_ ? refused(text, head) : parsed;
}

http::HeadParse RequestBuilder::refused(std::string& text, http::RequestHead& head) const {
    head = {};
    make_empty(text);
    return {http::HeadParse::Kind::refused, 0, status_, refusal_};
}

void TrailerBuilder::begin() {
    section_.assign("0\r\n");
    refusal_ = nullptr;
}

void TrailerBuilder::add(std::string_view name, std::string_view value) {
    if (refusal_) return;
    if (section_.size() + name.size() + value.size() > trailer_bytes) refusal_ = "trailer section too large";
    if (!refusal_) refusal_ = fault_of_line(name, value);
    if (!refusal_) append_line(name, value, section_);
}

char const* TrailerBuilder::finish(std::string& trailers) {
    if (refusal_) return refusal_;
    http::BodyDecoder decoder({.kind = http::Framing::Kind::chunked});
    decoder.step(section_.append("\r\n"));
    make_empty(section_);
    if (!decoder.done()) return decoder.refusal() ? decoder.refusal() : "malformed trailers";
    trailers = decoder.trailers();
    return nullptr;
}

}   // namespace garner::h2
