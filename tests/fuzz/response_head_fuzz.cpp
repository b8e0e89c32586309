// Response heads: input in pieces gives the result of the whole input,
// views lie in the input, and a forwarded head parses to an equal one.
#include "head_invariants.hpp"
#include "http/framing.hpp"

namespace {

using namespace garner;

void check_sent_on(http::ResponseHead const& head) {
    std::string text = "HTTP/1.1 " + std::to_string(head.status) + " ";
    text.append(head.reason).append("\r\n");
    fuzz::append_fields(head.fields, text);
    http::ResponseHead again;
    std::size_t scanned = 0;
    auto parse = http::parse_response_head(text, {}, scanned, again);
    check(parse.kind == http::HeadParse::Kind::complete && parse.bytes == text.size());
    check(again.status == head.status && again.reason == head.reason);
    check(again.fields.size() == head.fields.size());
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    fuzz::Exact const bytes(input.bytes);
    http::ResponseHead head;
    if (!fuzz::check_head(input, http::parse_response_head, bytes, head)) return 0;
    check(fuzz::lies_inside(head.reason, bytes.view()) && fuzz::is_clean(head.reason));
    check(head.status >= 100 && head.status <= 999);

    auto const framing = http::response_framing(head, http::Method::get);
    bool const coded = head.fields.has(http::Name::transfer_encoding);
    bool const bodiless = head.status < 200 || head.status == 204 || head.status == 304;
    if (bodiless) check(framing.kind == http::Framing::Kind::none && !framing.refusal);
    if (!bodiless && coded && head.fields.has(http::Name::content_length)) check(framing.refusal != nullptr);
    check(http::response_framing(head, http::Method::head).kind == http::Framing::Kind::none);
    if (http::wants_close(head.fields)) check(!http::keeps_alive(head));
    check_sent_on(head);
    return 0;
}
