// Wakes a thread that waits for descriptors.
#pragma once
#include <sys/eventfd.h>
#include <unistd.h>

#include <cstdint>

namespace garner {

/// Thread-safe.
class Event {
public:
    Event() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
    Event(Event const&) = delete;
    ~Event() { ::close(descriptor_); }

    /// Makes the descriptor readable.
    void set() const {
        std::uint64_t const one = 1;
        [[maybe_unused]] auto const written = ::write(descriptor_, &one, sizeof one);
    }
    void clear() const {
        std::uint64_t count;
        [[maybe_unused]] auto const read = ::read(descriptor_, &count, sizeof count);
    }
    int descriptor() const { return descriptor_; }

private:
    int const descriptor_;
};

}   // namespace garner
