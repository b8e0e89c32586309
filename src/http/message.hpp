// Heads of HTTP/1 messages (RFC 9112): parsed as views into the received bytes, and refused when in doubt.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/recycled_memory.hpp"
#include "util/text.hpp"

namespace garner::http {

/// Field names that this proxy knows (RFC 9110 and those it refers to). `other` is every other name.
enum class Name : std::uint8_t {
    other,
    accept,
    accept_encoding,
    accept_language,
    age,
    authorization,
    cache_control,
    cache_status,
    connection,
    content_encoding,
    content_length,
    content_location,
    content_range,
    content_type,
    cookie,
    date,
    etag,
    expect,
    expires,
    forwarded,
    garner_admin,
    host,
    http2_settings,
    if_match,
    if_modified_since,
    if_none_match,
    if_range,
    if_unmodified_since,
    keep_alive,
    last_modified,
    location,
    max_forwards,
    origin,
    pragma,
    proxy_authenticate,
    proxy_authentication_info,
    proxy_authorization,
    proxy_connection,
    range,
    set_cookie,
    te,
    trailer,
    transfer_encoding,
    upgrade,
    vary,
    via,
    warning,
    x_forwarded_for,
    count_
};
static_assert(static_cast<int>(Name::count_) <= 64, "Fields keeps one presence bit per name");

/// The known name with this text, in any case. O(1), no allocation.
Name name_of(std::string_view text);

struct Field {
    std::string_view name;
    std::string_view value;   // without white space at its ends
    Name id = Name::other;
};

/// The field lines of one message, in order. Views: valid as long as the parsed bytes. clear() keeps the capacity, so that
/// a reused Fields allocates nothing.
class Fields {
public:
    void clear() {
        lines_.clear();
        present_ = 0;
    }
    void add(std::string_view name, std::string_view value) { add(Field{name, value, name_of(name)}); }
    void add(Field field) {
        present_ |= bit(field.id);
        lines_.push_back(field);
    }

    /// O(1). Must not be called with Name::other.
    bool has(Name id) const { return (present_ & bit(id)) != 0; }
    /// The first line's value, or an empty view when the field is absent.
    std::string_view first(Name id) const;
    /// First line of any name, known or not, in any case; nullptr when absent.
    Field const* find(std::string_view name) const;
    /// The number of lines with this name.
    std::size_t count(Name id) const;

    /// Like clear(), but frees the memory of more lines than usual.
    void drop_large() {
        constexpr std::size_t usual = 32;
        clear();
        if (lines_.capacity() > usual) Lines().swap(lines_);
    }

    /// Reserves space for this many lines, so that adding them allocates once.
    void reserve(std::size_t lines) { lines_.reserve(lines); }
    std::size_t size() const { return lines_.size(); }
    bool empty() const { return lines_.empty(); }
    auto begin() const { return lines_.begin(); }
    auto end() const { return lines_.end(); }

private:
    static constexpr std::uint64_t bit(Name id) { return std::uint64_t{1} << static_cast<unsigned>(id); }
    using Lines = std::vector<Field, RecyclingAllocator<Field>>;
    Lines lines_;
    std::uint64_t present_ = 0;
};

/// Calls `use(part)` for each part of a list between commas outside quoted strings, trimmed.
template <class Use>
void for_each_part(std::string_view list, Use&& use) {
    if (list.find(',') == npos) {   // most lists
        use(trim(list));
        return;
    }
    std::size_t begin = 0;
    bool quoted = false;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (quoted && list[i] == '\\')
            ++i;
        else if (list[i] == '"')
            quoted = !quoted;
        else if (list[i] == ',' && !quoted) {
            use(trim(list.substr(begin, i - begin)));
            begin = i + 1;
        }
    }
    use(trim(list.substr(begin)));
}

/// Calls it only for non-empty parts: the members of the list (RFC 9110 5.6.1).
template <class Use>
void for_each_member(std::string_view list, Use&& use) {
    for_each_part(list, [&](std::string_view part) {
        if (!part.empty()) use(part);
    });
}

/// Calls it for all lines of the field.
template <class Use>
void for_each_member(Fields const& fields, Name id, Use&& use) {
    if (!fields.has(id)) return;
    for (Field const& field : fields)
        if (field.id == id) for_each_member(field.value, use);
}

/// Known methods; `other` is any other valid token (an unknown method counts as unsafe).
enum class Method : std::uint8_t { get, head, post, put, delete_, options, trace, connect, patch, purge, other };
Method method_of(std::string_view token);
/// RFC 9110 9.2.1.
bool is_safe(Method);
/// RFC 9110 9.2.2.
bool is_idempotent(Method);

enum class Version : std::uint8_t { http_1_0, http_1_1 };

struct RequestHead {
    Method method = Method::get;
    std::string_view method_text;
    std::string_view target;
    Version version = Version::http_1_1;
    Fields fields;
};

struct ResponseHead {
    Version version = Version::http_1_1;
    std::uint16_t status = 0;
    std::string_view reason;
    Fields fields;
};

struct HeadLimits {
    std::size_t bytes = 64 * 1024;    // the whole head, including start line and blank line
    std::size_t fields = 256;         // field lines
    std::size_t target = 16 * 1024;   // the request target

    /// For heads that were checked against the limits on arrival.
    static constexpr HeadLimits none() { return {SIZE_MAX, SIZE_MAX, SIZE_MAX}; }
};

/// The result of a parser. `refusal` is a literal that names the error, for the log and the error page.
struct HeadParse {
    enum class Kind : std::uint8_t { complete, incomplete, refused };
    Kind kind = Kind::incomplete;
    std::size_t bytes = 0;           // complete: the head's length, including the blank line
    std::uint16_t status = 400;      // refused: the status for the client: 400, 407, 414, 431, 501, 505; for a response 502
    char const* refusal = nullptr;   // refused: e.g. "bare LF in head"
};

/// Parses the head at the start of `bytes`. `scanned` keeps the position of the search for the end between calls on a
/// growing buffer that begins with the same bytes; start it at 0. The views in `head` point into `bytes`. Strict (RFC 9112
/// 2.2, 3, 5): CRLF only, one space in the start line, no obs-fold, no white space before the colon, no control bytes, NUL
/// or bare CR; names are tokens; values are visible bytes, SP, HTAB and obs-text. At most two empty lines before a request
/// line are skipped. Pure; allocates only when `head.fields` grows.
HeadParse parse_request_head(std::string_view bytes, HeadLimits const&, std::size_t& scanned, RequestHead& head);
HeadParse parse_response_head(std::string_view bytes, HeadLimits const&, std::size_t& scanned, ResponseHead& head);

/// Reads a response head that this cache has written itself, with its blank line: without limits; a `check` enforces that
/// it parses. The views in `head` point into `text`.
void read_stored_head(std::string_view text, ResponseHead& head);

/// Parses one field line, given without its CRLF, as strictly as the head parsers: nullptr, or a literal that names the
/// error. The views in `field` point into `line`.
char const* parse_field_line(std::string_view line, Field& field);

/// tchar+ (RFC 9110 5.6.2).
bool is_token(std::string_view);

/// The value of a field in the text of a head whose lines end with CRLF; empty when absent. Costs one pass.
std::string_view field_in(std::string_view head, std::string_view name);

}   // namespace garner::http
