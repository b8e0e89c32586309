// Any number of queues of slots over one array of links.
#pragma once
#include <algorithm>

#include "policy/policy.hpp"
#include "policy/slots.hpp"
#include "util/check.hpp"

namespace garner::policy {

/// One queue; Queues links its slots.
struct Queue {
    Slot oldest = no_slot;
    Slot newest = no_slot;
    bool empty() const { return oldest == no_slot; }
};

/// A slot is in at most one queue; the caller knows which. Every call is O(1). 8 bytes a slot.
class Queues {
public:
    bool contains(Slot slot) const { return links_.covers(slot) && links_[slot].older != nowhere; }

    /// The next newer slot of a contained one, or no_slot.
    Slot newer(Slot slot) const { return links_[slot].newer; }

    /// Appends the slot as the newest. It must not be in a queue.
    void push(Queue& queue, Slot slot) {
        check(slot < nowhere && !contains(slot));
        links_.cover(slot);
        links_[slot] = {.older = queue.newest, .newer = no_slot};
        (queue.empty() ? queue.oldest : links_[queue.newest].newer) = slot;
        queue.newest = slot;
    }

    void remove(Queue& queue, Slot slot) {
        check(contains(slot));
        auto [older, newer] = links_[slot];
        (older == no_slot ? queue.oldest : links_[older].newer) = newer;
        (newer == no_slot ? queue.newest : links_[newer].older) = older;
        links_[slot] = {};
    }

    /// Moves a slot to the newest end of another queue, or of its own.
    void move(Queue& from, Queue& to, Slot slot) {
        remove(from, slot);
        push(to, slot);
    }

    Bytes metadata_bytes() const { return links_.metadata_bytes(); }

private:
    static constexpr Slot nowhere = no_slot - 1;
    struct Links {
        Slot older = nowhere;
        Slot newer = nowhere;
    };
    SlotArray<Links> links_;
};

}   // namespace garner::policy
