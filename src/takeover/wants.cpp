#include "takeover/wants.hpp"

#include <cstdint>
#include <cstring>

namespace garner::takeover {

std::string want(std::string_view key) {
    if (key.empty() || key.size() > want_max) return {};
    auto const size = static_cast<std::uint32_t>(key.size());
    std::string bytes(sizeof size, '\0');
    std::memcpy(bytes.data(), &size, sizeof size);   // little-endian
    return bytes.append(key);
}

std::optional<std::string> Wants::next() {
    std::uint32_t size = 0;
    if (invalid_ || bytes_.size() < sizeof size) return std::nullopt;
    std::memcpy(&size, bytes_.data(), sizeof size);
    invalid_ = size == 0 || size > want_max;
    if (invalid_) bytes_.clear();
    if (invalid_ || bytes_.size() < sizeof size + size) return std::nullopt;
    auto key = bytes_.substr(sizeof size, size);
    bytes_.erase(0, sizeof size + size);
    return key;
}

}   // namespace garner::takeover
