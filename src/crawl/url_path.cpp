#include "crawl/url_path.hpp"

#include "crawl/url_bytes.hpp"

namespace garner::crawl {
namespace {

void drop_last_segment(std::size_t path_begin, std::string& to) {
    if (to.size() > path_begin) to.resize(to.rfind('/'));
}

}   // namespace

int dots_of(std::string_view segment) {
    int dots = 0;
    while (!segment.empty() && dots < 3) {
        bool const encoded = segment.starts_with("%2e") || segment.starts_with("%2E");
        if (!encoded && segment[0] != '.') return 0;
        segment.remove_prefix(encoded ? 3 : 1);
        ++dots;
    }
    return dots > 2 ? 0 : dots;
}

std::size_t end_of_plain_path(std::string_view text, std::size_t begin) {
    for (auto at = begin;; ++at) {
        at = find_first_in(path_looked_at, text, at);
        if (at == text.size() || text[at] == '?' || text[at] == '#') return at;
        if (text[at] != '.' && text[at] != '%') return text.npos;
        if (text[at - 1] != '/') continue;
        auto const segment = text.substr(at, find_first_in(segment_ends, text, at) - at);
        if (dots_of(segment) != 0) return text.npos;
    }
}

void append_path(std::string_view path, std::size_t path_begin, std::string& to) {
    for (;;) {
        auto const end = find_first_in(segment_ends, path);
        auto const segment = path.substr(0, end);
        bool const last = end == path.size();
        int const dots = dots_of(segment);
        if (dots == 2) drop_last_segment(path_begin, to);
        if (dots == 0 || last) to.push_back('/');
        if (dots == 0) append_encoded(segment, path_encoded, to);
        if (last) return;
        path.remove_prefix(end + 1);
    }
}

}   // namespace garner::crawl
