#include "http/framing.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

#include "http/gateway.hpp"
#include "util/bytes.hpp"
#include "util/text.hpp"

namespace garner::http {
namespace {

constexpr std::uint64_t largest_length = INT64_MAX;
constexpr std::size_t size_line_limit = 4 * KiB;
constexpr std::uint64_t free_extension_bytes = 16 * KiB;

Framing refused(char const* why, std::uint16_t status = 400) { return {.refusal = why, .status = status}; }

/// The error in a Transfer-Encoding that is not exactly "chunked" (RFC 9112 6.1, 7).
Framing coding_fault(Fields const& fields) {
    int chunked = 0;
    bool last_is_chunked = false, malformed = false, unknown = false;
    for_each_member(fields, Name::transfer_encoding, [&](std::string_view coding) {
        last_is_chunked = equals_ignoring_case(coding, "chunked");
        chunked += last_is_chunked;
        unknown |= !last_is_chunked;
        malformed |= !is_token(coding);
    });
    if (malformed) return refused("malformed Transfer-Encoding");
    if (chunked > 1) return refused("chunked twice");
    if (chunked == 1 && !last_is_chunked) return refused("chunked is not the last coding");
    if (unknown) return refused("unknown transfer coding", 501);
    return refused("malformed Transfer-Encoding");
}

Framing parsed_length(std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789") != npos) return refused("Content-Length is not a number");
    auto length = parse_decimal(text);
    if (!length || *length > largest_length) return refused("Content-Length too large");
    return {.kind = Framing::Kind::length, .length = *length};
}

Framing length_framing(Fields const& fields) {
    if (fields.count(Name::content_length) > 1) return refused("more than one Content-Length");
    auto text = fields.first(Name::content_length);
    if (text.find(',') != text.npos) return refused("Content-Length is a list");
    return parsed_length(text);
}

/// The framing by the fields; `otherwise` when there is none.
Framing framing_of(Fields const& fields, Version version, Framing::Kind otherwise) {
    bool const length = fields.has(Name::content_length);
    if (!fields.has(Name::transfer_encoding)) return length ? length_framing(fields) : Framing{.kind = otherwise};
    if (length) return refused("Content-Length with Transfer-Encoding");
    if (version == Version::http_1_0) return refused("Transfer-Encoding in HTTP/1.0");
    bool const exact =
        fields.count(Name::transfer_encoding) == 1 && equals_ignoring_case(fields.first(Name::transfer_encoding), "chunked");
    return exact ? Framing{.kind = Framing::Kind::chunked} : coding_fault(fields);
}

/// The one valid value of all members of all lines; the refusal if they differ or one is invalid.
Framing common_length(Fields const& fields) {
    std::optional<Framing> common;
    for (Field const& field : fields) {
        if (field.id != Name::content_length) continue;
        for_each_part(field.value, [&](std::string_view text) {
            auto const length = parsed_length(text);
            if (!common)
                common = length;
            else if (!common->refusal && (length.refusal || length.length != common->length))
                common = length.refusal ? length : refused("Content-Length values differ");
        });
    }
    return common ? *common : refused("Content-Length is not a number");
}

bool is_bodiless(ResponseHead const& head, Method request) {
    auto const status = head.status;
    return request == Method::head || status < 200 || status == 204 || status == 304 ||
           (request == Method::connect && status < 300);
}

/// RFC 9110 6.5.1: a trailer is too late for fields about framing, routing, authentication, request modification, cache
/// control or content. These are the names that this proxy knows, except ETag, and a few more.
bool may_be_trailer(Field const& field) {
    if (field.id == Name::etag) return true;
    if (field.id != Name::other) return false;
    auto name = lower_case(field.name);
    if (is_gateway_field(name)) return false;
    return name != "www-authenticate" && name != "retry-after" && !name.ends_with("cache-control");
}

}   // namespace

Framing request_framing(RequestHead const& head) { return framing_of(head.fields, head.version, Framing::Kind::none); }

Framing response_framing(ResponseHead const& head, Method request) {
    return is_bodiless(head, request) ? Framing{} : framing_of(head.fields, head.version, Framing::Kind::until_close);
}

Framing settled_response_framing(ResponseHead const& head, Method request) {
    auto const framing = response_framing(head, request);
    if (!framing.refusal) return framing;
    auto const& fields = head.fields;
    if (!fields.has(Name::transfer_encoding)) return common_length(fields);
    bool const exact =
        fields.count(Name::transfer_encoding) == 1 && equals_ignoring_case(fields.first(Name::transfer_encoding), "chunked");
    return exact ? Framing{.kind = Framing::Kind::chunked} : coding_fault(fields);
}

void BodyDecoder::begin(Framing const& framing) {
    framing_ = framing;
    left_ = framing.kind == Framing::Kind::length ? framing.length : 0;
    section_bytes_ = 0;
    extension_allowance_ = free_extension_bytes;
    line_.clear();
    trailers_.clear();
    refusal_ = nullptr;
    switch (framing.kind) {
    case Framing::Kind::none: state_ = State::done; break;
    case Framing::Kind::length: state_ = framing.length > 0 ? State::data : State::done; break;
    case Framing::Kind::chunked: state_ = State::size; break;
    case Framing::Kind::until_close: state_ = State::until_close; break;
    }
    if (framing.refusal) fail(framing.refusal);
}

BodyDecoder::Step BodyDecoder::step(std::string_view input) {
    std::size_t at = 0;
    while (true) {
        if (state_ == State::done) return {Step::Kind::done, {}, at};
        if (state_ == State::refused) return {Step::Kind::refused, {}, at};
        if (at == input.size()) return {Step::Kind::need_more, {}, at};
        switch (state_) {
        case State::data:
        case State::chunk:
        case State::until_close: return take_data(input, at);
        case State::chunk_cr:
        case State::chunk_lf: take_chunk_end(input[at++]); break;
        case State::trailers: at = take_trailer_line(input, at); break;
        default: take_size_byte(input[at++]); break;
        }
    }
}

BodyDecoder::Step BodyDecoder::take_data(std::string_view input, std::size_t at) {
    auto data = input.substr(at);
    if (state_ != State::until_close) {
        data = data.substr(0, left_);
        left_ -= data.size();
        if (left_ == 0) state_ = state_ == State::data ? State::done : State::chunk_cr;
    }
    return {Step::Kind::data, data, at + data.size()};
}

void BodyDecoder::take_size_byte(char byte) {
    if (++section_bytes_ > size_line_limit) return fail("chunk-size line too long");
    switch (state_) {
    case State::size:
        if (int digit = hex_value(byte); digit >= 0) {
            if (left_ > largest_length / 16) return fail("chunk size too large");
            left_ = left_ * 16 + static_cast<std::uint64_t>(digit);
            return;
        }
        if (section_bytes_ == 1) return fail("chunk size is not a number");
        [[fallthrough]];
    case State::padding:
        if (byte == ';')
            state_ = State::extension;
        else if (byte == ' ' || byte == '\t')
            state_ = State::padding;
        else if (byte == '\r' && (state_ == State::size || repairs(Repair::clear)))
            state_ = State::size_end;
        else if (byte == '\n' && repairs(Repair::doubtful))
            end_size_line(byte);
        else
            fail(byte == '\n'            ? "bare LF in chunk-size line"
                 : state_ == State::size ? "chunk size is not a number"
                                         : "white space after chunk size");
        return;
    case State::size_end: return end_size_line(byte);
    default: return take_extension_byte(byte);
    }
}

void BodyDecoder::take_extension_byte(char byte) {
    if (extension_allowance_-- == 0) return fail("too many chunk extensions");
    bool const was_escaped = state_ == State::escaped;
    bool const in_quotes = was_escaped || state_ == State::quoted;
    if (byte == '\n') return fail("bare LF in chunk-size line");
    if (byte == '\r') {
        if (in_quotes) return fail("unterminated quote in chunk extension");
        state_ = State::size_end;
        return;
    }
    auto const code = static_cast<unsigned char>(byte);
    if ((code < 0x20 && byte != '\t') || code == 0x7f) return fail("control byte in chunk extension");
    if (was_escaped)
        state_ = State::quoted;
    else if (in_quotes && byte == '\\')
        state_ = State::escaped;
    else if (byte == '"')
        state_ = in_quotes ? State::extension : State::quoted;
    else if (!in_quotes && code >= 0x80)
        fail("bad byte in chunk extension");
}

void BodyDecoder::end_size_line(char byte) {
    if (byte != '\n') return fail("bare CR in chunk-size line");
    section_bytes_ = 0;
    state_ = left_ > 0 ? State::chunk : State::trailers;
    // Extensions cost work without use: their size is limited in proportion to the body.
    extension_allowance_ = std::min(extension_allowance_ + left_, largest_length);
}

/// False: the message must be refused.
bool BodyDecoder::repairs(Repair repair) {
    if (tolerant_) note_repair(repair);
    return tolerant_;
}

void BodyDecoder::take_chunk_end(char byte) {
    if (byte == (state_ == State::chunk_cr ? '\r' : '\n'))
        state_ = state_ == State::chunk_cr ? State::chunk_lf : State::size;
    else if (byte == '\n' && repairs(Repair::doubtful))
        state_ = State::size;
    else
        fail("data longer than its chunk");
}

/// Reads as much of one trailer line as is available; returns where the next one begins.
std::size_t BodyDecoder::take_trailer_line(std::string_view input, std::size_t at) {
    auto const rest = input.substr(at, trailer_limit_ - section_bytes_);
    auto const newline = rest.find('\n');
    auto const taken = newline == npos ? rest.size() : newline + 1;
    section_bytes_ += taken;
    if (newline == npos) {
        line_ += rest;
        if (section_bytes_ == trailer_limit_) fail("trailer section too large");
    } else if (line_.empty()) {
        end_trailer_line(rest.substr(0, taken));
    } else {
        line_ += rest.substr(0, taken);
        end_trailer_line(line_);
        line_.clear();
    }
    return at + taken;
}

/// `line` ends with LF.
void BodyDecoder::end_trailer_line(std::string_view line) {
    bool const ends_well = line.ends_with("\r\n");
    if (!ends_well && !repairs(Repair::doubtful)) return fail("bare LF in trailer section");
    auto const content = line.substr(0, line.size() - (ends_well ? 2 : 1));
    if (content.empty()) {
        state_ = State::done;
        return;
    }
    Field field;
    auto const* const why = parse_field_line(content, field);
    if (why && !repairs(Repair::doubtful)) return fail(why);
    if (!why && may_be_trailer(field)) trailers_.append(content).append("\r\n");
}

void BodyDecoder::fail(char const* why) {
    state_ = State::refused;
    refusal_ = why;
}

bool BodyDecoder::closed() {
    if (state_ == State::until_close) state_ = State::done;
    return done();
}

std::size_t write_chunk_header(std::uint64_t size, char* out) {
    auto* end = std::to_chars(out, out + 16, size, 16).ptr;
    *end++ = '\r';
    *end++ = '\n';
    return static_cast<std::size_t>(end - out);
}

std::string announced_trailers(std::string_view trailers, Fields const& head) {
    std::string announced;
    while (!trailers.empty()) {
        auto const line = trailers.substr(0, trailers.find('\n') + 1);
        auto const name = line.substr(0, line.find(':'));
        bool named = false;
        for_each_member(head, Name::trailer, [&](std::string_view one) { named = named || equals_ignoring_case(one, name); });
        if (named) announced += line;
        trailers.remove_prefix(line.size());
    }
    return announced;
}

}   // namespace garner::http
