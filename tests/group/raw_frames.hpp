// Frames of a member behind HELLO, with any type and body, signed as docs/reference/group-protocol.md says.
#pragma once
#include <array>
#include <cstdint>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <string>
#include <string_view>

#include "group/group_message.hpp"
#include "util/big_endian.hpp"
#include "util/check.hpp"

namespace garner::group {

class RawFrames {
public:
    RawFrames(std::string_view secret, Nonce const& member, Nonce const& voter)
        : key_(digest(secret, std::string(member.data(), member.size()).append(voter.data(), voter.size()))) {}

    std::string next(std::uint8_t type, std::string_view body) {
        constexpr std::size_t signature_bytes = 16;
        auto const content = std::string(1, static_cast<char>(type)).append(body);
        std::string covered(1, '\0');   // to the voter
        append_big_endian(++counter_, covered);
        std::string frame;
        append_big_endian(static_cast<std::uint32_t>(content.size() + signature_bytes), frame);
        return frame.append(content).append(digest(key_, covered.append(content)), 0, signature_bytes);
    }

private:
    static std::string digest(std::string_view key, std::string_view text) {
        std::array<char, 32> bytes{};
        unsigned size = 0;
        auto const* const from = reinterpret_cast<unsigned char const*>(text.data());
        auto* const to = reinterpret_cast<unsigned char*>(bytes.data());
        check(HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), from, text.size(), to, &size) && size == bytes.size());
        return {bytes.data(), bytes.size()};
    }
    std::string const key_;
    std::uint64_t counter_ = 0;   // HELLO
};

}   // namespace garner::group
