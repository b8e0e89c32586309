#include "http/url_text.hpp"

#include <algorithm>

#include "http/uri.hpp"
#include "util/text.hpp"

namespace garner::http {

std::string_view decoded_once(std::string_view text, std::string& scratch) {
    auto const first = text.find('%');
    if (first == text.npos) return text;
    scratch.assign(text.substr(0, first));
    for (std::size_t i = first; i < text.size(); ++i) {
        scratch += text[i];
        if (text[i] != '%' || i + 1 == text.size()) continue;
        if (text[i + 1] == '%') {
            ++i;
            continue;
        }
        if (i + 2 >= text.size()) continue;
        int const high = hex_value(text[i + 1]), low = hex_value(text[i + 2]);
        if (high < 0 || low < 0 || high + low == 0) continue;
        scratch.back() = static_cast<char>(high * 16 + low);
        i += 2;
    }
    return scratch;
}

std::string_view path_and_query_of(std::string_view url) {
    constexpr std::string_view mark = "://";
    auto const scheme = url.find(mark);
    if (scheme == url.npos) return {};
    auto const path = url.find('/', scheme + mark.size());
    return path == url.npos ? std::string_view() : url.substr(path);
}

bool may_be_resolved(std::string_view path_and_query) {
    auto const size = path_and_query.size();
    for (std::size_t i = 0; i < size; ++i) {
        char const c = path_and_query[i];
        if (c == '%' || c == '\\') return true;
        if (c == '?') return path_and_query.find('%', i) != path_and_query.npos;
        if (c == '/' && i + 1 < size && (path_and_query[i + 1] == '/' || path_and_query[i + 1] == '.')) return true;
    }
    return false;
}

namespace {

void undo_escapes(std::string& text) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < text.size(); ++i, ++kept) {
        bool const fits = text[i] == '%' && i + 2 < text.size();
        int const high = fits ? hex_value(text[i + 1]) : -1, low = fits ? hex_value(text[i + 2]) : -1;
        bool const is_escape = high >= 0 && low >= 0;
        text[kept] = is_escape ? static_cast<char>(high * 16 + low) : text[i];
        if (is_escape) i += 2;
    }
    text.resize(kept);
}

/// Appends a path without dot segments (RFC 3986 5.2.4) and empty segments. True if a segment ".." is removed.
bool append_resolved_path(std::string_view path, std::string& out) {
    auto const begin = out.size();
    bool climbs = false, is_folder = true;   // is_folder: the last segment is empty or a dot segment
    while (!path.empty()) {
        path.remove_prefix(1);
        auto const segment = path.substr(0, path.find_first_of("/\\"));
        path.remove_prefix(segment.size());
        is_folder = segment.empty() || segment == "." || segment == "..";
        if (!is_folder) out.append("/").append(segment);
        if (segment != "..") continue;
        climbs = true;
        if (out.size() > begin) out.resize(out.rfind('/'));
    }
    if (is_folder) out += '/';
    return climbs;
}

}   // namespace

void ResolvedUrls::add(std::string_view origin, std::string_view path, std::string_view query) {
    auto& text = texts_[count_];
    text.assign(origin);
    bool const climbs = append_resolved_path(path, text);
    text.append(query);
    climbs_ = climbs_ || climbs;
    ++count_;
}

void ResolvedUrls::assign(std::string_view url, std::size_t path_at) {
    thread_local std::string plain, path, query;   // keep their memory
    clear();
    plain.clear();
    append_unescaped(url, plain);
    // The origin has the same length in both: append_normalised leaves it no escapes of unreserved characters.
    auto const origin = url.substr(0, path_at);
    auto const query_at = std::min(plain.find('?', path_at), plain.size());
    path.assign(plain, path_at, query_at - path_at);
    query.assign(plain, query_at);
    for (int undone = 0; undone <= 2; ++undone) {
        if (undone > 0 && path.find('%') == path.npos && query.find('%') == query.npos) break;
        if (undone > 0) undo_escapes(path), undo_escapes(query);
        add(origin, path, query);
        auto const& added = texts_[count_ - 1];
        bool const is_known = added == url || added == plain || (count_ > 1 && added == texts_[count_ - 2]);
        if (is_known) --count_;
    }
}

}   // namespace garner::http
