#include "proxy/error_page.hpp"

#include "http/accept.hpp"
#include "proxy/head_writer.hpp"
#include "proxy/page_text.hpp"

namespace garner::proxy {

namespace {

/// "502 Bad Gateway"
std::string status_text(std::uint16_t status) {
    auto text = std::to_string(status);
    if (auto const phrase = reason_phrase(status); !phrase.empty()) text.append(" ").append(phrase);
    return text;
}

/// The named values below the hints.
void append_values(std::string& out, ErrorPage const& page, ErrorFormat format) {
    append_rows(out,
                {{"Reason", page.what},
                 {"Address", page.url},
                 {"Decided by", page.rule, append_own_text},
                 {"Because", page.because, append_with_links},
                 {"Proxy", page.server},
                 {"Request id", page.id}},
                format);
}

std::string page_as_html(ErrorPage const& page, ErrorHelp const& help) {
    constexpr auto format = ErrorFormat::html;
    std::string heading;
    append_escaped(heading, help.heading, format);
    std::string out(head_of_page());
    out.append("<title>").append(heading).append("</title></head>\n<body><p class=\"status\">").append(status_text(page.status));
    out.append("</p>\n<h1>").append(heading).append("</h1>\n<ul>\n");
    for (auto const hint : help.hints) out.append("<li>").append(hint).append("</li>\n");
    out.append("</ul>\n<dl>\n");
    append_values(out, page, format);
    return out.append("</dl></body></html>\n");
}

/// Two lines: scripts and terminals show them whole.
std::string refusal_as_text(ErrorPage const& page) {
    constexpr auto format = ErrorFormat::text;
    std::string out = "Decided by: ";
    append_own_text(out, page.rule, format);
    if (!page.because.empty()) out.append(": ");
    append_own_text(out, page.because, format);
    out.append("\nRequest id: ");
    append_escaped(out, page.id, format);
    return out.append("\n");
}

std::string page_as_text(ErrorPage const& page, ErrorHelp const& help) {
    constexpr auto format = ErrorFormat::text;
    auto out = status_text(page.status).append(": ");
    append_escaped(out, help.heading, format);
    out.append(".\n");
    if (page.status == 403 && !page.rule.empty()) return out + refusal_as_text(page);
    for (auto const hint : help.hints) out.append("- ").append(hint).append("\n");
    append_values(out, page, format);
    return out;
}

/// RFC 9457: with the type about:blank the title is the status's phrase.
std::string page_as_json(ErrorPage const& page, ErrorHelp const& help) {
    constexpr auto format = ErrorFormat::json;
    std::string out = R"({"type":"about:blank","title":")";
    auto const phrase = reason_phrase(page.status);
    out.append(phrase.empty() ? "Error" : phrase).append("\",\"status\":").append(std::to_string(page.status));
    out.append(",\"detail\":\"");
    append_escaped(out, help.heading, format);
    out.append(". ");
    append_escaped(out, page.what, format);
    out.append("\",\"hints\":[");
    for (auto const hint : help.hints) {
        if (!out.ends_with('[')) out.append(",");
        out.append("\"");
        append_escaped(out, hint, format);
        out.append("\"");
    }
    out.append("]");
    append_rows(
        out, {{"rule", page.rule, append_own_text}, {"because", page.because, append_own_text}, {"id", page.id, append_own_text}},
        format);
    return out.append("}\n");
}

}   // namespace

ErrorFormat error_format(http::Fields const& request) {
    using http::media_preference;
    auto constexpr exact = http::MediaPreference::Match::exact;
    auto as_json = media_preference(request, "application/problem+json");
    if (as_json.match != exact) as_json = media_preference(request, "application/json");
    auto best = media_preference(request, "text/plain");
    auto format = ErrorFormat::text;
    // Among equal preferences the later one wins if it is named, because no browser prefers plain text to HTML.
    auto const compare = [&](http::MediaPreference const& other, ErrorFormat in) {
        bool const is_wanted = other.weight > 0 && other.match >= http::MediaPreference::Match::type;
        if (is_wanted && (other > best || (other == best && other.match == exact))) best = other, format = in;
    };
    compare(as_json, ErrorFormat::json);
    compare(media_preference(request, "text/html"), ErrorFormat::html);
    return format;
}

std::string_view content_type(ErrorFormat format) {
    switch (format) {
    case ErrorFormat::html: return "text/html;charset=utf-8";
    case ErrorFormat::json: return "application/problem+json";
    case ErrorFormat::text: break;
    }
    return "text/plain;charset=utf-8";
}

std::string error_page(ErrorPage const& page, ErrorFormat format) {
    auto const help = error_help(page.status, page.kind, page.host, page.subject);
    switch (format) {
    case ErrorFormat::html: return page_as_html(page, help);
    case ErrorFormat::json: return page_as_json(page, help);
    case ErrorFormat::text: break;
    }
    return page_as_text(page, help);
}

}   // namespace garner::proxy
