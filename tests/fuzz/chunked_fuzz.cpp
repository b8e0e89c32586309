// Bodies: input in pieces gives the result of the whole input, data are views of the input, and each byte is consumed exactly once.
#include <cstring>
#include <string>

#include "fuzzed.hpp"
#include "http/framing.hpp"

namespace {

using namespace garner;
using Step = http::BodyDecoder::Step;

struct Decoded {
    Step::Kind end = Step::Kind::need_more;
    std::string body, trailers, refusal;
    http::Repair repair = http::Repair::none;
    std::size_t consumed = 0;

    bool operator==(Decoded const&) const = default;
};

Step::Kind take(http::BodyDecoder& decoder, std::string_view piece, Decoded& decoded) {
    fuzz::Exact const bytes(piece);
    auto rest = bytes.view();
    while (true) {
        auto const step = decoder.step(rest);
        check(step.consumed <= rest.size() && fuzz::lies_inside(step.data, rest.substr(0, step.consumed)));
        check((step.kind == Step::Kind::data) == !step.data.empty());
        check(step.kind != Step::Kind::need_more || step.consumed == rest.size());
        check((step.kind == Step::Kind::done) == (decoder.done() && step.kind != Step::Kind::data));
        decoded.body += step.data;
        decoded.consumed += step.consumed;
        rest.remove_prefix(step.consumed);
        if (step.kind != Step::Kind::data) return step.kind;
    }
}

enum class Errors : bool { refused, repaired };

Decoded decode(http::Framing const& framing, std::string_view bytes, std::vector<std::size_t> const& ends,
               Errors errors = Errors::refused) {
    http::BodyDecoder decoder(framing, 512);
    if (errors == Errors::repaired) decoder.tolerate();
    Decoded decoded;
    std::size_t begin = 0;
    for (auto end : ends) {
        decoded.end = take(decoder, bytes.substr(begin, end - begin), decoded);
        if (decoded.end != Step::Kind::need_more) break;
        begin = end;
    }
    if (decoded.end == Step::Kind::refused) decoded.consumed = 0;
    decoded.repair = decoder.repair();
    if (decoder.refusal()) decoded.refusal = decoder.refusal();
    if (decoder.done()) decoded.trailers = decoder.trailers();
    check(decoder.closed() == (decoded.end == Step::Kind::done || (framing.kind == http::Framing::Kind::until_close)));
    return decoded;
}

/// Encodes the decoded body as new chunks and decodes it again.
void check_sent_on(Decoded const& decoded) {
    std::string text;
    char header[18];
    if (!decoded.body.empty()) {
        text.append(header, http::write_chunk_header(decoded.body.size(), header));
        text.append(decoded.body).append("\r\n");
    }
    text.append(header, http::write_chunk_header(0, header)).append(decoded.trailers).append("\r\n");
    auto const again = decode({.kind = http::Framing::Kind::chunked}, text, {text.size()});
    check(again.end == Step::Kind::done && again.body == decoded.body && again.trailers == decoded.trailers);
    check(again.consumed == text.size());
}

void check_trailers(std::string_view trailers) {
    while (!trailers.empty()) {
        auto const end = trailers.find("\r\n");
        check(end != std::string_view::npos);
        http::Field field;
        check(http::parse_field_line(trailers.substr(0, end), field) == nullptr);
        check(field.id == http::Name::other || field.id == http::Name::etag);
        trailers.remove_prefix(end + 2);
    }
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    http::Framing framing{.kind = http::Framing::Kind::chunked};
    if (input.seed % 16 == 1) framing = {.kind = http::Framing::Kind::length, .length = input.seed};
    if (input.seed % 16 == 2) framing = {.kind = http::Framing::Kind::until_close};
    auto const strict = decode(framing, input.bytes, {input.bytes.size()});
    auto const errors = input.seed % 2 == 0 ? Errors::refused : Errors::repaired;
    auto const whole = decode(framing, input.bytes, {input.bytes.size()}, errors);
    check(whole == decode(framing, input.bytes, fuzz::cuts(input.bytes.size(), input.seed), errors));
    check(strict.end != Step::Kind::done || whole == strict);
    check_trailers(whole.trailers);
    if (framing.kind == http::Framing::Kind::chunked && whole.end == Step::Kind::done) check_sent_on(whole);
    return 0;
}
