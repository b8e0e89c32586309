#include "group/signed_frames.hpp"

#include <algorithm>
#include <array>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "util/big_endian.hpp"
#include "util/check.hpp"

namespace garner::group {

namespace {

constexpr std::size_t length_bytes = 4, type_bytes = 1, signature_bytes = 16;

std::string hmac(std::string_view key, std::string_view data) {
    std::array<char, 32> digest{};
    unsigned size = 0;
    auto const* bytes = reinterpret_cast<unsigned char const*>(data.data());
    auto* const to = reinterpret_cast<unsigned char*>(digest.data());
    check(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes, data.size(), to, &size) && size == digest.size());
    return {digest.data(), digest.size()};
}

std::string session_key(std::string_view secret, Nonce const& member, Nonce const& voter) {
    std::string both(member.data(), member.size());
    both.append(voter.data(), voter.size());
    return hmac(secret, both);
}

}   // namespace

std::string Channel::signature(Side from, std::uint64_t number, std::string_view type_and_body) const {
    std::string covered(1, static_cast<char>(from));
    append_big_endian(number, covered);
    return hmac(key_, covered.append(type_and_body)).substr(0, signature_bytes);
}

/// The first frame of each direction has a key of the member's nonce alone.
void Channel::learn_keys(Message const& message) {
    if (auto const* hello = std::get_if<Hello>(&message)) {
        hello_nonce_ = hello->nonce;
        key_ = session_key(secret_, hello_nonce_, Nonce{});
    }
    if (auto const* welcome = std::get_if<Welcome>(&message)) key_ = session_key(secret_, hello_nonce_, welcome->nonce);
}

std::string Channel::seal(Message const& message) {
    auto const body = body_of(message);
    std::string frame;
    append_big_endian(static_cast<std::uint32_t>(type_bytes + body.size() + signature_bytes), frame);
    frame += static_cast<char>(type_of(message));
    frame += body;
    if (std::holds_alternative<Hello>(message)) learn_keys(message);
    frame += signature(side_, sent_frames_++, std::string_view(frame).substr(length_bytes));
    if (std::holds_alternative<Welcome>(message)) learn_keys(message);
    return frame;
}

std::optional<Message> Channel::fail(Trouble trouble) {
    trouble_ = trouble;
    received_.clear();
    read_ = 0;
    return std::nullopt;
}

std::optional<Message> Channel::next() {
    auto const rest = std::string_view(received_).substr(read_);
    if (trouble_ != Trouble::none || rest.size() < length_bytes) return std::nullopt;
    std::size_t const size = read_big_endian<std::uint32_t>(rest);
    if (size > (received_frames_ == 0 ? first_frame_bytes_max : frame_bytes_max)) return fail(Trouble::too_long);
    if (size < type_bytes + signature_bytes) return fail(Trouble::malformed);
    if (rest.size() < length_bytes + size) {
        received_.erase(0, read_);
        read_ = 0;
        return std::nullopt;
    }
    auto message = open(rest.substr(length_bytes, size));
    if (message) read_ += length_bytes + size;
    return message;
}

std::optional<Message> Channel::open(std::string_view frame) {
    auto const signed_part = frame.substr(0, frame.size() - signature_bytes);
    auto const given = frame.substr(signed_part.size());
    auto message = message_in(static_cast<std::uint8_t>(frame.front()), signed_part.substr(type_bytes));
    bool const is_first = received_frames_ == 0;
    bool const is_hello = message && std::holds_alternative<Hello>(*message);
    // The key of a Hello is derived from the Hello itself.
    if (side_ == Side::voter && is_first && !is_hello) return fail(message ? Trouble::unexpected : Trouble::malformed);
    if (side_ == Side::voter && is_first) learn_keys(*message);
    auto const from = side_ == Side::member ? Side::voter : Side::member;
    auto const wanted = signature(from, received_frames_++, signed_part);
    if (CRYPTO_memcmp(wanted.data(), given.data(), signature_bytes) != 0) return fail(Trouble::bad_signature);
    if (!message) return fail(Trouble::malformed);
    bool const is_answer = std::holds_alternative<Welcome>(*message) || std::holds_alternative<Refused>(*message);
    bool const is_welcome = std::holds_alternative<Welcome>(*message);
    if (side_ == Side::voter ? is_hello != is_first : is_first ? !is_answer : is_welcome) return fail(Trouble::unexpected);
    if (side_ == Side::member && is_first) learn_keys(*message);
    return message;
}

char const* text(Channel::Trouble trouble) {
    switch (trouble) {
    case Channel::Trouble::none: return "";
    case Channel::Trouble::too_long: return "a frame is too long";
    case Channel::Trouble::bad_signature: return "a signature is wrong: the other end has another secret, or bytes were damaged";
    case Channel::Trouble::malformed: return "a message is malformed or of unknown type";
    case Channel::Trouble::unexpected: return "a message is not allowed at this place";
    }
    return "";
}

}   // namespace garner::group
