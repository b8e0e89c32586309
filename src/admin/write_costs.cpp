#include "admin/write_costs.hpp"

namespace garner::admin {

void LapWatch::look(store::DiskStats const& disk) {
    if (is_other(disk)) *this = {};
    over_ = over_ || disk.laps > 0;
    if (!over_) last_ = {disk.stored_bytes, disk.written_bytes};
}

/// A reload opened another store, or the same one again: its figures begin at 0.
bool LapWatch::is_other(store::DiskStats const& disk) const {
    return disk.stored_bytes < last_.stored || disk.written_bytes < last_.written;
}

WriteCosts LapWatch::costs(store::DiskStats const& disk) const {
    WriteCosts costs;
    costs.start = quotient(disk.written_bytes, disk.stored_bytes);
    if (is_other(disk)) return costs;
    costs.first_lap = over_ ? quotient(last_.written, last_.stored) : costs.start;
    if (over_) costs.later = quotient(disk.written_bytes - last_.written, disk.stored_bytes - last_.stored);
    return costs;
}

}   // namespace garner::admin
