#include "support/websocket.hpp"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <array>

namespace garner::test {

namespace {

constexpr unsigned char text_frame = 0x81, close_frame = 0x88, mask_bit = 0x80;

// Sec-WebSocket-Accept (RFC 6455 4.2.2).
std::string accept_of(std::string const& key) {
    auto const salted = key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    std::array<unsigned char, SHA_DIGEST_LENGTH> digest;
    SHA1(reinterpret_cast<unsigned char const*>(salted.data()), salted.size(), digest.data());
    std::array<unsigned char, 64> base64;
    auto const size = EVP_EncodeBlock(base64.data(), digest.data(), static_cast<int>(digest.size()));
    return {reinterpret_cast<char const*>(base64.data()), static_cast<std::size_t>(size)};
}

}   // namespace

std::string websocket_frame(std::string_view text, bool masked) {
    std::string frame(1, static_cast<char>(text_frame));
    unsigned char const mask = masked ? mask_bit : 0;
    if (text.size() < 126) {
        frame += static_cast<char>(mask | text.size());
    } else {
        frame += static_cast<char>(mask | 126);
        frame += static_cast<char>(text.size() >> 8);
        frame += static_cast<char>(text.size() & 0xff);
    }
    std::string_view const key("\x11\x22\x33\x44", 4);
    if (masked) frame += key;
    for (std::size_t i = 0; i < text.size(); ++i) frame += static_cast<char>(masked ? text[i] ^ key[i % 4] : text[i]);
    return frame;
}

std::string take_websocket_frame(Wire& wire) {
    auto const start = wire.take(2);
    if (start.size() < 2 || static_cast<unsigned char>(start[0]) == close_frame) return {};
    bool const masked = start[1] & mask_bit;
    std::size_t size = start[1] & 0x7f;
    if (size == 126) {
        auto const more = wire.take(2);
        size = static_cast<unsigned char>(more[0]) * 256u + static_cast<unsigned char>(more[1]);
    }
    auto const key = masked ? wire.take(4) : std::string();
    auto text = wire.take(size);
    if (masked)
        for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(text[i] ^ key[i % 4]);
    return text;
}

void websocket_echo(Hand& hand) {
    hand.leave();
    hand.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: " +
              accept_of(hand.request().head.field("Sec-WebSocket-Key")) + "\r\n\r\n");
    for (std::string text; !(text = take_websocket_frame(hand.wire())).empty();) hand.send(websocket_frame(text, false));
    hand.send({"\x88\0", 2});
}

}   // namespace garner::test
