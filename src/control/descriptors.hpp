// Open descriptors that came with a message.
#pragma once
#include <unistd.h>

#include <utility>
#include <vector>

namespace garner::control {

/// Closes those that were not released.
class Descriptors {
public:
    Descriptors() = default;
    Descriptors(Descriptors&& other) noexcept : all_(std::exchange(other.all_, {})) {}
    Descriptors& operator=(Descriptors&& other) noexcept {
        all_.swap(other.all_);
        return *this;
    }
    ~Descriptors() {
        for (int const descriptor : all_)
            if (descriptor >= 0) ::close(descriptor);
    }

    void add(int descriptor) { all_.push_back(descriptor); }
    std::size_t size() const { return all_.size(); }
    std::vector<int> const& all() const { return all_; }
    /// The caller owns it from now on.
    int release(std::size_t index) { return std::exchange(all_[index], -1); }

private:
    std::vector<int> all_;
};

}   // namespace garner::control
