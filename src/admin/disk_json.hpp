// The disk tier as JSON: "disk" of /stats.json. docs/metrics.md tells every name.
#pragma once
#include <nlohmann/json.hpp>

#include "admin/write_costs.hpp"
#include "store/disk_options.hpp"

namespace garner::admin {

/// "off", "recovering", "working", "failing"
char const* name_of(store::DiskStats::State);

nlohmann::ordered_json disk_json(store::DiskStats const&, WriteCosts const&);

}  // namespace garner::admin
