// Text from another process, for people, logs, JSON and metrics.
#pragma once
#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "util/utf8.hpp"

namespace garner::group {

/// At most about `most` bytes of it. Control characters and bytes that are not UTF-8 become '?'. Pure.
inline std::string shown(std::string_view text, std::size_t most = 80) {
    std::string out;
    while (!text.empty() && out.size() < most) {
        bool const is_ascii = text.front() >= ' ' && text.front() < 0x7f;
        std::size_t const length = is_ascii ? 1 : static_cast<std::size_t>(utf8_length(text));
        out += length > 0 ? text.substr(0, length) : "?";
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

}   // namespace garner::group
