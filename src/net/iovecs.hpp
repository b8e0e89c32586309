// Steps through the parts of a message that is being written.
#pragma once
#include <sys/uio.h>

#include <cstddef>
#include <span>

namespace garner::net {

/// Drops the first `bytes` of `parts`, and then leading empty parts.
inline void drop_front(std::span<iovec>& parts, std::size_t bytes) {
    while (bytes > 0 && bytes >= parts.front().iov_len) {
        bytes -= parts.front().iov_len;
        parts = parts.subspan(1);
    }
    if (bytes > 0) {
        parts.front().iov_base = static_cast<char*>(parts.front().iov_base) + bytes;
        parts.front().iov_len -= bytes;
    }
    while (!parts.empty() && parts.front().iov_len == 0) parts = parts.subspan(1);
}

}   // namespace garner::net
