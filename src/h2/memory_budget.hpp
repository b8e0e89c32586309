// Memory that HTTP/2 connections may hold beyond what each connection is allowed in any case.
#pragma once
#include <atomic>

#include "util/bytes.hpp"

namespace garner::h2 {

/// Shared by all connections of the process. Thread-safe.
class Budget {
public:
    explicit Budget(Bytes most) : most_(most) {}
    Budget(Budget const&) = delete;

    /// False: nothing was taken, because the sum would exceed the budget.
    bool take(Bytes bytes) {
        if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_) return true;
        give(bytes);
        return false;
    }
    void give(Bytes bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
    Bytes most() const { return most_; }
    Bytes used() const { return used_.load(std::memory_order_relaxed); }

private:
    Bytes const most_;
    std::atomic<Bytes> used_{0};
};

/// A part of a budget, given back by the destructor. Belongs to one worker.
class Share {
public:
    explicit Share(Budget& budget) : budget_(budget) {}
    Share(Share const&) = delete;
    ~Share() { budget_.give(bytes_); }

    /// False: the budget refuses the additional bytes, and the share keeps its size.
    bool resize(Bytes bytes) {
        if (bytes > bytes_ && !budget_.take(bytes - bytes_)) return false;
        if (bytes < bytes_) budget_.give(bytes_ - bytes);
        bytes_ = bytes;
        return true;
    }

private:
    Budget& budget_;
    Bytes bytes_ = 0;
};

}   // namespace garner::h2
