#include "proxy/refusals_page.hpp"

#include "http/dates.hpp"
#include "proxy/page_text.hpp"

namespace garner::proxy {

namespace {

constexpr std::string_view title = "Requests that this proxy refused";
constexpr std::string_view none = "No request of this client was refused lately.";

void append_refusal(std::string& out, Refused const& one, ErrorFormat format) {
    auto const time = http::format_http_date(unix_seconds(one.at));
    append_rows(out,
                {{"time", time},
                 {"method", one.method},
                 {"url", one.url},
                 {"user", one.user},
                 {"rule", one.rule, append_own_text},
                 {"because", one.because, append_own_text},
                 {"id", one.id}},
                format);
}

std::string as_html(std::span<Refused const> all) {
    constexpr auto format = ErrorFormat::html;
    std::string out(head_of_page());
    out.append("<title>").append(title).append("</title></head>\n<body><h1>").append(title).append("</h1>\n");
    if (all.empty()) out.append("<p>").append(none).append("</p>\n");
    for (auto const& one : all) {
        out.append("<dl>\n");
        append_refusal(out, one, format);
        out.append("</dl>\n");
    }
    return out.append("</body></html>\n");
}

std::string as_json(std::span<Refused const> all) {
    constexpr auto format = ErrorFormat::json;
    std::string out = "{\"refusals\":[";
    for (auto const& one : all) {
        out.append(&one == all.data() ? "{" : ",{");
        append_refusal(out, one, format);
        out += '}';
    }
    return out.append("]}\n");
}

std::string as_text(std::span<Refused const> all) {
    constexpr auto format = ErrorFormat::text;
    if (all.empty()) return std::string(none).append("\n");
    std::string out;
    for (auto const& one : all) {
        append_refusal(out, one, format);
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
