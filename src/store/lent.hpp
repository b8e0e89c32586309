// Bytes that were read from a disk, and who accounts for the memory that they lie in.
#pragma once
#include <memory>
#include <string_view>

#include "util/bytes.hpp"

namespace garner::store {

/// Memory that whoever read into it accounts for, until somebody takes that over. Thread-safe.
class Lent {
public:
    virtual ~Lent() = default;
    /// What it takes, with all that was read beside the bytes that are wanted.
    virtual Bytes capacity() const = 0;
    /// From now on the caller accounts for it. False when somebody does already.
    virtual bool take_over() = 0;
};

/// Verified bytes, as long as `owner` lives.
struct Loaded {
    std::shared_ptr<Lent> owner;
    std::string_view bytes;            // empty: they cannot be had: damaged, gone, or the disk is too slow
};

}  // namespace garner::store
