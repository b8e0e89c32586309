#include "admin/write_costs.hpp"

namespace garner::admin {

void LapWatch::look(store::DiskStats const& disk) {
    over_ = over_ || disk.laps > 0;
    if (!over_) last_ = {disk.stored_bytes, disk.written_bytes};
}

WriteCosts LapWatch::costs(store::DiskStats const& disk) const {
    WriteCosts costs;
    costs.start = quotient(disk.written_bytes, disk.stored_bytes);
    costs.first_lap = over_ ? quotient(last_.written, last_.stored) : costs.start;
    if (over_) costs.later = quotient(disk.written_bytes - last_.written, disk.stored_bytes - last_.stored);
    return costs;
}

}   // namespace garner::admin
