#include "sim/json_format.hpp"

#include <algorithm>

#include "sim/logged_request.hpp"
#include "util/text.hpp"

namespace garner::sim {
namespace {

/// Takes members from a flat object. Strings are given as they stand: Garner escapes the same text in the same way.
class Members {
public:
    explicit Members(std::string_view text) : rest_(text) { good_ = take('{'); }

    /// False at the end of the object, and when it is not well formed.
    bool next(std::string_view& name, std::string_view& value) {
        skip_space();
        if (!good_ || take('}')) return false;
        good_ = (first_ || take(',')) && string(name) && take(':') && (string(value) || word(value));
        first_ = false;
        return good_;
    }
    /// To be asked at the end.
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

}  // namespace

Record JsonFormat::read(std::string_view line) {
    LoggedRequest request;
    Members members(line);
    for (std::string_view name, value; members.next(name, value);) {
        if (name == "result") request.aborted = was_aborted(value);
        if (name == "status") request.status = value;
        if (name == "bytes") request.size = value;
        if (name == "method") request.method = value;
        if (name == "url") request.url = value;
    }
    if (!members.well_formed()) return Record::broken("not one flat JSON object");
    if (request.status.empty()) return Record::broken("no member \"status\"");
    if (request.size.empty()) return Record::broken("no member \"bytes\"");
    return record_of(request);
}

}  // namespace garner::sim
