// Results as text and as JSON.
#pragma once
#include <span>
#include <string>

#include "sim/replay_result.hpp"

namespace garner::sim {

/// Lines of aligned columns under one heading, one block for each size in the order of first appearance; the results in a
/// block keep their order. Values that were not measured are "-".
std::string table(std::span<Result const>);

/// One JSON object (RFC 8259) and a newline: policy, size_bytes, requests, misses, object_miss_ratio, byte_miss_ratio,
/// requests_per_second, metadata_bytes_per_object. All but the first are numbers; values that were not measured are 0.
std::string json_line(Result const&);

/// In the largest unit with a value of at least one: "512 B", "106.8 KiB", "64 MiB".
std::string short_size(Bytes);

}   // namespace garner::sim
