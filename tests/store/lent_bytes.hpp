// Lent bytes without a disk.
#pragma once
#include <atomic>
#include <memory>
#include <string>

#include "store/lent.hpp"

namespace garner::store {

struct LentBytes : Lent {
    LentBytes(std::string text, Bytes beside) : bytes(std::move(text)), beside(beside) {}
    Bytes capacity() const override { return bytes.size() + beside; }
    bool take_over() override { return !is_taken.exchange(true); }

    std::string const bytes;
    Bytes const beside;   // unused part of its allocation
    std::atomic<bool> is_taken = false;
};

inline Loaded lend(std::string bytes, Bytes beside = 0) {
    auto owner = std::make_shared<LentBytes>(std::move(bytes), beside);
    std::string_view const view = owner->bytes;
    return {std::move(owner), view};
}

}   // namespace garner::store
