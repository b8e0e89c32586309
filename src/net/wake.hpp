// Wakes a waiting coroutine from any thread, independent of how it waits.
#pragma once
#include <cstdint>
#include <memory>

#include "util/recycled_memory.hpp"

namespace garner::net {

/// Why a wait ended.
enum class Wake : std::uint8_t { ready, deadline, client_gone, shutdown };

struct WaitState;
class WakeHandle;
using WakeHandles = RecycledVector<WakeHandle>;

/// Wakes one wait of one coroutine, from any thread, before, during or after it. Only the first wake has an effect.
/// Copyable; an empty handle does nothing.
class WakeHandle {
public:
    WakeHandle() = default;
    explicit WakeHandle(std::shared_ptr<WaitState> state) : state_(std::move(state)) {}
    void wake(Wake reason) const;
    explicit operator bool() const { return state_ != nullptr; }

private:
    friend void wake_all(WakeHandles handles, Wake reason);
    std::shared_ptr<WaitState> state_;
};

/// Wakes many handles with one post per worker.
void wake_all(WakeHandles handles, Wake reason);

}   // namespace garner::net
