#include "proxy/head_writer.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "http/dates.hpp"
#include "http/gateway.hpp"
#include "http/hop_by_hop.hpp"
#include "proxy/via.hpp"
#include "util/check.hpp"
#include "util/text.hpp"

namespace garner::proxy {

using http::Name;

namespace {

void append_line(std::string& out, std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
}

void append_number(std::string& out, std::uint64_t value) {
    char digits[20];
    auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
    out.append(digits, end);
}

/// Appends field lines. Those that follow each other in the received head, in the form in which they are sent, are copied at once.
class LineCopier {
public:
    explicit LineCopier(std::string& out) : out_(out) {}
    ~LineCopier() { flush(); }
    LineCopier(LineCopier const&) = delete;
    void add(http::Field const& field) {
        bool const is_as_sent = follows(field.value, field.name, ": ");
        if (!is_as_sent || !follows(field.name, run_, "\r\n")) flush();
        if (!is_as_sent) return append_line(out_, field.name, field.value);
        if (run_.empty()) run_ = field.name;
        run_ = {run_.data(), field.value.data() + field.value.size()};
    }

private:
    /// `text` stands directly after `before` and these two bytes, all in one buffer.
    static bool follows(std::string_view text, std::string_view before, std::string_view between) {
        auto const* const end = before.data() + before.size();
        return !before.empty() && text.data() == end + between.size() && std::memcmp(end, between.data(), between.size()) == 0;
    }
    void flush() {
        if (!run_.empty()) out_.append(run_).append("\r\n");
        run_ = {};
    }
    std::string& out_;
    std::string_view run_;   // copied next
};

bool is_condition(Name id) {
    return id == Name::if_match || id == Name::if_none_match || id == Name::if_modified_since || id == Name::if_unmodified_since ||
           id == Name::if_range || id == Name::range;
}

bool is_stripped(http::Field const& field, RequestExtras const& extras) {
    bool const of_range = field.id == Name::range || field.id == Name::if_range;
    return (extras.strip_conditions && is_condition(field.id)) || (extras.strip_range && of_range) ||
           http::is_cgi_proxy(field.name) || (extras.strip_gateway && http::is_gateway_field(field.name));
}

/// A cursor into a fixed buffer that is large enough.
struct Cursor {
    char* at;
    char* end;
    void put(std::string_view text) {
        if (text.empty()) return;   // an empty view may have no address
        check(text.size() <= static_cast<std::size_t>(end - at));
        std::memcpy(at, text.data(), text.size());
        at += text.size();
    }
    void put(std::uint64_t value) { at = std::to_chars(at, end, value).ptr; }
};

}   // namespace

void append_request_head(http::RequestHead const& request, RequestExtras const& extras, std::string& out) {
    out.append(request.method_text).append(" ").append(extras.target).append(" HTTP/1.1\r\n");
    append_line(out, "Host", extras.host);
    http::HopByHop hop_by_hop(request.fields);
    {
        LineCopier lines(out);
        for (auto const& field : request.fields) {
            if (field.id == Name::host || field.id == Name::content_length || hop_by_hop.dropped(field)) continue;
            if (is_stripped(field, extras)) continue;
            if (extras.max_forwards && field.id == Name::max_forwards) continue;
            lines.add(field);
        }
    }
    if (extras.max_forwards) out.append("Max-Forwards: "), append_number(out, *extras.max_forwards), out.append("\r\n");
    http::append_conditional_fields(extras.validators, out);
    out.append(extras.range_lines);
    out.append(extras.peer_lines);
    out.append(extras.forwarded_lines);
    append_via(out, extras.via, extras.version);
    if (extras.body.kind == http::Framing::Kind::chunked) out.append("Transfer-Encoding: chunked\r\n");
    if (extras.body.kind == http::Framing::Kind::length) {
        out.append("Content-Length: ");
        append_number(out, extras.body.length);
        out.append("\r\n");
    }
    if (extras.upgrade) {
        out.append("Connection: Upgrade\r\n");
        for (auto const& field : request.fields)
            if (field.id == Name::upgrade) append_line(out, "Upgrade", field.value);
    }
    out.append("\r\n");
}

void append_peer_login(std::string_view login, std::string& out) {
    if (login.empty()) return;
    std::string encoded(4 * ((login.size() + 2) / 3) + 1, '\0');
    auto const length = ::EVP_EncodeBlock(reinterpret_cast<unsigned char*>(encoded.data()),
                                          reinterpret_cast<unsigned char const*>(login.data()), static_cast<int>(login.size()));
    encoded.resize(static_cast<std::size_t>(length));
    append_line(out, "Proxy-Authorization", "Basic " + encoded);
}

std::string forwarded_line(ForwardedField kind, std::string_view client) {
    std::string line;
    bool ipv6 = client.find(':') != std::string_view::npos;
    if (kind == ForwardedField::x_forwarded_for) line.append("X-Forwarded-For: ").append(client).append("\r\n");
    if (kind == ForwardedField::forwarded)
        line.append(ipv6 ? "Forwarded: for=\"[" : "Forwarded: for=").append(client).append(ipv6 ? "]\"\r\n" : "\r\n");
    return line;
}

std::string sender_text(Client const& client) { return client.gateway ? client.gateway->address.text() : client.text; }

std::string forwarded_lines(Client const& client, std::string_view host, http::Fields const* kept) {
    auto lines = forwarded_line(ForwardedField::x_forwarded_for, sender_text(client));
    if (!kept || !kept->find("X-Forwarded-Proto")) append_line(lines, "X-Forwarded-Proto", client.secure ? "https" : "http");
    if (!kept || !kept->find("X-Forwarded-Host")) append_line(lines, "X-Forwarded-Host", host);
    return lines;
}

void append_status_line(std::uint16_t status, std::string_view reason, std::string& out) {
    out.append("HTTP/1.1 ");
    append_number(out, status);
    out.append(" ").append(reason).append("\r\n");
}

void append_response_head(http::ResponseHead const& response, http::ResponseCacheControl const* storing, std::int64_t now_seconds,
                          std::string& out) {
    append_status_line(response.status, response.reason, out);
    http::HopByHop hop_by_hop(response.fields);
    {
        LineCopier lines(out);
        for (auto const& field : response.fields) {
            if (field.id == Name::content_length || field.id == Name::age || hop_by_hop.dropped(field)) continue;
            if (storing && !storing->keeps_field(field.name)) continue;
            lines.add(field);
        }
    }
    // RFC 9110 6.6.1: a recipient of a response without Date adds the time of receipt.
    if (!response.fields.has(Name::date)) {
        char date[http::http_date_bytes];
        http::format_http_date(now_seconds, date);
        append_line(out, "Date", {date, sizeof date});
    }
}

std::string_view write_patch(PatchBuffer& buffer, Patch const& patch, std::string_view signature) {
    Cursor cursor{buffer.data(), buffer.data() + buffer.size()};
    if (patch.age) {
        cursor.put("Age: ");
        cursor.put(*patch.age);
        cursor.put("\r\n");
    }
    if (patch.content_length) {
        cursor.put("Content-Length: ");
        cursor.put(*patch.content_length);
        cursor.put("\r\n");
    }
    if (patch.chunked) cursor.put("Transfer-Encoding: chunked\r\n");
    cursor.put(signature);
    check(cursor.end - cursor.at >= static_cast<std::ptrdiff_t>(http::cache_status_bytes));
    cursor.at += http::write_cache_parameters(cursor.at, patch.status);
    cursor.put("\r\n");
    cursor.put(patch.extra);
    if (patch.close) cursor.put("Connection: close\r\n");
    cursor.put("\r\n");
    return {buffer.data(), static_cast<std::size_t>(cursor.at - buffer.data())};
}

std::string signature_of(std::string_view via) {
    std::string lines;
    append_via(lines, via);
    return lines.append("Cache-Status: ").append(http::cache_name_item(via));
}

std::string_view reason_phrase(std::uint16_t status) {
    switch (status) {
    case 200: return "OK";
    case 206: return "Partial Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 407: return "Proxy Authentication Required";
    case 408: return "Request Timeout";
    case 413: return "Content Too Large";
    case 414: return "URI Too Long";
    case 416: return "Range Not Satisfiable";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 502: return "Bad Gateway";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    case 508: return "Loop Detected";
    default: return "";
    }
}

}   // namespace garner::proxy
