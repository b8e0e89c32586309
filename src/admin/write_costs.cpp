#include "admin/write_costs.hpp"

namespace garner::admin {

namespace {

std::optional<double> ratio(Bytes written, Bytes stored) {
    if (stored == 0) return std::nullopt;
    return static_cast<double>(written) / static_cast<double>(stored);
}

}  // namespace

void LapWatch::look(store::DiskStats const& disk) {
    over_ = over_ || disk.laps > 0;
    if (!over_) last_ = {disk.stored_bytes, disk.written_bytes};
}

WriteCosts LapWatch::costs(store::DiskStats const& disk) const {
    WriteCosts costs;
    costs.start = ratio(disk.written_bytes, disk.stored_bytes);
    costs.first_lap = over_ ? ratio(last_.written, last_.stored) : costs.start;
    if (over_) costs.later = ratio(disk.written_bytes - last_.written, disk.stored_bytes - last_.stored);
    return costs;
}

}  // namespace garner::admin
