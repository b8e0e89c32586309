// Results as people and as programs read them.
#pragma once
#include <span>
#include <string>

#include "sim/result.hpp"

namespace garner::sim {

/// Lines of aligned columns under one heading, a block for each size in the order they first appear; within it the
/// results in their order. What was not measured is "-".
std::string table(std::span<Result const>);

/// One JSON object (RFC 8259) and the end of its line: policy, size_bytes, requests, misses, object_miss_ratio,
/// byte_miss_ratio, requests_per_second, metadata_bytes_per_object. All but the first are numbers; what was not
/// measured is 0.
std::string json_line(Result const&);

/// In the largest unit that leaves a number of at least one: "512 B", "106.8 KiB", "64 MiB".
std::string short_size(Bytes);

}  // namespace garner::sim
