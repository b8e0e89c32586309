// The body of a response while it is framed: borrowed parts, and how the body ends.
#pragma once
#include <sys/uio.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "util/bytes.hpp"

namespace garner::h2 {

/// Belongs to one stream. Pure.
class Outbox {
public:
    /// Begins a body that lasts until end().
    void begin();
    /// The body has this length. Before its first byte.
    void announce(std::uint64_t length) { left_ = length; }
    /// Borrows the next bytes, until they are copied or withdrawn; the elements of `parts` change. Bytes beyond the announced
    /// length are not sent.
    void attach(std::span<iovec> parts);
    /// Returns what was attached and is not copied yet.
    std::span<iovec> withdraw();
    /// Attached bytes that are not copied yet.
    Bytes pending() const { return pending_; }
    /// The body ends after the attached bytes, and those attached before the next copy. `trailers`: lines, each with CRLF.
    void end(std::string_view trailers);

    bool ending() const { return ending_; }
    /// The body ended before its announced length.
    bool truncated() const { return ending_ && pending_ == 0 && left_ != unknown && left_ > 0; }
    /// True if the body ends with the next `bytes`.
    bool ends_with(Bytes bytes) const { return bytes == left_ || (ending_ && left_ == unknown && bytes == pending_); }
    std::string const& trailers() const { return trailers_; }
    /// Frees their memory.
    void forget_trailers() {
        if (!trailers_.empty()) std::string().swap(trailers_);
    }

    /// Copies attached bytes; `into` is at most as long as pending().
    void copy(std::span<char> into);

private:
    static constexpr std::uint64_t unknown = UINT64_MAX;
    std::uint64_t left_ = unknown;   // unsent bytes of the announced length
    std::span<iovec> parts_;
    Bytes pending_ = 0;
    bool ending_ = false;
    std::string trailers_;
};

}   // namespace garner::h2
