// A counted reference to an entry of a table.
#pragma once
#include <utility>

namespace garner::share {

/// Keeps an entry in its table, which outlives the reference. `T` derives from TableEntry.
template <class T>
class Kept {
public:
    Kept() = default;
    explicit Kept(T& entry) : entry_(&entry) { ++entry.users_; }
    Kept(Kept const& other) : entry_(other.entry_) {
        if (entry_) ++entry_->users_;
    }
    Kept(Kept&& other) noexcept : entry_(std::exchange(other.entry_, nullptr)) {}
    Kept& operator=(Kept other) noexcept {
        std::swap(entry_, other.entry_);
        return *this;
    }
    ~Kept() {
        if (entry_) --entry_->users_;
    }

    explicit operator bool() const { return entry_ != nullptr; }
    T& operator*() const { return *entry_; }
    T* operator->() const { return entry_; }
    friend bool operator==(Kept const&, Kept const&) = default;

private:
    T* entry_ = nullptr;
};

}   // namespace garner::share
