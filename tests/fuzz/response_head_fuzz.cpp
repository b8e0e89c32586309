// Response heads: input in pieces gives the result of the whole input,
// views lie in the input, and a forwarded head parses to an equal one. A repaired head has no error that a strict parser lets pass.
#include "head_invariants.hpp"
#include "http/framing.hpp"
#include "http/head_repair.hpp"

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

/// The parser refuses no head before its first line is complete, unless that is too long.
void check_repair(fuzz::Input const& input) {
    auto const first_line = input.bytes.find('\n');
    if (first_line == std::string_view::npos) return;
    http::HeadRepair pieces;
    std::size_t scanned = 0;
    for (auto const end : fuzz::cuts(input.bytes.size(), input.seed)) {
        if (end <= first_line) continue;
        pieces = http::repair_response_head(input.bytes.substr(0, end), fuzz::limits, scanned);
        if (pieces.kind != http::HeadParse::Kind::incomplete) break;
    }
    scanned = 0;
    auto const repair = http::repair_response_head(input.bytes, fuzz::limits, scanned);
    check(pieces.kind == repair.kind && pieces.text == repair.text && pieces.repair == repair.repair);
    if (repair.kind != http::HeadParse::Kind::complete) return;
    check(repair.bytes <= input.bytes.size() && repair.repair != http::Repair::none);
    http::ResponseHead head;
    std::size_t again = 0;
    auto const parse = http::parse_response_head(repair.text, http::HeadLimits::none(), again, head);
    check(parse.kind != http::HeadParse::Kind::incomplete);
    if (parse.kind == http::HeadParse::Kind::refused) return;
    check(parse.bytes == repair.text.size() && fuzz::is_clean(head.reason));
    for (auto const& field : head.fields) check(http::is_token(field.name) && fuzz::is_clean(field.value));
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    fuzz::Exact const bytes(input.bytes);
    http::ResponseHead head;
    check_repair(input);
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
