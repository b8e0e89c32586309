#include "proxy/refusals_page.hpp"

#include "http/dates.hpp"
#include "proxy/page_text.hpp"

namespace garner::proxy {

namespace {

constexpr std::string_view title = "Requests that this proxy refused";
constexpr std::string_view none = "No request of this client was refused lately.";

/// Calls row(name, value, append) for each member that has a value.
void for_each_member(Refused const& one, auto const& row) {
    auto const member = [&](std::string_view name, std::string_view value, auto const& append) {
        if (!value.empty()) row(name, value, append);
    };
    member("time", http::format_http_date(unix_seconds(one.at)), append_own_text);
    member("method", one.method, append_escaped);
    member("url", one.url, append_escaped);
    member("user", one.user, append_escaped);
    member("rule", one.rule, append_own_text);
    member("because", one.because, append_own_text);
    member("id", one.id, append_own_text);
}

std::string as_html(std::span<Refused const> all) {
    constexpr auto format = ErrorFormat::html;
    std::string out(head_of_page());
    out.append("<title>").append(title).append("</title></head>\n<body><h1>").append(title).append("</h1>\n");
    if (all.empty()) out.append("<p>").append(none).append("</p>\n");
    for (auto const& one : all) {
        out.append("<dl>\n");
        for_each_member(one, [&](std::string_view name, std::string_view value, auto const& append_value) {
            out.append("<dt>").append(name).append("</dt><dd>");
            append_value(out, value, format);
            out.append("</dd>\n");
        });
        out.append("</dl>\n");
    }
    return out.append("</body></html>\n");
}

std::string as_json(std::span<Refused const> all) {
    constexpr auto format = ErrorFormat::json;
    std::string out = "{\"refusals\":[";
    for (auto const& one : all) {
        out.append(&one == all.data() ? "{" : ",{");
        bool is_first = true;
        for_each_member(one, [&](std::string_view name, std::string_view value, auto const& append_value) {
            out.append(is_first ? "\"" : ",\"").append(name).append("\":\"");
            append_value(out, value, format);
            out += '"';
            is_first = false;
        });
        out += '}';
    }
    return out.append("]}\n");
}

std::string as_text(std::span<Refused const> all) {
    constexpr auto format = ErrorFormat::text;
    if (all.empty()) return std::string(none).append("\n");
    std::string out;
    for (auto const& one : all) {
        for_each_member(one, [&](std::string_view name, std::string_view value, auto const& append_value) {
            out.append(name).append(": ");
            append_value(out, value, format);
            out += '\n';
        });
        out += '\n';
    }
    return out;
}

}   // namespace

std::string refusals_page(std::span<Refused const> all, ErrorFormat format) {
    switch (format) {
    case ErrorFormat::html: return as_html(all);
    case ErrorFormat::json: return as_json(all);
    case ErrorFormat::text: break;
    }
    return as_text(all);
}

}   // namespace garner::proxy
