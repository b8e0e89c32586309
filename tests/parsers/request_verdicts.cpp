// Reads byte strings from standard input, each after its length (4 bytes, little endian), and prints a line about each: the
// requests that Garner parses from it, and the reason why it stops. compare.js compares them with another parser.
#include <cstdio>
#include <iostream>
#include <string>

#include "http/framing.hpp"
#include "http/hop_by_hop.hpp"
#include "http/message.hpp"

namespace {

using namespace garner::http;

std::string hex(std::string_view bytes) {
    std::string out;
    for (unsigned char byte : bytes) {
        char digits[3];
        std::snprintf(digits, sizeof digits, "%02x", byte);
        out += digits;
    }
    return out;
}

/// Reads the body and removes it from `rest`; false if it is incomplete or refused, with the reason in `stop`.
bool read_body(RequestHead const& head, std::string_view& rest, std::string& body, std::string& stop) {
    auto const framing = request_framing(head);
    if (framing.refusal) return stop = framing.refusal, false;
    BodyDecoder decoder(framing);
    while (!decoder.done()) {
        auto const step = decoder.step(rest);
        rest.remove_prefix(step.consumed);
        body += step.data;
        using Kind = BodyDecoder::Step::Kind;
        if (step.kind == Kind::refused) return stop = decoder.refusal(), false;
        if (step.kind == Kind::need_more) return stop = "incomplete", false;
    }
    return true;
}

/// METHOD hex(target) hex(name:value LF ...) hex(body), separated by spaces; "|" separates requests, and the reason ends the line.
std::string verdict(std::string_view bytes) {
    std::string out, stop = "end";
    while (!bytes.empty()) {
        RequestHead head;
        std::size_t scanned = 0;
        auto const parsed = parse_request_head(bytes, {}, scanned, head);
        if (parsed.kind == HeadParse::Kind::refused) stop = parsed.refusal;
        if (parsed.kind == HeadParse::Kind::incomplete) stop = "incomplete";
        if (parsed.kind != HeadParse::Kind::complete) break;
        auto rest = bytes.substr(parsed.bytes);
        std::string fields, body;
        for (auto const& field : head.fields) fields.append(field.name).append(":").append(field.value).append("\n");
        bool const whole = read_body(head, rest, body, stop);
        if (!whole) break;
        out.append(head.method_text)
            .append(" ")
            .append(hex(head.target))
            .append(" ")
            .append(hex(fields))
            .append(" ")
            .append(hex(body))
            .append("|");
        bytes = rest;
        if (wants_close(head.fields) || !keeps_alive(head) || head.method == Method::connect || wants_upgrade(head)) {
            stop = "closes";
            break;
        }
    }
    return out + "\t" + stop;
}

}   // namespace

int main() {
    std::ios::sync_with_stdio(false);
    unsigned char length[4];
    std::string bytes;
    while (std::cin.read(reinterpret_cast<char*>(length), sizeof length)) {
        bytes.resize(length[0] | length[1] << 8 | length[2] << 16 | static_cast<std::size_t>(length[3]) << 24);
        if (!std::cin.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return 1;
        std::cout << verdict(bytes) << "\n";
    }
    return std::cout.flush() ? 0 : 1;
}
