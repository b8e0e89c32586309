// Waking a waiting coroutine from anywhere, without knowing how it waits.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace garner::net {

/// Why a wait ended.
enum class Wake : std::uint8_t { ready, deadline, client_gone, shutdown };

struct WaitState;

/// Wakes one wait of one coroutine, from any thread, before, during or after it. The first wake counts, later ones do
/// nothing. Copyable; an empty handle wakes nobody.
class WakeHandle {
public:
    WakeHandle() = default;
    explicit WakeHandle(std::shared_ptr<WaitState> state) : state_(std::move(state)) {}
    void wake(Wake reason) const;
    explicit operator bool() const { return state_ != nullptr; }

private:
    friend void wake_all(std::vector<WakeHandle> handles, Wake reason);
    std::shared_ptr<WaitState> state_;
};

/// Wakes many with one post per worker.
void wake_all(std::vector<WakeHandle> handles, Wake reason);

}  // namespace garner::net
