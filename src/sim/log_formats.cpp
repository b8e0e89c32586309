#include "sim/log_formats.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "sim/logged_request.hpp"
#include "util/text.hpp"

namespace garner::sim {
namespace {

Record record_of(LoggedRequest const& request) {
    auto status = parse_decimal(request.status);
    if (!status || *status > 999) return Record::broken("status", request.status, "is not a status");
    auto read = request.size == "-" ? SizeRead{} : read_size(request.size);
    if (!read.fault.empty()) return Record::broken("size", request.size, read.fault);

    if (request.method != "GET" || request.url.empty() || request.url == "-" || request.aborted) return Record::skipped();
    switch (*status) {
    case 200:
    case 203: return Record::request(key_of(request.url), read.size);
    case 304: return Record::unchanged(key_of(request.url));
    default: return Record::skipped();
    }
}

/// Squid's result tags, which Garner uses too: TCP_MISS_ABORTED, TCP_HIT_TIMEDOUT; and Garner's own: TCP_MISS_TRUNCATED.
void note_result(std::string_view result, LoggedRequest& request) {
    auto const says = [&](char const* word) { return result.find(word) != result.npos; };
    request.aborted = says("_ABORTED") || says("_TIMEDOUT") || says("_TRUNCATED");
    request.denied = says("DENIED");
}

/// Reads the next word; one or more spaces separate words.
std::string_view word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    auto word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

bool is_time(std::string_view text) { return !text.empty() && text.find_first_not_of("0123456789.") == text.npos; }

/// The end of a quoted request. Some servers do not escape quotes inside the request: the closing quote is followed by a
/// status.
std::size_t closing_quote(std::string_view text) {
    auto closes = [&](std::size_t quote) {
        auto const after = text.substr(quote + 1, 5);
        return after.size() == 5 && after[0] == ' ' && after[4] == ' ' && std::ranges::all_of(after.substr(1, 3), is_digit);
    };
    auto quote = text.find('"');
    while (quote != text.npos && !closes(quote)) quote = text.find('"', quote + 1);
    return quote;
}

/// Reads members of a flat object. Strings keep their escapes: Garner always escapes a text in the same way.
class Members {
public:
    explicit Members(std::string_view text) : rest_(text) { good_ = take('{'); }

    /// False at the end of the object, and when it is malformed.
    bool next(std::string_view& name, std::string_view& value) {
        skip_space();
        if (!good_ || take('}')) return false;
        good_ = (first_ || take(',')) && string(name) && take(':') && (string(value) || word(value));
        first_ = false;
        return good_;
    }
    /// To be checked at the end.
    bool well_formed() const { return good_ && trim(rest_).empty(); }

private:
    void skip_space() { rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size())); }

    bool take(char c) {
        skip_space();
        if (!rest_.starts_with(c)) return false;
        rest_.remove_prefix(1);
        return true;
    }

    bool string(std::string_view& text) {
        if (!take('"')) return false;
        std::size_t end = 0;
        while (end < rest_.size() && rest_[end] != '"') end += rest_[end] == '\\' ? 2 : 1;
        if (end >= rest_.size()) return good_ = false;
        text = rest_.substr(0, end);
        rest_.remove_prefix(end + 1);
        return true;
    }

    /// A number, true, false or null.
    bool word(std::string_view& text) {
        skip_space();
        text = rest_.substr(0, rest_.find_first_of(" \t,}{[]\":"));
        rest_.remove_prefix(text.size());
        return good_ && !text.empty();
    }

    std::string_view rest_;
    bool good_ = true, first_ = true;
};

Record parse_squid(std::string_view line, LoggedRequest& request) {
    request.time = word(line);
    if (!is_time(request.time)) return Record::broken("time", request.time, "is not in seconds");
    word(line);   // elapsed
    request.client = word(line);
    auto const result = word(line);
    auto const slash = result.find('/');
    if (slash == result.npos) return Record::broken("result", result, "is not tag/status");
    request.status = result.substr(slash + 1);
    note_result(result.substr(0, slash), request);
    request.size = word(line);
    request.method = word(line);
    request.url = word(line);
    request.user = word(line);
    auto const hierarchy = word(line);
    auto const peer = hierarchy.find('/');
    if (peer == hierarchy.npos) return Record::broken("hierarchy", hierarchy, "is not code/peer");
    request.direct = hierarchy.substr(0, peer).ends_with("DIRECT");
    request.peer = hierarchy.substr(peer + 1);
    return {};
}

Record parse_combined(std::string_view line, LoggedRequest& request) {
    // The user's name may contain spaces.
    auto const time = line.find(" [");
    if (time == line.npos) return Record::broken("no [time]");
    auto const quote = line.find("] \"", time);
    if (quote == line.npos) return Record::broken("no request in quotes after the time");
    request.time = line.substr(time + 2, quote - time - 2);
    auto before = line.substr(0, time);
    request.client = word(before);
    word(before);   // ident
    request.user = trim(before);
    line.remove_prefix(quote + 3);
    auto const end = closing_quote(line);
    if (end == line.npos) return Record::broken("no request in quotes with a status after it");

    auto asked = line.substr(0, end);
    request.method = asked.substr(0, asked.find(' '));
    request.status = line.substr(end + 2, 3);
    request.denied = request.status == "403" || request.status == "407";
    asked.remove_prefix(std::min(request.method.size() + 1, asked.size()));
    request.url = asked.substr(0, asked.rfind(" HTTP/"));
    auto const size = line.substr(end + 6);
    request.size = size.substr(0, size.find(' '));
    return {};
}

Record parse_json(std::string_view line, LoggedRequest& request) {
    request.escaped = true;
    Members members(line);
    for (std::string_view name, value; members.next(name, value);) {
        if (name == "time") request.time = value;
        if (name == "client") request.client = value;
        if (name == "user") request.user = value;
        if (name == "result") note_result(value, request);
        if (name == "status") request.status = value;
        if (name == "bytes") request.size = value;
        if (name == "method") request.method = value;
        if (name == "url") request.url = value;
        if (name == "hierarchy") request.direct = value.ends_with("DIRECT");
        if (name == "peer") request.peer = value;
    }
    if (!members.well_formed()) return Record::broken("the line is not one flat JSON object");
    if (request.status.empty()) return Record::broken("no member \"status\"");
    if (request.size.empty()) return Record::broken("no member \"bytes\"");
    return {};
}

// ---- times ----

/// Seconds since 1970 of a time in UTC.
std::optional<std::int64_t> seconds_of(std::uint64_t year, unsigned month, std::uint64_t day, std::string_view clock) {
    auto const hour = parse_decimal(clock.substr(0, 2)), minute = parse_decimal(clock.substr(3, 2)),
               second = parse_decimal(clock.substr(6, 2));
    std::chrono::year_month_day const date{std::chrono::year(static_cast<int>(year)), std::chrono::month(month),
                                           std::chrono::day(static_cast<unsigned>(day))};
    if (!hour || !minute || !second || year < 1970 || year > 9999 || day > 31 || !date.ok()) return std::nullopt;
    std::int64_t const days = std::chrono::sys_days(date).time_since_epoch().count();
    return days * 86'400 + static_cast<std::int64_t>(*hour * 3'600 + *minute * 60 + *second);
}

std::optional<std::int64_t> squid_seconds(std::string_view time) {
    auto const whole = parse_decimal(time.substr(0, time.find('.')));
    if (!whole || *whole > std::uint64_t{1} << 40) return std::nullopt;
    return static_cast<std::int64_t>(*whole);
}

/// "10/Oct/2000:13:55:36 -0700"
std::optional<std::int64_t> combined_seconds(std::string_view time) {
    constexpr std::string_view months = "JanFebMarAprMayJunJulAugSepOctNovDec";
    if (time.size() != 26) return std::nullopt;
    auto const month = months.find(time.substr(3, 3));
    auto const day = parse_decimal(time.substr(0, 2)), year = parse_decimal(time.substr(7, 4));
    auto const hours = parse_decimal(time.substr(22, 2)), minutes = parse_decimal(time.substr(24, 2));
    if (month == months.npos || month % 3 != 0 || !day || !year || !hours || !minutes) return std::nullopt;
    auto const local = seconds_of(*year, static_cast<unsigned>(month / 3 + 1), *day, time.substr(12, 8));
    auto const ahead = static_cast<std::int64_t>(*hours * 3'600 + *minutes * 60);
    if (!local) return std::nullopt;
    return time[21] == '-' ? *local + ahead : *local - ahead;
}

/// "2026-11-23T09:30:10.123Z"
std::optional<std::int64_t> json_seconds(std::string_view time) {
    if (time.size() < 20 || time[10] != 'T') return std::nullopt;
    auto const year = parse_decimal(time.substr(0, 4)), month = parse_decimal(time.substr(5, 2)),
               day = parse_decimal(time.substr(8, 2));
    if (!year || !month || !day || *month > 12) return std::nullopt;
    return seconds_of(*year, static_cast<unsigned>(*month), *day, time.substr(11, 8));
}

constexpr std::array log_rows{
    LogFormatRow{"squid", parse_squid, squid_seconds},
    LogFormatRow{"combined", parse_combined, combined_seconds},
    LogFormatRow{"json", parse_json, json_seconds},
};

template <auto parse>
Record read_with(std::string_view line) {
    LoggedRequest request;
    auto const fault = parse(line, request);
    return fault.kind == Record::Kind::broken ? fault : record_of(request);
}

}   // namespace

Record read_squid(std::string_view line) { return read_with<parse_squid>(line); }
Record read_combined(std::string_view line) { return read_with<parse_combined>(line); }
Record read_json(std::string_view line) { return read_with<parse_json>(line); }

std::span<LogFormatRow const> log_formats() { return log_rows; }

std::string_view unescaped(std::string_view text, std::string& scratch) {
    if (text.find('\\') == text.npos) return text;
    scratch.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\' || i + 1 == text.size()) {
            scratch += text[i];
            continue;
        }
        auto const high = text.size() > i + 5 ? hex_value(text[i + 4]) : -1,
                   low = text.size() > i + 5 ? hex_value(text[i + 5]) : -1;
        if (text.substr(i + 1, 3) == "u00" && high >= 0 && low >= 0) {
            scratch += static_cast<char>(high * 16 + low);
            i += 5;
        } else if (text[i + 1] == 'u') {
            scratch += text[i];
        } else {
            scratch += text[++i];
        }
    }
    return scratch;
}

}   // namespace garner::sim
