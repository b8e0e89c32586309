// Shared by the naive models of queue policies: sizes by slot, and queues that are searched linearly.
#pragma once
#include <algorithm>
#include <list>
#include <map>

#include "policy/naive.hpp"

namespace garner::policy {

class NaiveSizes {
public:
    Bytes size(Slot slot) const { return sizes_.at(slot); }
    bool holds(Slot slot) const { return sizes_.contains(slot); }

protected:
    using NaiveQueue = std::list<Slot>;   // oldest first

    static bool in(NaiveQueue const& queue, Slot slot) { return std::ranges::find(queue, slot) != queue.end(); }
    Bytes bytes(NaiveQueue const& queue) const {
        Bytes sum = 0;
        for (Slot slot : queue) sum += size(slot);
        return sum;
    }
    static void to_newest(NaiveQueue& queue, Slot slot) {
        queue.remove(slot);
        queue.push_back(slot);
    }
    static void move_oldest(NaiveQueue& from, NaiveQueue& to) { to.splice(to.end(), from, from.begin()); }

    std::map<Slot, Bytes> sizes_;
};

}   // namespace garner::policy
