// Memory that HTTP/2 connections may hold beyond what each connection is allowed in any case, and each client's part of it.
#pragma once
#include <atomic>
#include <map>
#include <memory>

#include "util/bytes.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"

namespace garner::h2 {

/// Shared by all connections of the process. Thread-safe.
class Budget {
public:
    explicit Budget(Bytes most) : most_(most) {}
    Budget(Budget const&) = delete;
    Bytes most() const { return most_; }
    Bytes used() const { return used_.load(std::memory_order_relaxed); }

private:
    friend class Account;
    Bytes const most_;
    std::atomic<Bytes> used_{0};
};

/// The connections of one client hold at most a third of what is left of a budget. So a client alone has at most a quarter, the
/// client that holds most is refused first, and a new client gets some. Thread-safe.
class Account {
public:
    explicit Account(Budget& budget) : budget_(budget) {}
    Account(Account const&) = delete;

    /// False: nothing was taken.
    bool take(Bytes bytes) {
        auto const all = budget_.used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        auto const own = own_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        if (all <= budget_.most_ && own <= (budget_.most_ - all) / 3) return true;
        give(bytes);
        return false;
    }
    void give(Bytes bytes) {
        own_.fetch_sub(bytes, std::memory_order_relaxed);
        budget_.used_.fetch_sub(bytes, std::memory_order_relaxed);
    }

private:
    Budget& budget_;
    std::atomic<Bytes> own_{0};
};

/// A part of an account, given back by the destructor. Belongs to one worker.
class Share {
public:
    explicit Share(Account& account) : account_(account) {}
    Share(Share const&) = delete;
    ~Share() { account_.give(bytes_); }

    /// False: the account refuses the additional bytes, and the share keeps its size.
    bool resize(Bytes bytes) {
        if (bytes > bytes_ && !account_.take(bytes - bytes_)) return false;
        if (bytes < bytes_) account_.give(bytes_ - bytes);
        bytes_ = bytes;
        return true;
    }
    Bytes bytes() const { return bytes_; }

private:
    Account& account_;
    Bytes bytes_ = 0;
};

/// Heads have a budget of their own: a request needs one, and an upload is only slower with smaller windows.
struct ClientMemory {
    ClientMemory(Budget& for_heads, Budget& for_windows) : heads(for_heads), windows(for_windows) {}
    Account heads;
    Account windows;
};

/// Shared by all connections of the process. Thread-safe.
class Memory {
public:
    Memory(Bytes heads, Bytes windows) : heads_(heads), windows_(windows) {}

    /// The accounts of a client, the same ones as long as a connection keeps them. This object must outlive them.
    std::shared_ptr<ClientMemory> of(IpAddress const& client);
    Bytes most() const { return heads_.most() + windows_.most(); }
    Bytes used() const { return heads_.used() + windows_.used(); }

private:
    Budget heads_;
    Budget windows_;
    Mutex mutex_;
    std::map<IpAddress, std::weak_ptr<ClientMemory>> clients_ GUARDED_BY(mutex_);
};

}   // namespace garner::h2
