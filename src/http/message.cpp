#include "http/message.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "util/check.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

/// A method longer than this is answered 501 (RFC 9112 3); the longest registered one has 17 bytes.
constexpr std::size_t longest_method = 64;
/// Empty lines before a request line that are skipped (RFC 9112 2.2), in bytes.
constexpr std::size_t empty_lines_bytes = 2 * 2;

struct SyntaxError {
    char const* refusal = nullptr;
    std::uint16_t status = 400;
};

constexpr bool is_tchar(char c) {
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
    return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != npos;
}

/// tchars in lower case; 0 for every other byte. One table access both validates and folds a name's byte.
constexpr auto folded_tchar = [] {
    std::array<char, 256> table{};
    for (int c = 0; c < 256; ++c)
        if (is_tchar(static_cast<char>(c))) table[static_cast<std::size_t>(c)] = to_lower(static_cast<char>(c));
    return table;
}();

constexpr char folded(char c) { return folded_tchar[static_cast<unsigned char>(c)]; }

constexpr bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

/// True when one of eight bytes is a control byte, HTAB and DEL included.
bool has_control(std::uint64_t word) {
    constexpr std::uint64_t each = 0x0101010101010101;
    auto below_space = (word - each * 0x20) & ~word;
    auto del = word ^ (each * 0x7f);
    auto is_del = (del - each) & ~del;
    return ((below_space | is_del) & (each * 0x80)) != 0;
}

#if defined(__SSE2__)
__m128i sixteen_at(char const* text) { return _mm_loadu_si128(reinterpret_cast<__m128i const*>(text)); }

/// One bit for each of sixteen bytes: whether it is `c`.
unsigned bits_of(__m128i bytes, char c) {
    return static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c))));
}

/// One bit for each of sixteen bytes: whether it is a control byte, HTAB and DEL included.
unsigned control_bits(__m128i bytes) {
    auto const below_space = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
    return static_cast<unsigned>(_mm_movemask_epi8(below_space)) | bits_of(bytes, 0x7f);
}
#endif

enum class Tabs : bool { refused, allowed };

/// Eight bytes of `text`.
std::uint64_t word_at(char const* text) {
    std::uint64_t word = 0;
    std::memcpy(&word, text, sizeof word);
    return word;
}

/// True when `text` may have a control byte. Checks many bytes at a time, because values are most of a head.
bool may_have_control(std::string_view text) {
    if (text.size() < 8) return std::ranges::any_of(text, is_control);
#if defined(__SSE2__)
    if (text.size() >= 16) {
        auto const* const last = text.data() + text.size() - 16;   // may overlap the bytes before
        for (auto const* at = text.data(); at < last; at += 16)
            if (control_bits(sixteen_at(at)) != 0) return true;
        return control_bits(sixteen_at(last)) != 0;
    }
#endif
    auto const* const last = text.data() + text.size() - 8;   // may overlap the eight bytes before
    for (auto const* at = text.data(); at < last; at += 8)
        if (has_control(word_at(at))) return true;
    return has_control(word_at(last));
}

/// The first control byte of `text`, or npos.
std::size_t find_control(std::string_view text, Tabs tabs) {
    if (!may_have_control(text)) return npos;
    auto const is_meant = [&](char c) { return is_control(c) && !(c == '\t' && tabs == Tabs::allowed); };
    auto const found = std::ranges::find_if(text, is_meant);
    return found == text.end() ? npos : static_cast<std::size_t>(found - text.begin());
}

/// The index of the first control byte but HTAB from `at` on; the size if there is none. `at` is at most the size.
std::size_t find_line_control(std::string_view text, std::size_t at) {
#if defined(__SSE2__)
    if (text.size() >= 16) {
        auto const controls = [&](std::size_t from) {
            auto const bytes = sixteen_at(text.data() + from);
            return control_bits(bytes) & ~bits_of(bytes, '\t');
        };
        auto const last = text.size() - 16;
        for (; at <= last; at += 16)
            if (auto const found = controls(at)) return at + static_cast<std::size_t>(std::countr_zero(found));
        auto const found = controls(last) >> (at - last);   // without the bytes before `at`
        return found != 0 ? at + static_cast<std::size_t>(std::countr_zero(found)) : text.size();
    }
#endif
    while (at < text.size() && (!is_control(text[at]) || text[at] == '\t')) ++at;
    return at;
}

struct LineEnd {
    std::size_t newline = npos;   // npos: the line is incomplete
    bool is_clean = false;        // the line is known to end with CRLF, and to have no other control byte but HTAB
};
/// One pass over a valid line finds both.
LineEnd end_of_line(std::string_view text, std::size_t begin) {
    auto const at = find_line_control(text, begin);
    if (text.substr(at, 2) == "\r\n") return {at + 1, true};
    return {text.find('\n', at), false};
}

/// Like line.find(':'), faster for names of up to fifteen bytes.
std::size_t find_colon(std::string_view line) {
#if defined(__SSE2__)
    if (line.size() >= 16)
        if (auto const found = bits_of(sixteen_at(line.data()), ':')) return static_cast<std::size_t>(std::countr_zero(found));
#endif
    return line.find(':');
}

// clang-format off
/// In the order of Name.
constexpr std::array<std::string_view, static_cast<std::size_t>(Name::count_)> known_names{
    "", "accept", "accept-encoding", "accept-language", "age", "authorization", "cache-control", "cache-status", "connection",
    "content-encoding", "content-length", "content-location", "content-range", "content-type", "cookie", "date", "etag",
    "expect", "expires", "forwarded", "garner-admin", "host", "http2-settings", "if-match", "if-modified-since",
    "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "last-modified", "location", "max-forwards", "origin",
    "pragma", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization", "proxy-connection", "range",
    "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "vary", "via", "warning", "x-forwarded-for"};
// clang-format on
static_assert(known_names[static_cast<std::size_t>(Name::x_forwarded_for)] == "x-forwarded-for");

/// For each byte of a known name the bit that differs between upper and lower case; 0 where it is no letter.
using CaseBits = std::array<char, 32>;

constexpr auto case_bits = [] {
    std::array<CaseBits, known_names.size()> table{};
    for (std::size_t i = 0; i < table.size(); ++i)
        for (std::size_t at = 0; at < known_names[i].size(); ++at) table[i][at] = is_alpha(known_names[i][at]) ? 0x20 : 0;
    return table;
}();

constexpr std::uint8_t hash_of(std::size_t size, char first, char last) {
    return static_cast<std::uint8_t>(13 * size + 2 * static_cast<unsigned char>(first) + static_cast<unsigned char>(last));
}

/// The only known name of each hash. If a new name collides, compilation fails: hash_of then needs other factors.
constexpr auto names_by_hash = [] {
    std::array<std::uint8_t, 256> table{};
    for (std::size_t i = 1; i < known_names.size(); ++i) {
        auto& entry = table[hash_of(known_names[i].size(), known_names[i].front(), known_names[i].back())];
        if (entry != 0) throw "two names have one hash";
        entry = static_cast<std::uint8_t>(i);
    }
    return table;
}();

/// True if `text` is this known name in any case. Compares eight bytes at a time; the last eight may overlap those before.
bool is_name(std::string_view text, std::size_t candidate) {
    auto const known = known_names[candidate];
    auto const& bits = case_bits[candidate];
    if (text.size() != known.size()) return false;
    if (text.size() < 8) return equals_ignoring_case(text, known);
    auto const same_at = [&](std::size_t at) {
        return (word_at(text.data() + at) | word_at(bits.data() + at)) == word_at(known.data() + at);
    };
    for (std::size_t at = 0; at + 8 < text.size(); at += 8)
        if (!same_at(at)) return false;
    return same_at(text.size() - 8);
}

/// The error at the end of a field line's name, at index `at`.
char const* name_fault(std::string_view line, std::size_t at) {
    auto is_blank = [](char c) { return c == ' ' || c == '\t'; };
    if (is_blank(line.front())) return "folded field line";
    if (line.find(':') == npos) return "no colon in field line";
    if (line[at] == ':') return "empty field name";
    if (is_blank(line[at])) return "white space before colon";
    return "bad byte in field name";
}

char const* control_fault(char c) {
    if (c == '\0') return "NUL in head";
    if (c == '\r') return "bare CR in head";
    return "control byte in head";
}

/// "HTTP/1.1" and similar, exactly (RFC 9112 2.3).
SyntaxError parse_version(std::string_view text, Version& version) {
    if (text.size() != 8 || !text.starts_with("HTTP/") || !is_digit(text[5]) || text[6] != '.' || !is_digit(text[7]))
        return {"malformed version"};
    if (text[5] != '1') return {"version is not HTTP/1", 505};
    // A higher minor version is compatible with 1.1 (RFC 9110 2.5).
    version = text[7] == '0' ? Version::http_1_0 : Version::http_1_1;
    return {};
}

/// Checks the start line received so far, so that a line that is too long is refused before its end.
SyntaxError overlong(RequestHead const&, std::string_view line, HeadLimits const& limits) {
    if (line.size() <= longest_method && line.size() <= limits.target) return {};
    auto space = line.substr(0, longest_method + 1).find(' ');
    if (space == npos) return line.size() > longest_method ? SyntaxError{"method too long", 501} : SyntaxError{};
    if (line.size() - space <= limits.target) return {};
    auto target = line.substr(space + 1);
    return target.substr(0, limits.target + 1).find(' ') == npos && target.size() > limits.target
               ? SyntaxError{"target too long", 414}
               : SyntaxError{};
}

SyntaxError overlong(ResponseHead const&, std::string_view, HeadLimits const&) { return {}; }

SyntaxError parse_start_line(std::string_view line, RequestHead& head) {
    auto first = line.find(' ');
    if (first == 0) return {"white space before request line"};
    if (line.empty()) return {"empty request line"};
    head.method_text = line.substr(0, first);
    if (!is_token(head.method_text)) return {"bad byte in method"};
    auto second = first == npos ? npos : line.find(' ', first + 1);
    if (second == npos) return {"no version in request line"};
    head.method = method_of(head.method_text);
    head.target = line.substr(first + 1, second - first - 1);
    if (head.target.empty()) return {"more than one space in request line"};
    if (find_control(head.target, Tabs::refused) != npos) return {"control byte in target"};
    auto const version = line.substr(second + 1);
    auto const fault = parse_version(version, head.version);
    if (fault.refusal && version.find(' ') != npos) return {"more than one space in request line"};
    return fault;
}

/// The space before an empty reason may be missing: several servers leave it out, and nothing depends on it.
SyntaxError parse_start_line(std::string_view line, ResponseHead& head) {
    if (auto fault = parse_version(line.substr(0, 8), head.version); fault.refusal) return fault;
    auto rest = line.substr(8);
    if (rest.size() < 4 || rest[0] != ' ') return {"malformed status line"};
    auto status = parse_decimal(rest.substr(1, 3));
    if (!status || *status < 100) return {"malformed status"};
    if (rest.size() > 4 && rest[4] != ' ') return {"malformed status"};
    head.status = static_cast<std::uint16_t>(*status);
    head.reason = rest.size() > 4 ? rest.substr(5) : std::string_view{};
    if (auto at = find_control(head.reason, Tabs::allowed); at != npos) return {control_fault(head.reason[at])};
    return {};
}

/// `is_clean`: see LineEnd.
char const* parse_line(std::string_view line, bool is_clean, Field& field) {
    if (line.empty()) return "no colon in field line";
    auto const colon = find_colon(line);
    field.name = line.substr(0, colon);
    field.id = name_of(field.name);
    if (field.id == Name::other || colon == npos) {   // a known name is a token
        auto const name_end = static_cast<std::size_t>(std::ranges::find(line, 0, folded) - line.begin());
        if (name_end == 0 || name_end != colon) return name_fault(line, name_end);
    }
    field.value = trim(line.substr(colon + 1));
    if (is_clean) return nullptr;
    auto const at = find_control(field.value, Tabs::allowed);
    return at == npos ? nullptr : control_fault(field.value[at]);
}

SyntaxError parse_field(std::string_view line, bool is_clean, Fields& fields, HeadLimits const& limits) {
    if (fields.size() >= limits.fields) return {"too many fields", 431};
    Field field;
    if (auto refusal = parse_line(line, is_clean, field)) return {refusal};
    fields.add(field);
    return {};
}

constexpr std::size_t skippable(RequestHead const&) { return empty_lines_bytes; }
constexpr std::size_t skippable(ResponseHead const&) { return 0; }

constexpr std::uint16_t answer(RequestHead const&, SyntaxError fault) { return fault.status; }
constexpr std::uint16_t answer(ResponseHead const&, SyntaxError) { return 502; }

template <class Head>
HeadParse refused(Head const& head, SyntaxError fault) {
    return {HeadParse::Kind::refused, 0, answer(head, fault), fault.refusal};
}

/// The client must not delete cookies to get its login through.
SyntaxError too_large(std::string_view text) {
    constexpr std::string_view login = "proxy-authorization:";
    auto const last_line = text.substr(text.rfind('\n') + 1);
    if (equals_ignoring_case(last_line.substr(0, login.size()), login)) return {"Proxy-Authorization exceeds limits.head_max", 407};
    return {"head too large", 431};
}

/// `text` ends inside a line: an error only if a limit is already exceeded.
template <class Head>
HeadParse unfinished(std::string_view text, HeadLimits const& limits, Head const& head) {
    std::size_t start = 0;
    while (start < skippable(head) && text.substr(start, 2) == "\r\n") start += 2;
    if (text.find('\n', start) == npos)
        if (auto fault = overlong(head, text.substr(start), limits); fault.refusal) return refused(head, fault);
    if (text.size() >= limits.bytes) return refused(head, too_large(text));
    return {};
}

/// One pass over the complete lines. A head that arrives in pieces is checked line by line. When the last line is there,
/// the head is parsed again from its beginning, because the buffer may have moved; until then `head.fields` only counts.
template <class Head>
HeadParse parse_head(std::string_view bytes, HeadLimits const& limits, std::size_t& scanned, Head& head) {
    auto text = bytes.substr(0, limits.bytes);
    bool const resumed = scanned > 0;
    if (!resumed) head.fields.clear();
    auto end = resumed ? LineEnd{text.find('\n', scanned), false} : end_of_line(text, 0);
    std::size_t begin = resumed && end.newline != npos ? text.rfind('\n', scanned - 1) + 1 : 0;
    for (; end.newline != npos; begin = end.newline + 1, end = end_of_line(text, begin)) {
        auto const newline = end.newline;
        // A start line is longer than the skippable bytes, so no later line can begin here.
        bool const start_line = begin <= skippable(head);
        if (start_line)
            if (auto fault = overlong(head, text.substr(begin, newline - begin), limits); fault.refusal)
                return refused(head, fault);
        if (newline == begin || text[newline - 1] != '\r') return refused(head, {"bare LF in head"});
        auto line = text.substr(begin, newline - 1 - begin);
        if (start_line) {
            if (line.empty() && begin < skippable(head)) continue;
            if (auto fault = parse_start_line(line, head); fault.refusal) return refused(head, fault);
        } else if (!line.empty()) {
            if (auto fault = parse_field(line, end.is_clean, head.fields, limits); fault.refusal) return refused(head, fault);
        } else {
            scanned = 0;
            if (resumed) return parse_head(bytes, limits, scanned, head);
            return {HeadParse::Kind::complete, newline + 1};
        }
    }
    scanned = text.size();
    return unfinished(text, limits, head);
}

}   // namespace

HeadParse parse_request_head(std::string_view bytes, HeadLimits const& limits, std::size_t& scanned, RequestHead& head) {
    return parse_head(bytes, limits, scanned, head);
}

HeadParse parse_response_head(std::string_view bytes, HeadLimits const& limits, std::size_t& scanned, ResponseHead& head) {
    return parse_head(bytes, limits, scanned, head);
}

void read_stored_head(std::string_view text, ResponseHead& head) {
    std::size_t scanned = 0;
    auto parsed = parse_response_head(text, HeadLimits::none(), scanned, head);
    check(parsed.kind == HeadParse::Kind::complete);
}

char const* parse_field_line(std::string_view line, Field& field) { return parse_line(line, false, field); }

Name name_of(std::string_view text) {
    if (text.empty()) return Name::other;
    auto const candidate = names_by_hash[hash_of(text.size(), folded(text.front()), folded(text.back()))];
    return is_name(text, candidate) ? static_cast<Name>(candidate) : Name::other;
}

std::string_view Fields::first(Name id) const {
    if (has(id))
        for (Field const& field : lines_)
            if (field.id == id) return field.value;
    return {};
}

Field const* Fields::find(std::string_view name) const {
    auto id = name_of(name);
    if (!has(id)) return nullptr;
    for (Field const& field : lines_)
        if (field.id == id && (id != Name::other || equals_ignoring_case(field.name, name))) return &field;
    return nullptr;
}

std::size_t Fields::count(Name id) const {
    std::size_t lines = 0;
    if (has(id))
        for (Field const& field : lines_) lines += field.id == id;
    return lines;
}

Method method_of(std::string_view token) {
    switch (token.size()) {
    case 3:
        if (token == "GET") return Method::get;
        if (token == "PUT") return Method::put;
        break;
    case 4:
        if (token == "HEAD") return Method::head;
        if (token == "POST") return Method::post;
        break;
    case 5:
        if (token == "PATCH") return Method::patch;
        if (token == "PURGE") return Method::purge;
        if (token == "TRACE") return Method::trace;
        break;
    case 6:
        if (token == "DELETE") return Method::delete_;
        break;
    case 7:
        if (token == "CONNECT") return Method::connect;
        if (token == "OPTIONS") return Method::options;
        break;
    default: break;
    }
    return Method::other;
}

bool is_safe(Method method) {
    return method == Method::get || method == Method::head || method == Method::options || method == Method::trace;
}

bool is_idempotent(Method method) { return is_safe(method) || method == Method::put || method == Method::delete_; }

bool is_token(std::string_view text) {
    for (char c : text)
        if (folded(c) == 0) return false;
    return !text.empty();
}

std::string_view field_in(std::string_view head, std::string_view name) {
    for (auto at = head.find('\n'); at != head.npos; at = head.find('\n', at + 1)) {
        auto const line = head.substr(at + 1);
        bool const is_long_enough = line.size() > name.size() && line[name.size()] == ':';
        if (!is_long_enough || !equals_ignoring_case(line.substr(0, name.size()), name)) continue;
        auto const value = line.substr(name.size() + 1);
        return trim(value.substr(0, value.find_first_of("\r\n")));
    }
    return {};
}

}   // namespace garner::http
