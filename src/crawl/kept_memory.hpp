// Reused lists that keep the memory of a normal batch, and release that of a huge one.
#pragma once
#include "util/bytes.hpp"

namespace garner::crawl {

inline constexpr Bytes kept_bytes = 512 * KiB;

/// Clears the list.
template <class List>
void give_back(List& list) {
    list.clear();
    if (list.capacity() * sizeof(typename List::value_type) > kept_bytes) List().swap(list);
}

}   // namespace garner::crawl
