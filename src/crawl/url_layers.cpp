#include "crawl/url_layers.hpp"

#include <algorithm>
#include <array>

#include "crawl/url_address.hpp"
#include "util/option_words.hpp"
#include "util/text.hpp"

namespace garner::crawl {
namespace {

/// Removes `length` bytes at `from`; the caller adjusts the offsets of later parts.
std::uint32_t cut(CanonicalUrl& url, std::size_t from, std::size_t length) {
    url.text.erase(from, length);
    return static_cast<std::uint32_t>(length);
}

/// The name after "www." has an inner dot: "www.com" stays.
bool names_a_site(std::string_view host) {
    auto const dot = host.find('.');
    return dot != host.npos && dot > 0 && dot + 1 < host.size();
}

void strip_www(CanonicalUrl& url) {
    constexpr std::string_view www = "www.";
    while (url.host().starts_with(www) && names_a_site(url.host().substr(www.size()))) {
        auto const gone = cut(url, url.parts.host_begin, www.size());
        url.parts.host_end -= gone;
        url.parts.path_begin -= gone;
        url.parts.path_end -= gone;
    }
}

void strip_default_document(CanonicalUrl& url) {
    constexpr std::array<std::string_view, 12> documents{"index.html",  "index.htm",   "index.xhtml",  "index.shtml",
                                                         "index.php",   "index.asp",   "index.aspx",   "index.jsp",
                                                         "default.htm", "default.asp", "default.html", "default.aspx"};
    auto const path = url.path();
    auto const name = path.substr(path.rfind('/') + 1);
    if (std::ranges::none_of(documents, [&](auto document) { return equals_ignoring_case(document, name); })) return;
    url.parts.path_end -= cut(url, url.parts.path_end - name.size(), name.size());
}

/// Sorts by the bytes of the names. The sort is stable, because the order of equal names may be significant.
void sort_query(CanonicalUrl& url) {
    auto query = url.query();
    if (query.find('&') == query.npos) return;
    query.remove_prefix(1);
    std::vector<std::string_view> parameters;
    for (std::size_t from = 0; from <= query.size();) {
        auto const to = std::min(query.find('&', from), query.size());
        parameters.push_back(query.substr(from, to - from));
        from = to + 1;
    }
    auto name = [](std::string_view parameter) { return parameter.substr(0, parameter.find('=')); };
    if (std::ranges::is_sorted(parameters, {}, name)) return;
    std::ranges::stable_sort(parameters, {}, name);
    std::string sorted;
    for (auto parameter : parameters) sorted.append(sorted.empty() ? "?" : "&").append(parameter);
    url.text.replace(url.parts.path_end, url.text.npos, sorted);
}

void append_reversed(std::string_view host, std::string& to) {
    for (auto rest = host;; rest = rest.substr(0, rest.rfind('.'))) {
        auto const dot = rest.rfind('.');
        to.append(rest.substr(dot + 1)).push_back(',');
        if (dot == rest.npos) return;
    }
}

/// scheme://(org,example,www,:port@userinfo)/path?query, as in Heritrix, but case-preserving, because paths are
/// case-sensitive. Addresses are not reversed.
void to_surt(CanonicalUrl& url) {
    auto const host = url.host();
    bool const address = host.starts_with('[') || ends_in_number(host);
    std::string text(url.scheme());
    text.append("://(");
    auto parts = url.parts;
    parts.host_begin = static_cast<std::uint32_t>(text.size());
    if (address)
        text.append(host);
    else
        append_reversed(host, text);
    parts.host_end = static_cast<std::uint32_t>(text.size());
    text.append(url.port());
    if (auto userinfo = url.userinfo(); !userinfo.empty()) text.append("@").append(userinfo, 0, userinfo.size() - 1);
    text.push_back(')');
    parts.path_begin = static_cast<std::uint32_t>(text.size());
    parts.path_end = parts.path_begin + static_cast<std::uint32_t>(url.path().size());
    text.append(url.path()).append(url.query());
    url.text = std::move(text);
    url.parts = parts;
}

struct Row {
    std::string_view name, what;
    void (*apply)(CanonicalUrl&);
};

/// A new layer needs its function and a row here.
constexpr std::array layer_rows{
    Row{"www-strip", "changes http://www.example.org/ to http://example.org/", strip_www},
    Row{"default-document", "changes /a/index.html and similar paths to /a/", strip_default_document},
    Row{"query-sort", "sorts the query: changes ?b=2&a=1 to ?a=1&b=2", sort_query},
    Row{"surt", "changes http://example.org/ to the sortable form http://(org,example,)/", to_surt},
};

}   // namespace

Result<UrlLayers> UrlLayers::read(std::string_view names) {
    UrlLayers layers;
    if (names.ends_with(',')) names.remove_suffix(1);
    if (names.empty()) return layers;
    for (auto const name : comma_parts(names)) {
        auto const row = std::ranges::find(layer_rows, name, &Row::name);
        if (row == layer_rows.end()) return Fault{quoted_word(name) + " is not one of " + names_of(layer_rows)};
        layers.chosen_ |= 1u << (row - layer_rows.begin());
    }
    return layers;
}

void UrlLayers::apply(CanonicalUrl& url) const {
    for (std::size_t i = 0; i < layer_rows.size(); ++i)
        if (chosen_ >> i & 1) layer_rows[i].apply(url);
}

std::string UrlLayers::names() const {
    std::string text;
    for (std::size_t i = 0; i < layer_rows.size(); ++i)
        if (chosen_ >> i & 1) (text += text.empty() ? "" : ",") += layer_rows[i].name;
    return text;
}

std::vector<UrlLayerName> url_layer_names() {
    std::vector<UrlLayerName> names;
    for (auto const& row : layer_rows) names.push_back({row.name, row.what});
    return names;
}

}   // namespace garner::crawl
