// The removals of a former process, and the acknowledgement that it waits for.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "cache/cache.hpp"
#include "takeover/conversation.hpp"

namespace garner::app {

/// Used on one thread at a time.
class FormerRemovals {
public:
    enum class Begins : std::uint8_t {
        first,
        after_another   // process, which may not have acknowledged removals that must survive a power failure
    };
    FormerRemovals(std::shared_ptr<takeover::Conversation> conversation, cache::Cache& cache, Begins begins)
        : conversation_(std::move(conversation)), cache_(cache), power_(begins == Begins::after_another) {}

    /// A `forget` or `go`: removes its objects from memory and disk, with all variants and parts of their URLs.
    Result<void> remove(takeover::Json const& message);
    /// Acknowledges what was removed. Waits for the disk, at most 5 s. Without its confirmation, or if the former process does
    /// not read, the acknowledgement is owed to the next call.
    void settle();
    bool owes_power() const { return power_; }
    /// The disk store still reads its index: it cannot remove all its objects yet.
    bool owes_everything() const { return everything_; }

    std::shared_ptr<takeover::Conversation> const& conversation() const { return conversation_; }

private:
    bool remove_everything() const;
    void purge(std::string_view key) const;
    void invalidate(std::string_view line) const;

    std::shared_ptr<takeover::Conversation> conversation_;
    cache::Cache& cache_;
    std::uint64_t number_ = 0;   // the highest that was received
    bool owed_ = false, power_, everything_ = false;
};

}   // namespace garner::app
