#include "admin/url_pattern.hpp"

#include "http/uri.hpp"

namespace garner::admin {

namespace {

/// Linear except for backtracking to the last "*", which may have to match more.
bool looks_like(std::string_view url, std::string_view pattern) {
    std::size_t at = 0, in_pattern = 0, star = pattern.npos, taken = 0;
    while (at < url.size()) {
        if (in_pattern < pattern.size() && pattern[in_pattern] == '*') {
            star = in_pattern++;
            taken = at;
        } else if (in_pattern < pattern.size() && pattern[in_pattern] == url[at]) {
            ++in_pattern;
            ++at;
        } else if (star != pattern.npos) {
            in_pattern = star + 1;
            at = ++taken;
        } else {
            return false;
        }
    }
    return pattern.find_first_not_of('*', in_pattern) == pattern.npos;
}

}   // namespace

UrlPattern::UrlPattern(std::string_view written) : text_(written), whole_(written.find('*') != written.npos) {
    http::UriError error;
    auto const url = whole_ ? std::nullopt : http::parse_absolute(written, error);
    if (!url) return;
    text_.clear();
    http::append_normalised(*url, text_);
}

bool UrlPattern::fits(std::string_view url) const { return whole_ ? looks_like(url, text_) : url.starts_with(text_); }

}   // namespace garner::admin
