// Write amplification of the disk tier.
#pragma once
#include <optional>

#include "store/disk_options.hpp"

namespace garner::admin {

/// Empty if the divisor is 0.
inline std::optional<double> quotient(std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? std::nullopt : std::optional(static_cast<double>(part) / static_cast<double>(whole));
}

/// Bytes written per byte stored; nothing when no byte was stored.
struct WriteCosts {
    std::optional<double> start;       // since the start
    std::optional<double> first_lap;   // before the log wraps for the first time, when no record has to be rewritten
    std::optional<double> later;       // after the first wrap
};

/// Detects when the log wraps.
class LapWatch {
public:
    /// To be called every few seconds, which is the precision of the boundary between laps.
    void look(store::DiskStats const&);
    WriteCosts costs(store::DiskStats const&) const;

private:
    bool is_other(store::DiskStats const& disk) const;
    struct Mark {
        Bytes stored = 0;
        Bytes written = 0;
    };
    Mark last_;   // at the end of the first lap
    bool over_ = false;
};

}   // namespace garner::admin
