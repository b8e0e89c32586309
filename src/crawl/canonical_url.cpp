#include "crawl/canonical_url.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "crawl/url_bytes.hpp"
#include "crawl/url_host.hpp"
#include "crawl/url_path.hpp"
#include "util/text.hpp"

namespace garner::crawl {
namespace {

struct Scheme {
    std::string_view name;
    unsigned port;
};
constexpr std::array schemes{Scheme{"http", 80}, Scheme{"https", 443}, Scheme{"ws", 80}, Scheme{"wss", 443}, Scheme{"ftp", 21}};

Scheme const* find_scheme(std::string_view name) {
    auto const found = std::ranges::find_if(schemes, [&](auto& s) { return equals_ignoring_case(s.name, name); });
    return found == schemes.end() ? nullptr : &*found;
}

std::uint32_t size_of(std::string const& text) { return static_cast<std::uint32_t>(text.size()); }

/// Parses one URL without surrounding spaces, tabs and newlines.
class Parser {
public:
    Parser(CanonicalUrl const* base, CanonicalUrl& into) : base_(base), text_(into.text), parts_(into.parts) {}

    UrlFault parse(std::string_view text) {
        auto const name = text.substr(0, scheme_length(text));
        if (name.empty()) {
            if (base_) return resolve(text);
            return text.empty() ? UrlFault::empty : UrlFault::no_scheme;
        }
        auto const* scheme = find_scheme(name);
        if (!scheme) return equals_ignoring_case(name, "file") ? UrlFault::file_scheme : UrlFault::other_scheme;
        text.remove_prefix(name.size() + 1);
        // "http:a" on a page of http is a relative reference.
        bool const relative = base_ && base_->scheme() == scheme->name && !text.starts_with("//");
        return relative ? resolve(text) : absolute(*scheme, text);
    }

private:
    /// 0 when there is no scheme followed by ':'.
    static std::size_t scheme_length(std::string_view text) {
        auto letter = [](char c) { return to_lower(c) >= 'a' && to_lower(c) <= 'z'; };
        if (text.empty() || !letter(text.front())) return 0;
        auto const end =
            std::ranges::find_if_not(text, [&](char c) { return letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.'; });
        return end != text.end() && *end == ':' ? static_cast<std::size_t>(end - text.begin()) : 0;
    }

    UrlFault resolve(std::string_view reference) {
        auto const& base = *base_;
        if (reference.size() >= 2 && is_slash(reference[0]) && is_slash(reference[1]))
            return absolute(*find_scheme(base.scheme()), reference);
        parts_ = base.parts;
        char const first = reference.empty() ? '#' : reference.front();
        if (first == '#') {
            text_ = base.text;
            return UrlFault::none;
        }
        auto const kept = first == '?'      ? base.parts.path_end
                          : is_slash(first) ? base.parts.path_begin
                                            : base.parts.path_begin + base.path().rfind('/');
        text_.assign(base.text, 0, kept);
        if (first != '?') reference = take_path(reference);
        take_query(reference);
        return UrlFault::none;
    }

    UrlFault absolute(Scheme const& scheme, std::string_view rest) {
        text_.assign(scheme.name).append("://");
        parts_.scheme_end = static_cast<std::uint32_t>(scheme.name.size());
        while (!rest.empty() && is_slash(rest.front())) rest.remove_prefix(1);
        auto const end = find_first_in(segment_ends, rest);
        if (auto const fault = take_authority(scheme, rest.substr(0, end)); fault != UrlFault::none) return fault;
        rest.remove_prefix(end);
        parts_.path_begin = size_of(text_);
        take_query(take_path(rest));
        return UrlFault::none;
    }

    UrlFault take_authority(Scheme const& scheme, std::string_view authority) {
        if (auto const at = authority.rfind('@'); at != authority.npos) {
            take_userinfo(authority.substr(0, at));
            authority.remove_prefix(at + 1);
        }
        auto const host = authority.substr(0, host_length(authority));
        if (host.empty()) return UrlFault::no_host;
        parts_.host_begin = size_of(text_);
        auto const fault = append_host(host, text_);
        parts_.host_end = size_of(text_);
        if (fault != UrlFault::none || host.size() == authority.size()) return fault;
        return take_port(scheme, authority.substr(host.size() + 1));
    }

    void take_userinfo(std::string_view userinfo) {
        auto const user = userinfo.substr(0, userinfo.find(':'));
        auto const password = userinfo.substr(std::min(user.size() + 1, userinfo.size()));
        append_encoded(user, userinfo_encoded, text_);
        if (!password.empty()) text_.push_back(':');
        append_encoded(password, userinfo_encoded, text_);
        if (!user.empty() || !password.empty()) text_.push_back('@');
    }

    /// Ends at the ':' of the port, which is outside of brackets.
    static std::size_t host_length(std::string_view authority) {
        if (authority.find('[') == authority.npos) return std::min(authority.find(':'), authority.size());
        bool bracketed = false;
        for (std::size_t i = 0; i < authority.size(); ++i) {
            if (authority[i] == '[') bracketed = true;
            if (authority[i] == ']') bracketed = false;
            if (authority[i] == ':' && !bracketed) return i;
        }
        return authority.size();
    }

    UrlFault take_port(Scheme const& scheme, std::string_view digits) {
        if (!std::ranges::all_of(digits, is_digit)) return UrlFault::bad_port;
        unsigned port = 0;
        for (char digit : digits) {
            port = port * 10 + static_cast<unsigned>(digit - '0');
            if (port > 65535) return UrlFault::port_too_large;
        }
        if (digits.empty() || port == scheme.port) return UrlFault::none;
        char written[6]{':'};
        text_.append(written, std::to_chars(written + 1, written + sizeof written, port).ptr);
        return UrlFault::none;
    }

    /// Returns the text after the path.
    std::string_view take_path(std::string_view rest) {
        bool const slash = !rest.empty() && is_slash(rest.front());
        if (slash) {
            if (auto const end = end_of_plain_path(rest, 0); end != rest.npos) {
                text_.append(rest, 0, end);
                return rest.substr(end);
            }
            rest.remove_prefix(1);
        }
        auto const end = find_first_in(path_ends, rest);
        append_path(rest.substr(0, end), parts_.path_begin, text_);
        return rest.substr(end);
    }

    void take_query(std::string_view rest) {
        parts_.path_end = size_of(text_);
        if (rest.starts_with('?')) append_encoded(rest.substr(0, rest.find('#')), query_encoded, text_);
    }

    CanonicalUrl const* base_;
    std::string& text_;
    UrlParts& parts_;
};

std::string_view without_spaces_around(std::string_view text) {
    auto is_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
    while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
    return text;
}

/// Branch-free per byte, unlike a search for the first match.
bool has_controls(std::string_view text) {
    bool found = false;
    for (char c : text) found |= static_cast<unsigned char>(c) < ' ';
    return found;
}

UrlFault parse(std::string_view text, CanonicalUrl const* base, CanonicalUrl& into) {
    if (text.size() > url_bytes_max) return UrlFault::too_long;
    if (copy_plain_url(text, into)) return UrlFault::none;
    text = without_spaces_around(text);
    Parser parser(base, into);
    if (!has_controls(text) || text.find_first_of("\t\n\r") == text.npos) return parser.parse(text);
    // Replaces invalid UTF-8 first: removing a tab between two invalid bytes must not form a character.
    std::string joined;
    append_utf8(text, joined);
    std::erase_if(joined, [](char c) { return c == '\t' || c == '\n' || c == '\r'; });
    return parser.parse(joined);
}

}   // namespace

UrlFault canonicalise(std::string_view text, CanonicalUrl& into) { return parse(text, nullptr, into); }

UrlFault canonicalise(std::string_view text, CanonicalUrl const& base, CanonicalUrl& into) { return parse(text, &base, into); }

}   // namespace garner::crawl
