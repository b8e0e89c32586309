// Whether the operator has to do something, and what. Pure.
#pragma once
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "admin/figures.hpp"
#include "admin/recent_windows.hpp"

namespace garner::admin {

/// trouble: clients are affected, or a part of Garner has failed. attention: the operator should act before that.
enum class HealthState : std::uint8_t { ok, attention, trouble };
std::string_view name_of(HealthState);

struct HealthItem {
    HealthState state = HealthState::attention;
    std::string what;           // "parent campus is dead"
    std::string fix;            // a suggested fix
    std::string section = {};   // the part of the page with the figures: "refusals"; empty: none
    std::string check = {};     // the name of the HealthCheck that found it
};

struct Health {
    HealthState state = HealthState::ok;   // the worst of the items
    std::string sentence = "OK: no problem is known.";
    std::vector<HealthItem> items = {};   // the worst come first
};

/// A row of the table of what is watched. Each has a sample of garner_health, and an alert in etc/alerts.yml.
struct HealthCheck {
    std::string_view name;    // "disk"
    std::string_view alert;   // "GarnerDiskFailing"
};
std::vector<HealthCheck> health_checks();

/// The limits from which on a figure is an item.
struct HealthLimits {
    static constexpr double refused_share = 0.9;          // share of the last minute's requests: nearly all
    static constexpr double many_a_minute = 20;           // requests that failed or were refused
    static constexpr double times_usual = 3;              // and so many times more than in an average minute of the last hour
    static constexpr double failed_share = 1.0 / 3;       // share of all requests, while the average is not known
    static constexpr double connections_share = 0.9;      // of the limit
    static constexpr double open_files_share = 0.9;       // of the limit
    static constexpr std::chrono::days certificate{14};   // left
};

Health health_of(Figures const& figures, Trend const& trend, WallTime now);

}   // namespace garner::admin
