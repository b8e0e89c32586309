// Stands in for a disk store after another process has taken it over.
#pragma once
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "store/interim_disk.hpp"

namespace garner::store {

/// Finds and stores nothing, and gives removals to the other process. Until begin_to_wait() that process serves no client: only
/// waits for Survives::power wait for its acknowledgement. Afterwards all do, before a client gets an answer. Thread-safe.
class SuccessorDisk final : public InterimDisk {
public:
    /// The part of a key that the other process removes by.
    using Shorten = std::string_view (*)(std::string_view key);
    /// `former`: null without a disk. `wake`: called, on any thread, when there is something to take().
    SuccessorDisk(DiskStore const* former, std::function<void()> wake, Shorten shorten);

    struct Removals {
        std::uint64_t number = 0;   // to acknowledge(), if it is higher than that of the removals before
        std::vector<std::string> keys = {};
        Survives what = Survives::process;
        bool everything = false;   // too many, or too long, to be listed
    };
    /// Removals for one message, which have not been taken; nothing if there are none.
    std::optional<Removals> take();
    /// The other process has removed everything up to this number.
    void acknowledge(std::uint64_t number);
    /// Call before the take() of the last removals that the other process gets before it serves.
    void begin_to_wait();
    /// There will be no more acknowledgements: all waits end as settled.
    void finish();

    static constexpr Bytes key_max = 60 * KiB;

    bool forget(std::string_view key) override;
    /// The other process gets it as a key that begins with note_mark.
    bool note(std::string_view line) override;
    static constexpr char note_mark = '!';
    net::awaitable<bool> settled(Survives what, net::Executor executor) override;
    bool wait_until_settled(Survives what) override;

private:
    enum class Settling : std::uint8_t { waits, settled, passed_on };
    void add(std::string_view key);
    std::uint64_t ask(Survives what);
    Settling answer(std::uint64_t number) const;

    std::function<void()> const wake_;
    Shorten const shorten_;
    mutable Mutex removals_mutex_;
    std::set<std::string, std::less<>> waiting_ GUARDED_BY(removals_mutex_);
    bool everything_ GUARDED_BY(removals_mutex_) = false;   // instead of keys
    bool power_ GUARDED_BY(removals_mutex_) = false;        // asked for since the last batch
    bool waits_ GUARDED_BY(removals_mutex_) = false;        // also for Survives::process
    std::uint64_t added_ GUARDED_BY(removals_mutex_) = 0;
    std::uint64_t taken_ GUARDED_BY(removals_mutex_) = 0;   // with all before it
    std::uint64_t acknowledged_ GUARDED_BY(removals_mutex_) = 0;
    bool finished_ GUARDED_BY(removals_mutex_) = false;
};

}   // namespace garner::store
