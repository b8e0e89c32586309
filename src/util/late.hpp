// A member that is made later than its owner, or never.
#pragma once
#include <memory>
#include <new>
#include <utility>

#include "util/check.hpp"

namespace garner {

/// Costs nothing until make(), which is called at most once.
template <class T>
class Late {
public:
    Late() {}
    ~Late() {
        if (is_made_) value_.~T();
    }
    Late(Late const&) = delete;
    template <class... Arguments>
    void make(Arguments&&... arguments) {
        check(!is_made_);
        ::new (std::addressof(value_)) T(std::forward<Arguments>(arguments)...);
        is_made_ = true;
    }
    bool is_made() const { return is_made_; }
    /// Before make() the reference may be kept, but not used.
    T& get() { return value_; }
    T* operator->() { return std::addressof(value_); }

private:
    union {
        T value_;
    };
    bool is_made_ = false;
};

}   // namespace garner
