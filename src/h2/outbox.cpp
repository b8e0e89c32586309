#include "h2/outbox.hpp"

#include <algorithm>
#include <cstring>

namespace garner::h2 {

void Outbox::begin() {
    left_ = unknown;
    parts_ = {};
    pending_ = 0;
    ending_ = false;
    trailers_.clear();
}

void Outbox::attach(std::span<iovec> parts) {
    parts_ = parts;
    pending_ = 0;
    for (auto const& part : parts) pending_ += part.iov_len;
    pending_ = std::min<Bytes>(pending_, left_);
}

std::span<iovec> Outbox::withdraw() {
    auto const rest = pending_ > 0 ? parts_ : std::span<iovec>{};
    parts_ = {};
    pending_ = 0;
    return rest;
}

void Outbox::end(std::string_view trailers) {
    ending_ = true;
    trailers_.assign(trailers);
}

void Outbox::copy(std::span<char> into) {
    pending_ -= into.size();
    if (left_ != unknown) left_ -= into.size();
    while (!into.empty()) {
        auto& part = parts_.front();
        auto const count = std::min(part.iov_len, into.size());
        if (count > 0) std::memcpy(into.data(), part.iov_base, count);
        into = into.subspan(count);
        part.iov_base = static_cast<char*>(part.iov_base) + count;
        part.iov_len -= count;
        if (part.iov_len == 0) parts_ = parts_.subspan(1);
    }
}

}   // namespace garner::h2
