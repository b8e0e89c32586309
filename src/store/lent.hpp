// Bytes read from a disk, and the owner that is charged for their memory.
#pragma once
#include <memory>
#include <string_view>

#include "util/bytes.hpp"

namespace garner::store {

/// Memory charged by the reader that filled it, until another owner takes it over. Thread-safe.
class Lent {
public:
    virtual ~Lent() = default;
    /// The size of the memory, including bytes that were read but are not wanted.
    virtual Bytes capacity() const = 0;
    /// Makes the caller responsible for the charge. False when another owner already is.
    virtual bool take_over() = 0;
};

/// Verified bytes, valid as long as `owner` lives.
struct Loaded {
    std::shared_ptr<Lent> owner;
    std::string_view bytes;   // empty: unavailable (damaged, gone, or the disk is too slow)
};

}   // namespace garner::store
