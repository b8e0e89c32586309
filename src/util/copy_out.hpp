// Copies data that this processor does not read again.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace garner {

/// Like std::memcpy, but bypasses the processor's caches: the target is not fetched first, and cached data is not
/// displaced. For many kilobytes that a device reads next. Data that this processor reads next should be copied by memcpy.
inline void copy_out(char* to, char const* from, std::size_t bytes) {
#if defined(__SSE2__)
    constexpr std::size_t line = 64, word = sizeof(__m128i);
    auto const before = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
    if (bytes >= before + line) {
        std::memcpy(to, from, before);
        to += before, from += before, bytes -= before;
        for (; bytes >= line; to += line, from += line, bytes -= line)
            for (std::size_t at = 0; at < line; at += word)
                _mm_stream_si128(reinterpret_cast<__m128i*>(to + at), _mm_loadu_si128(reinterpret_cast<__m128i const*>(from + at)));
        _mm_sfence();   // before the copy is published
    }
#endif
    std::memcpy(to, from, bytes);
}

}   // namespace garner
