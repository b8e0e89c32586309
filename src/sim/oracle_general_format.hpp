// libCacheSim's binary format oracleGeneral: little-endian, without padding, u32 time in seconds, u64 id, u32 size, i64
// number of the next request for the id or -1.
#pragma once
#include <string_view>

#include "sim/trace_record.hpp"

namespace garner::sim {

inline constexpr std::size_t oracle_record_bytes = 24;

Record read_oracle_general(std::string_view record);

/// True when the first records' times never decrease and their next requests are later.
bool looks_like_oracle_general(std::string_view head);

}   // namespace garner::sim
