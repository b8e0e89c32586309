#include "icp/htcp.hpp"

#include <cmath>
#include <cstdlib>

#include "http/message.hpp"
#include "util/big_endian.hpp"
#include "util/numbers.hpp"
#include "util/text.hpp"

namespace garner::icp::htcp {

namespace {

constexpr std::size_t data_fixed = 8;    // LENGTH, codes, flags, TRANS-ID
constexpr std::uint8_t minor_sent = 1;   // Squid reads minor version 0 in an older bit order
constexpr std::uint8_t flag_rr = 1, flag_f1 = 2;

/// Reads from the front of the remaining bytes; false, and nothing is read, when they are too few.
class Taker {
public:
    explicit Taker(std::string_view bytes) : left_(bytes) {}

    bool bytes(std::size_t count, std::string_view& out) {
        if (left_.size() < count) return false;
        out = left_.substr(0, count);
        left_.remove_prefix(count);
        return true;
    }
    template <class Number>
    bool number(Number& out) {
        std::string_view taken;
        if (!bytes(sizeof(Number), taken)) return false;
        out = read_big_endian<Number>(taken);
        return true;
    }
    /// COUNTSTR (3.1).
    bool text(std::string_view& out) {
        auto const before = left_;
        std::uint16_t length = 0;
        if (number(length) && bytes(length, out)) return true;
        left_ = before;
        return false;
    }
    /// A section whose LENGTH includes itself: `out` is the whole section.
    bool section(std::size_t at_least, std::string_view& out) {
        std::uint16_t length = 0;
        auto peek = *this;
        return peek.number(length) && length >= at_least && bytes(length, out);
    }
    bool empty() const { return left_.empty(); }

private:
    std::string_view left_;
};

bool take_specifier(Taker& taker, Specifier& out) {
    return taker.text(out.method) && taker.text(out.uri) && taker.text(out.version) && taker.text(out.fields);
}

bool take_detail(Taker& taker, bool hit, Detail& out) {
    if (!hit && taker.empty()) return true;
    if (!taker.text(out.response)) return false;
    bool const cache_only = !hit && taker.empty();
    if (cache_only) {
        std::swap(out.response, out.cache);
        return true;
    }
    return taker.text(out.entity) && taker.text(out.cache);
}

char const* parse_operation(Taker& taker, Message& message) {
    switch (message.opcode) {
    case Opcode::tst:
        if (!message.is_response) return take_specifier(taker, message.specifier) ? nullptr : "bad SPECIFIER";
        if (message.flag) return nullptr;
        return take_detail(taker, message.code == response::done, message.detail) ? nullptr : "bad DETAIL";
    case Opcode::clr: {
        if (message.is_response) return nullptr;
        std::uint16_t reason = 0;
        if (!taker.number(reason)) return "CLR without REASON";
        return take_specifier(taker, message.specifier) ? nullptr : "bad SPECIFIER";
    }
    case Opcode::nop:
    case Opcode::mon:
    case Opcode::set: break;
    }
    return nullptr;
}

char const* parse_data(std::string_view data, Message& message) {
    Taker taker(data.substr(2));
    std::uint8_t codes = 0, flags = 0;
    taker.number(codes);
    taker.number(flags);
    taker.number(message.number);
    if (codes >> 4 > static_cast<int>(Opcode::clr)) return "unknown OPCODE";
    message.opcode = static_cast<Opcode>(codes >> 4);
    message.code = codes & 0xf;
    message.is_response = flags & flag_rr;
    message.flag = flags & flag_f1;
    message.data = data;
    return parse_operation(taker, message);
}

char const* parse_auth(std::string_view section, Message& message) {
    if (section.size() == auth_absent) return nullptr;
    Taker taker(section.substr(2));
    Auth auth;
    bool const whole =
        taker.number(auth.time) && taker.number(auth.expires) && taker.text(auth.key_name) && taker.text(auth.signature);
    if (!whole) return "bad AUTH";
    message.auth = auth;
    return nullptr;
}

// ---- writing ----

std::string begin(std::uint8_t minor, Opcode opcode, std::uint8_t code, std::uint8_t flags, std::uint32_t number) {
    std::string out(header_size + 2, '\0');   // the lengths are written at the end
    out[3] = static_cast<char>(minor);
    out += static_cast<char>(static_cast<std::uint8_t>(opcode) << 4 | code);
    out += static_cast<char>(flags);
    append_big_endian(number, out);
    return out;
}

std::string end_data(std::string out) {
    write_big_endian(static_cast<std::uint16_t>(out.size() - header_size), out, header_size);
    return out;
}

std::string request(Opcode opcode, std::uint32_t number, std::string_view url) {
    if (url.size() > url_max) return {};
    auto out = begin(minor_sent, opcode, 0, flag_f1, number);
    if (opcode == Opcode::clr) append_big_endian(std::uint16_t{0}, out);   // no special reason
    put_text(out, "GET");
    put_text(out, url);
    put_text(out, "HTTP/1.1");
    put_text(out, "");
    return end_data(std::move(out));
}

std::string response_to(Message const& request, std::uint8_t code, std::uint8_t flags) {
    return begin(request.minor, request.opcode, code, flag_rr | flags, request.number);
}

// ---- values in headers ----

/// Seconds with a decimal point.
std::optional<milliseconds> parse_seconds(std::string_view text) {
    if (text.find('.') == text.npos || text.size() > 16) return std::nullopt;
    if (text.find_first_not_of("0123456789.") != text.npos) return std::nullopt;
    auto const value = std::strtod(std::string(text).c_str(), nullptr);
    if (value > 3600) return std::nullopt;
    return milliseconds(std::llround(value * 1000));
}

/// The RFC puts the time before the number of samples, Squid after it; the number with a decimal point is the time.
std::optional<milliseconds> rtt_of(std::string_view cache_to_origin) {
    std::optional<milliseconds> rtt;
    unsigned word = 0;
    while (!cache_to_origin.empty() && word < 3) {
        auto const text = cache_to_origin.substr(0, cache_to_origin.find(' '));
        cache_to_origin.remove_prefix(std::min(text.size() + 1, cache_to_origin.size()));
        bool const after_host = word++ > 0;
        if (after_host && !rtt) rtt = parse_seconds(text);
    }
    return rtt;
}

}   // namespace

char const* parse(std::string_view datagram, Message& message) {
    message = {};
    Taker taker(datagram);
    std::uint16_t length = 0;
    std::uint8_t major = 0;
    bool const header = taker.number(length) && taker.number(major) && taker.number(message.minor);
    if (!header) return "shorter than a HEADER";
    if (length != datagram.size()) return "LENGTH does not match the datagram";
    if (major != 0) return "unknown MAJOR version";
    if (message.minor > minor_sent) return "unknown MINOR version";
    std::string_view data, auth;
    if (!taker.section(data_fixed, data)) return "DATA does not fit";
    if (!taker.section(auth_absent, auth)) return "AUTH does not fit";
    if (auto const* fault = parse_data(data, message)) return fault;
    return parse_auth(auth, message);
}

News news_of(Detail const& detail) {
    std::string head;   // without a first line, which field_in() skips
    for (auto const lines : {detail.response, detail.entity, detail.cache}) head.append("\r\n").append(lines);
    auto const number = [&](std::string_view name) {
        auto const value = parse_decimal(http::field_in(head, name));
        return value && *value <= INT64_MAX ? value : std::nullopt;
    };
    News news{.size = number("Content-Length"), .source_rtt = rtt_of(http::field_in(head, "Cache-to-Origin"))};
    if (auto const age = number("Age")) news.age = static_cast<std::int64_t>(*age);
    return news;
}

std::string cache_to_origin(std::string_view host, milliseconds rtt) {
    auto const seconds_text = with_decimals(static_cast<double>(rtt.count()) / 1000, 6);
    return "Cache-to-Origin: " + std::string(host) + " 1 " + seconds_text + " 0\r\n";
}

std::string tst_request(std::uint32_t number, std::string_view url) { return request(Opcode::tst, number, url); }

std::string clr_request(std::uint32_t number, std::string_view url) { return request(Opcode::clr, number, url); }

std::string answer(Message const& request, std::uint8_t code) { return end_data(response_to(request, code, 0)); }

std::string refusal(Message const& request, Refusal refusal) {
    return end_data(response_to(request, static_cast<std::uint8_t>(refusal), flag_f1));
}

std::string tst_answer(Message const& request, bool hit, Detail const& detail) {
    auto out = response_to(request, hit ? response::done : response::not_here, 0);
    put_text(out, detail.response);
    put_text(out, detail.entity);
    put_text(out, detail.cache);
    return end_data(std::move(out));
}

void finish(std::string& message) { write_big_endian(static_cast<std::uint16_t>(message.size()), message, 0); }

void put_text(std::string& out, std::string_view text) {
    append_big_endian(static_cast<std::uint16_t>(text.size()), out);
    out += text;
}

}   // namespace garner::icp::htcp
