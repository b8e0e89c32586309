// libCacheSim's binary format of that name.
#pragma once
#include "sim/trace_formats.hpp"

namespace garner::sim {

/// Little-endian, without gaps: u32 time in seconds, u64 id, u32 size, i64 number of the next request for the id or -1.
class OracleGeneralFormat : public TraceFormat {
public:
    static constexpr std::size_t record_bytes = 24;

    Record read(std::string_view record) override;

    /// True when the first records' times do not fall and the next requests lie ahead.
    static bool looks_like(std::string_view head);
};

}  // namespace garner::sim
