// Memory of request heads that are still incomplete.
#pragma once
#include "util/bytes.hpp"
#include "util/counter.hpp"
#include "util/intrusive_list.hpp"

namespace garner::proxy {

/// The bytes of incomplete heads on one worker. Over `max` the largest head is refused. Not thread-safe.
class HeadBudget {
public:
    /// One head's share of the budget, returned by the destructor.
    class Part : public Link {
    public:
        using Refuse = void (*)(void* owner);
        /// `refuse` is called at most once, when another head needs the memory.
        Part(HeadBudget& budget, Refuse refuse, void* owner) : budget_(budget), refuse_(refuse), owner_(owner) {}
        ~Part() { budget_.used_.add(0 - bytes_); }
        /// Sets the head's size to `bytes`. False: the budget is used up and no other head is larger.
        bool resize(Bytes bytes);
        /// True once the head was refused in favour of another one.
        bool refused() const { return refused_; }

    private:
        friend class HeadBudget;
        void give_way();
        HeadBudget& budget_;
        Refuse refuse_;
        void* owner_;
        Bytes bytes_ = 0;
        bool refused_ = false;
    };

    /// From any thread.
    Bytes used() const { return used_.value(); }
    Bytes max = 32 * MiB;

private:
    Part& largest(Part& asking);
    List<Part> parts_;
    Counter used_;   // differences are added modulo 2^64
};

}   // namespace garner::proxy
