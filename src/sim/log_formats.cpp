#include "sim/log_formats.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::sim {
namespace {

struct LoggedRequest {
    std::string_view method = {}, url = {};    // "-" or empty: none
    std::string_view status = {}, size = {};   // decimal; a size "-" means no bytes were sent
    bool aborted = false;                      // before the whole response was sent
};

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
bool was_aborted(std::string_view result) {
    auto const says = [&](char const* word) { return result.find(word) != result.npos; };
    return says("_ABORTED") || says("_TIMEDOUT") || says("_TRUNCATED");
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

}   // namespace

Record read_squid(std::string_view line) {
    auto time = word(line);
    if (!is_time(time)) return Record::broken("time", time, "is not in seconds");
    word(line);   // elapsed
    word(line);   // client
    auto result = word(line);
    auto slash = result.find('/');
    if (slash == result.npos) return Record::broken("result", result, "is not tag/status");
    LoggedRequest request{.status = result.substr(slash + 1), .aborted = was_aborted(result.substr(0, slash))};
    request.size = word(line);
    request.method = word(line);
    request.url = word(line);
    word(line);   // user
    auto hierarchy = word(line);
    if (hierarchy.find('/') == hierarchy.npos) return Record::broken("hierarchy", hierarchy, "is not code/peer");
    return record_of(request);
}

Record read_combined(std::string_view line) {
    // The user's name may contain spaces.
    auto time = line.find(" [");
    if (time == line.npos) return Record::broken("no [time]");
    auto quote = line.find("] \"", time);
    if (quote == line.npos) return Record::broken("no request in quotes after the time");
    line.remove_prefix(quote + 3);
    auto end = closing_quote(line);
    if (end == line.npos) return Record::broken("no request in quotes with a status after it");

    auto asked = line.substr(0, end);
    LoggedRequest request{.method = asked.substr(0, asked.find(' ')), .status = line.substr(end + 2, 3)};
    asked.remove_prefix(std::min(request.method.size() + 1, asked.size()));
    request.url = asked.substr(0, asked.rfind(" HTTP/"));
    auto size = line.substr(end + 6);
    request.size = size.substr(0, size.find(' '));
    return record_of(request);
}

Record read_json(std::string_view line) {
    LoggedRequest request;
    Members members(line);
    for (std::string_view name, value; members.next(name, value);) {
        if (name == "result") request.aborted = was_aborted(value);
        if (name == "status") request.status = value;
        if (name == "bytes") request.size = value;
        if (name == "method") request.method = value;
        if (name == "url") request.url = value;
    }
    if (!members.well_formed()) return Record::broken("the line is not one flat JSON object");
    if (request.status.empty()) return Record::broken("no member \"status\"");
    if (request.size.empty()) return Record::broken("no member \"bytes\"");
    return record_of(request);
}

}   // namespace garner::sim
