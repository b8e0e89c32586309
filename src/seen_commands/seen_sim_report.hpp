// What caches of seen URLs missed, as people and as programs read it.
#pragma once
#include <span>
#include <string>

#include "seen_commands/seen_sim.hpp"

namespace garner::seen_commands {

/// Lines of aligned columns under one heading, a block for each number of entries.
std::string seen_table(std::span<SeenResult const>);

/// One JSON object (RFC 8259) and the end of its line: policy, entries, requests, misses, miss_ratio, false_positives,
/// false_negatives, ns_per_operation, bits_per_entry. All but the first are numbers.
std::string seen_json_line(SeenResult const&);

}  // namespace garner::seen_commands
