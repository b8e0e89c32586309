// Lists that are filled again and again: they keep the memory of an ordinary batch, and give back that of a huge one.
#pragma once
#include "util/bytes.hpp"

namespace garner::crawl {

inline constexpr Bytes kept_bytes = 512 * KiB;

/// Nothing is in it any more.
template <class List>
void give_back(List& list) {
    list.clear();
    if (list.capacity() * sizeof(typename List::value_type) > kept_bytes) List().swap(list);
}

}  // namespace garner::crawl
