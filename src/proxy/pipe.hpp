// A pipe through which the kernel passes the bytes of a tunnel.
#pragma once
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <utility>

#include "util/bytes.hpp"

namespace garner::proxy {

/// Both ends of it. Move-only; an empty one is not usable.
class Pipe {
public:
    static constexpr std::size_t bytes = 256 * KiB;

    Pipe() = default;
    /// A new one; not usable if `left`, the number that the process may still open, is used up.
    explicit Pipe(std::atomic<std::int64_t>& left) : left_(&left) {
        if (left.fetch_sub(1, std::memory_order_relaxed) <= 0) return;
        if (::pipe2(ends_, O_NONBLOCK | O_CLOEXEC) != 0)
            ends_[0] = ends_[1] = -1;
        else
            ::fcntl(ends_[1], F_SETPIPE_SZ,
                    static_cast<int>(bytes));   // fewer calls; if the system refuses, the default size is used
    }
    /// That of another process. Owns the descriptors.
    Pipe(std::atomic<std::int64_t>& left, int out, int in) : left_(&left), ends_{out, in} {
        left.fetch_sub(1, std::memory_order_relaxed);
    }
    Pipe(Pipe&& other) noexcept { *this = std::move(other); }
    Pipe& operator=(Pipe&& other) noexcept {
        std::swap(left_, other.left_);
        std::swap(ends_[0], other.ends_[0]);
        std::swap(ends_[1], other.ends_[1]);
        return *this;
    }
    ~Pipe() {
        for (int const end : ends_)
            if (end >= 0) ::close(end);
        if (left_) left_->fetch_add(1, std::memory_order_relaxed);
    }

    bool usable() const { return ends_[0] >= 0; }
    /// The end to read from, and that to write to.
    int out() const { return ends_[0]; }
    int in() const { return ends_[1]; }
    /// Gives up the end to read from, or that to write to: the caller owns the descriptor.
    int release_out() { return std::exchange(ends_[0], -1); }
    int release_in() { return std::exchange(ends_[1], -1); }

private:
    std::atomic<std::int64_t>* left_ = nullptr;
    int ends_[2] = {-1, -1};
};

}   // namespace garner::proxy
