// Request heads: input in pieces gives the result of the whole input,
// views lie in the input, and a forwarded head parses to an equal one.
#include "head_invariants.hpp"
#include "http/framing.hpp"
#include "http/uri.hpp"

namespace {

using namespace garner;

/// Serializes the parsed message and parses it again: one equal message, with no bytes left.
void check_sent_on(http::RequestHead const& head) {
    std::string text;
    text.append(head.method_text).append(" ").append(head.target).append(" HTTP/1.1\r\n");
    fuzz::append_fields(head.fields, text);
    http::RequestHead again;
    std::size_t scanned = 0;
    auto parse = http::parse_request_head(text, {}, scanned, again);
    check(parse.kind == http::HeadParse::Kind::complete && parse.bytes == text.size());
    check(again.method_text == head.method_text && again.method == head.method && again.target == head.target);
    check(again.fields.size() == head.fields.size());
    auto const before = http::request_framing(head), after = http::request_framing(again);
    if (head.version == http::Version::http_1_1) check(before.kind == after.kind && before.length == after.length);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    fuzz::Exact const bytes(input.bytes);
    http::RequestHead head;
    if (!fuzz::check_head(input, http::parse_request_head, bytes, head)) return 0;
    check(fuzz::lies_inside(head.method_text, bytes.view()) && http::is_token(head.method_text));
    check(fuzz::lies_inside(head.target, bytes.view()) && !head.target.empty());
    check(head.target.size() <= fuzz::limits.target);
    check(head.target.find_first_of(" \t\r\n") == std::string_view::npos);

    auto const framing = http::request_framing(head);
    bool const coded = head.fields.has(http::Name::transfer_encoding);
    if (coded && head.fields.has(http::Name::content_length)) check(framing.refusal != nullptr);
    if (framing.kind == http::Framing::Kind::chunked) check(coded && head.version == http::Version::http_1_1);
    check(framing.kind != http::Framing::Kind::until_close);
    if (http::wants_upgrade(head)) check(head.version == http::Version::http_1_1);
    if (http::wants_close(head.fields)) check(!http::keeps_alive(head));
    check_sent_on(head);
    return 0;
}
