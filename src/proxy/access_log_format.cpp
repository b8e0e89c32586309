#include "proxy/access_log_format.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>

#include "util/utf8.hpp"

namespace garner::proxy {
namespace {

constexpr std::array<std::string_view, static_cast<std::size_t>(ResultTag::count_)> tag_names{
    "NONE_NONE",
    "TCP_HIT",
    "TCP_MEM_HIT",
    "TCP_NEGATIVE_HIT",
    "TCP_OFFLINE_HIT",
    "TCP_IMS_HIT",
    "TCP_INM_HIT",
    "TCP_CF_HIT",
    "TCP_MISS",
    "TCP_CF_MISS",
    "TCP_REFRESH_UNMODIFIED",
    "TCP_REFRESH_MODIFIED",
    "TCP_REFRESH_FAIL_OLD",
    "TCP_REFRESH_FAIL_ERR",
    "TCP_CLIENT_REFRESH_MISS",
    "TCP_DENIED",
    "TCP_TUNNEL",
};
static_assert(!tag_names.back().empty());

// Sixteen text fields, and the bytes between them.
static_assert(LogFieldLimits::url + LogFieldLimits::referer + LogFieldLimits::user_agent + LogFieldLimits::cache_status +
                  12 * LogFieldLimits::other + 1 * KiB <
              std::tuple_size_v<LineBuffer>);

/// Bytes that a format writes without escaping.
using ByteSet = std::array<bool, 256>;

constexpr ByteSet printable_without(std::string_view others) {
    ByteSet set{};
    for (unsigned c = 0x21; c < 0x7f; ++c) set[c] = true;
    for (char c : others) set[static_cast<unsigned char>(c)] = false;
    return set;
}

constexpr ByteSet bare = printable_without("\"\\");
constexpr ByteSet quotable = [] {
    ByteSet set = bare;
    set[' '] = true;
    return set;
}();

/// Builds one line in a buffer that is large enough for any line.
class Line {
public:
    explicit Line(LineBuffer& buffer) : begin_(buffer.data()), at_(begin_), end_(begin_ + buffer.size()) {}

    std::string_view text() const { return {begin_, at_}; }

    /// For constant text: it is not escaped.
    Line& operator<<(std::string_view own) {
        std::memcpy(at_, own.data(), own.size());
        at_ += own.size();
        return *this;
    }

    Line& number(std::uint64_t value) {
        at_ = std::to_chars(at_, end_, value).ptr;
        return *this;
    }

    Line& padded(std::uint64_t value, std::size_t width, char with) {
        char digits[20];
        auto size = static_cast<std::size_t>(std::to_chars(digits, std::end(digits), value).ptr - digits);
        for (; width > size; --width) *at_++ = with;
        return *this << std::string_view(digits, size);
    }

    /// A field between spaces: bytes other than printable ASCII become %XX.
    Line& bare_field(std::string_view text, std::size_t limit = LogFieldLimits::other) { return field(text, limit, bare, "%"); }

    /// A field between quotes, as Apache escapes it: \" \\ \xhh.
    Line& quoted_field(std::string_view text, std::size_t limit) { return field(text, limit, quotable, "\\x"); }

    /// "name":"text", for JSON.
    Line& member(std::string_view name, std::string_view text, std::size_t limit = LogFieldLimits::other) {
        *this << ",\"" << name << "\":\"";
        char const* const stop = at_ + limit - longest_escape;
        while (!text.empty() && at_ <= stop) text.remove_prefix(json_character(text));
        return *this << "\"";
    }

private:
    static constexpr std::size_t longest_escape = 6;   // \u0000

    Line& field(std::string_view text, std::size_t limit, ByteSet const& plain, std::string_view escape) {
        if (text.empty()) return *this << "-";
        char const* const stop = at_ + limit - longest_escape;
        for (char c : text) {
            if (at_ > stop) break;
            if (plain[static_cast<unsigned char>(c)])
                *at_++ = c;
            else if (&plain == &quotable && (c == '"' || c == '\\'))
                *at_++ = '\\', *at_++ = c;
            else
                *this << escape, hex(c);
        }
        return *this;
    }

    /// Appends one character of a JSON string; returns how many bytes of the text it was.
    std::size_t json_character(std::string_view text) {
        char c = text.front();
        if (quotable[static_cast<unsigned char>(c)]) {
            *at_++ = c;
            return 1;
        }
        if (c == '"' || c == '\\') {
            *at_++ = '\\', *at_++ = c;
            return 1;
        }
        if (auto length = utf8_length(text)) {
            *this << text.substr(0, length);
            return length;
        }
        // Control characters, and bytes that are not valid UTF-8. They are written as Latin-1, so that no byte is lost.
        *this << "\\u00", hex(c);
        return 1;
    }

    void hex(char c) {
        constexpr char digits[] = "0123456789ABCDEF";
        auto byte = static_cast<unsigned char>(c);
        *at_++ = digits[byte >> 4];
        *at_++ = digits[byte & 15];
    }

    char* begin_;
    char* at_;
    char* end_;
};

/// A time split into its parts, in UTC. Times before 1970 count as 1970.
struct Moment {
    explicit Moment(WallTime time)
        : since_1970(std::max(time.time_since_epoch(), milliseconds(0))),
          date(std::chrono::floor<std::chrono::days>(WallTime(since_1970))), clock(since_1970 % std::chrono::days(1)) {}

    std::uint64_t seconds_since_1970() const { return static_cast<std::uint64_t>(since_1970.count()) / 1000; }
    std::uint64_t millis() const { return static_cast<std::uint64_t>(since_1970.count()) % 1000; }
    std::uint64_t year() const { return static_cast<std::uint64_t>(static_cast<int>(date.year())); }
    unsigned month() const { return static_cast<unsigned>(date.month()); }
    unsigned day() const { return static_cast<unsigned>(date.day()); }
    void put_clock(Line& line) const {
        line.padded(static_cast<std::uint64_t>(clock.hours().count()), 2, '0') << ":";
        line.padded(static_cast<std::uint64_t>(clock.minutes().count()), 2, '0') << ":";
        line.padded(static_cast<std::uint64_t>(clock.seconds().count()), 2, '0');
    }

    milliseconds since_1970;
    std::chrono::year_month_day date;
    std::chrono::hh_mm_ss<milliseconds> clock;
};

std::uint64_t elapsed_millis(LogEntry const& entry) {
    return static_cast<std::uint64_t>(std::max(entry.elapsed.count(), milliseconds::rep{0}));
}

void put_tag(Line& line, LogEntry const& entry) {
    line << name_of(entry.tag) << (entry.aborted ? "_ABORTED" : entry.truncated ? "_TRUNCATED" : "");
}

void put_hierarchy(Line& line, LogEntry const& entry) {
    line << (entry.peers_timed_out ? "TIMEOUT_" : "") << name_of(entry.hierarchy);
}

/// The media type without its parameters, as Squid logs it.
std::string_view media_type(std::string_view content_type) { return content_type.substr(0, content_type.find_first_of("; \t")); }

/// Squid's placeholder when there is no URL.
std::string_view in_place_of_url(LogEntry const& entry) {
    if (entry.tag != ResultTag::none || !entry.method.empty()) return {};
    return entry.status == 408 ? "error:transaction-end-before-headers" : "error:invalid-request";
}

/// %ts.%03tu %6tr %>a %Ss/%03>Hs %<st %rm %ru %[un %Sh/%<a %mt
void squid_line(Line& line, LogEntry const& entry) {
    Moment moment(entry.end);
    line.number(moment.seconds_since_1970()) << ".";
    line.padded(moment.millis(), 3, '0') << " ";
    line.padded(elapsed_millis(entry), 6, ' ') << " ";
    line.bare_field(entry.client) << " ";
    put_tag(line, entry);
    line << "/";
    line.padded(entry.status, 3, '0') << " ";
    line.number(entry.bytes) << " ";
    line.bare_field(entry.method) << " ";
    line.bare_field(entry.url.empty() ? in_place_of_url(entry) : entry.url, LogFieldLimits::url) << " ";
    line.bare_field(entry.user) << " ";
    put_hierarchy(line, entry);
    line << "/";
    line.bare_field(entry.peer) << " ";
    line.bare_field(media_type(entry.content_type));
}

/// %h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i"
void combined_line(Line& line, LogEntry const& entry) {
    constexpr std::string_view months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    Moment moment(entry.end);
    line.bare_field(entry.client) << " ";
    line.bare_field(entry.id) << " ";
    line.bare_field(entry.user) << " [";
    line.padded(moment.day(), 2, '0') << "/" << months[moment.month() - 1] << "/";
    line.padded(moment.year(), 4, '0') << ":";
    moment.put_clock(line);
    line << " +0000] \"";
    if (entry.method.empty() && entry.url.empty()) {
        line << "-";   // the head was never read
    } else {
        line.bare_field(entry.method) << " ";
        line.bare_field(entry.url, LogFieldLimits::url) << " HTTP/" << entry.version;
    }
    line << "\" ";
    line.padded(entry.status, 3, '0') << " ";
    line.number(entry.bytes) << " \"";
    line.quoted_field(entry.referer, LogFieldLimits::referer) << "\" \"";
    line.quoted_field(entry.user_agent, LogFieldLimits::user_agent) << "\"";
}

void json_line(Line& line, LogEntry const& entry) {
    Moment moment(entry.end);
    line << "{\"time\":\"";
    line.padded(moment.year(), 4, '0') << "-";
    line.padded(moment.month(), 2, '0') << "-";
    line.padded(moment.day(), 2, '0') << "T";
    moment.put_clock(line);
    line << ".";
    line.padded(moment.millis(), 3, '0') << "Z\",\"elapsed_ms\":";
    line.number(elapsed_millis(entry));
    line.member("client", entry.client).member("user", entry.user) << ",\"result\":\"";
    put_tag(line, entry);
    line << "\",\"status\":";
    line.number(entry.status) << ",\"bytes\":";
    line.number(entry.bytes);
    line.member("method", entry.method).member("url", entry.url, LogFieldLimits::url)
        << ",\"http\":\"" << entry.version << "\",\"hierarchy\":\"";
    put_hierarchy(line, entry);
    line << "\"";
    line.member("peer", entry.peer);
    if (!entry.peer_reach.empty()) line.member("peer_reach", entry.peer_reach);
    line.member("content_type", entry.content_type);
    line.member("referer", entry.referer, LogFieldLimits::referer);
    line.member("user_agent", entry.user_agent, LogFieldLimits::user_agent);
    if (auto const* header = entry.proxy_header) {
        if (!header->authority.empty()) line.member("proxy_authority", header->authority);
        if (!header->unique_id.empty()) line.member("proxy_unique_id", header->unique_id);
    }
    if (!entry.trace.empty()) line.member("trace", entry.trace);
    line.member("reason", entry.reason);
    line.member("cache_status", entry.cache_status, LogFieldLimits::cache_status);
    if (!entry.id.empty() && !entry.rule.empty()) line.member("rule", entry.rule);
    if (!entry.id.empty()) line.member("id", entry.id);
    line << "}";
}

}   // namespace

std::string_view name_of(ResultTag tag) { return tag_names[static_cast<std::size_t>(tag)]; }

std::string_view format_line(LogFormat format, LogEntry const& entry, LineBuffer& buffer) {
    Line line(buffer);
    switch (format) {
    case LogFormat::squid: squid_line(line, entry); break;
    case LogFormat::combined: combined_line(line, entry); break;
    case LogFormat::json: json_line(line, entry); break;
    }
    line << "\n";
    return line.text();
}

}   // namespace garner::proxy
