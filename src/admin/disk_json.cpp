#include "admin/disk_json.hpp"

#include <optional>

namespace garner::admin {

using Json = nlohmann::ordered_json;

namespace {

Json of(std::optional<double> value) { return value ? Json(*value) : Json(nullptr); }

Json quotient(std::uint64_t part, std::uint64_t whole) {
    if (whole == 0) return nullptr;
    return static_cast<double>(part) / static_cast<double>(whole);
}

Json not_stored(store::DiskStats const& disk) {
    Json json = Json::object();
    for (std::size_t i = 1; i < std::size(disk.not_stored); ++i)
        json[text(static_cast<store::NotStored>(i))] = disk.not_stored[i];
    return json;
}

}  // namespace

char const* name_of(store::DiskStats::State state) {
    using State = store::DiskStats::State;
    switch (state) {
    case State::off: return "off";
    case State::recovering: return "recovering";
    case State::working: return "working";
    case State::failing: return "failing";
    }
    return "";
}

Json disk_json(store::DiskStats const& disk, WriteCosts const& costs) {
    return {{"state", name_of(disk.state)},
            {"trouble", disk.trouble},
            {"path", disk.path},
            {"size_bytes", disk.size},
            {"live_bytes", disk.live},
            {"records", disk.records},
            {"metadata_bytes", disk.metadata},
            {"metadata_bytes_per_record", quotient(disk.metadata, disk.records)},
            {"buffered_bytes", disk.buffered},
            {"segments", disk.segments},
            {"segments_recovered", disk.segments_recovered},
            {"segments_retired", disk.segments_retired},
            {"hits", disk.hits},
            {"hits_at_once", disk.hits_at_once},
            {"pieces", disk.pieces},
            {"misses", disk.misses},
            {"damaged", disk.damaged},
            {"too_late", disk.too_late},
            {"stored", disk.stored},
            {"not_stored", not_stored(disk)},
            {"stored_bytes", disk.stored_bytes},
            {"written_bytes", disk.written_bytes},
            {"reinserted_bytes", disk.reinserted_bytes},
            {"reinserted_share", quotient(disk.reinserted_bytes, disk.written_bytes)},
            {"write_amplification",
             {{"start", of(costs.start)}, {"first_lap", of(costs.first_lap)}, {"later", of(costs.later)}}},
            {"evicted", disk.evicted},
            {"laps", disk.laps},
            {"read_errors", disk.read_errors},
            {"write_errors", disk.write_errors}};
}

}  // namespace garner::admin
