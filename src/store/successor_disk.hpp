// Stands in for a disk store after another process has taken it over.
#pragma once
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "store/interim_disk.hpp"

namespace garner::store {

/// Finds and stores nothing. Removals must reach the other process before a client gets an answer: settled() waits until that
/// process has acknowledged them. Thread-safe.
class SuccessorDisk final : public InterimDisk {
public:
    /// `former`: null without a disk. `wake`: called, on any thread, when there is something to take().
    SuccessorDisk(DiskStore const* former, std::function<void()> wake);

    struct Removals {
        std::uint64_t number = 0;   // that the last one has
        std::vector<std::string> keys;
        Survives what = Survives::process;
    };
    /// The oldest removals that have not been taken; nothing if there are none.
    std::optional<Removals> take();
    /// The other process has removed everything up to this number.
    void acknowledge(std::uint64_t number);
    /// There is no other process any more, and there was no disk.
    void finish();

    bool forget(std::string_view key) override;
    net::awaitable<bool> settled(Survives what, net::Executor executor) override;
    bool wait_until_settled(Survives what) override;

private:
    struct Removal {
        std::string key;   // empty: only asks for an acknowledgement
        Survives what;
    };
    enum class Answer : std::uint8_t { waits, settled, passed_on };
    std::uint64_t add(std::string_view key, Survives what);
    Answer answer(std::uint64_t number) const;

    std::function<void()> const wake_;
    mutable Mutex removals_mutex_;
    std::deque<Removal> waiting_ GUARDED_BY(removals_mutex_);
    std::uint64_t added_ GUARDED_BY(removals_mutex_) = 0;
    std::uint64_t taken_ GUARDED_BY(removals_mutex_) = 0;
    std::uint64_t acknowledged_ GUARDED_BY(removals_mutex_) = 0;
    bool finished_ GUARDED_BY(removals_mutex_) = false;
};

}   // namespace garner::store
