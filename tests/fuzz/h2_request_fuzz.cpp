// HTTP/2 request fields. The input has lines "name: value"; the first colon after the first byte divides them. An accepted request
// becomes one HTTP/1.1 request with the same fields; a refused one leaves nothing.
#include <algorithm>
#include <string>
#include <vector>

#include "fuzzed.hpp"
#include "h2/request_fields.hpp"
#include "http/framing.hpp"

namespace {

using namespace garner;

constexpr http::HeadLimits limits{.bytes = 2'048, .fields = 32, .target = 512};

struct WireField {
    std::string_view name, value;
};

/// Fields are divided by 0xff, so that CR and LF may be in them.
std::vector<WireField> fields_in(std::string_view text) {
    std::vector<WireField> fields;
    while (!text.empty()) {
        auto const one = text.substr(0, text.find('\xff'));
        text.remove_prefix(std::min(text.size(), one.size() + 1));
        auto const colon = one.find(':', 1);
        if (one.empty() || colon == std::string_view::npos)
            fields.push_back({one, {}});
        else
            fields.push_back({one.substr(0, colon), one.substr(colon + 1)});
    }
    return fields;
}

std::string_view value_of(std::vector<WireField> const& fields, std::string_view name) {
    for (auto const& field : fields)
        if (field.name == name) return field.value;
    return {};
}

void check_accepted(std::vector<WireField> const& fields, h2::RequestBuilder const& builder, bool body_follows,
                    std::string const& text, http::RequestHead const& head) {
    check(text.ends_with("\r\n\r\n") && text.find("\r\n\r\n") == text.size() - 4);
    check(builder.size() <= limits.bytes);
    check(head.method_text == (builder.is_websocket() ? "GET" : value_of(fields, ":method")));
    check(head.fields.count(http::Name::host) == 1 && head.fields.count(http::Name::cookie) <= 1);
    if (!builder.is_websocket()) check(!head.fields.has(http::Name::connection) && !head.fields.has(http::Name::upgrade));
    // Every line is one of the client's or one of the builder's.
    auto const own = [](http::Field const& line) {
        return line.name == "Host" || line.name == "Cookie" || line.name == "Transfer-Encoding" || line.name == "Connection" ||
               line.name == "Upgrade" || line.name == "Sec-WebSocket-Key";
    };
    for (auto const& line : head.fields)
        check(own(line) || std::ranges::any_of(fields, [&](WireField const& field) { return field.name == line.name; }));
    auto const framing = http::request_framing(head);
    if (framing.refusal) return;
    if (!body_follows) check(framing.kind == http::Framing::Kind::none || framing.length == 0);
    if (body_follows && !builder.is_connect() && !builder.is_websocket()) check(framing.kind != http::Framing::Kind::none);
    if (framing.kind == http::Framing::Kind::chunked) check(value_of(fields, "content-length").empty());
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    fuzz::Exact const bytes(input.bytes);
    auto const fields = fields_in(bytes.view());
    bool const body_follows = input.seed % 2 == 1;
    static h2::RequestBuilder builder;   // keeps its memory, and must keep nothing else
    builder.begin(limits);
    for (auto const& field : fields) builder.add(field.name, field.value);
    std::string text;
    http::RequestHead head;
    auto const parsed = builder.finish({body_follows, "AAAAAAAAAAAAAAAAAAAAAA=="}, text, head);
    if (parsed.kind == http::HeadParse::Kind::complete) {
        check_accepted(fields, builder, body_follows, text, head);
    } else {
        check(parsed.kind == http::HeadParse::Kind::refused && parsed.status >= 400 && parsed.refusal);
        check(text.empty() && head.fields.empty() && head.target.empty());
    }

    h2::TrailerBuilder trailers;
    trailers.begin();
    for (auto const& field : fields) trailers.add(field.name, field.value);
    std::string lines;
    if (trailers.finish(lines)) check(lines.empty());
    http::Field line;
    for (std::string_view rest = lines; !rest.empty(); rest.remove_prefix(rest.find("\r\n") + 2))
        check(!http::parse_field_line(rest.substr(0, rest.find("\r\n")), line) && line.id != http::Name::content_length);
    return 0;
}
