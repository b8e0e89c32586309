#include "crawl/canonical_url.hpp"
#include "crawl/url_bytes.hpp"
#include "crawl/url_path.hpp"

namespace garner::crawl {
namespace {

/// Offset of the host; 0 for other texts.
std::size_t host_begin_of(std::string_view text) {
    if (text.starts_with("https://")) return 8;
    return text.starts_with("http://") ? 7 : 0;
}

bool at_end_of_host(char c) { return c == '/' || c == '?' || c == '#'; }

/// A lower-case ASCII name that is no IPv4 address; an "xn--" label needs no check.
bool is_plain_host(std::string_view host) {
    if (host.empty()) return false;
    auto const whole = host.substr(0, host.size() - (host.back() == '.'));
    auto const label = whole.rfind('.') + 1;
    return label < whole.size() ? !is_digit(whole[label]) : label > 0;
}

}   // namespace

bool copy_plain_url(std::string_view text, CanonicalUrl& into) {
    auto const begin = host_begin_of(text);
    if (begin == 0) return false;
    auto const end = find_first_in(host_changes, text, begin);
    if (end < text.size() && !at_end_of_host(text[end])) return false;
    if (!is_plain_host(text.substr(begin, end - begin))) return false;

    bool const bare = end == text.size() || text[end] != '/';
    auto const path_end = bare ? end : end_of_plain_path(text, end);
    if (path_end == text.npos) return false;
    auto query_end = path_end;
    if (path_end < text.size() && text[path_end] == '?') {
        query_end = find_first_in(query_encoded, text, path_end);
        if (query_end < text.size() && text[query_end] != '#') return false;
    }
    // The rest is the fragment, which is dropped.
    into.text.assign(text, 0, query_end);
    if (bare) into.text.insert(end, 1, '/');
    auto const at = [](std::size_t offset) { return static_cast<std::uint32_t>(offset); };
    into.parts = {at(begin - 3), at(begin), at(end), at(end), at(path_end + bare)};
    return true;
}

}   // namespace garner::crawl
