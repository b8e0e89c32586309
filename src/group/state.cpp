#include "group/state.hpp"

#include <array>
#include <cstdio>

namespace garner::group {

namespace {

/// "3.1 ms", "1.96 s"
std::string time_text(microseconds time) {
    std::array<char, 32> text{};
    auto const millis = static_cast<double>(time.count()) / 1e3;
    bool const is_long = millis >= 1e3;
    std::snprintf(text.data(), text.size(), is_long ? "%.3g s" : "%.3g ms", is_long ? millis / 1e3 : millis);
    return text.data();
}

}   // namespace

std::string SubmissionResult::text() const {
    auto const count = std::to_string(stored) + " of " + std::to_string(voters) + (voters == 1 ? " voter" : " voters");
    auto text = (accepted ? "stored by " : "not accepted: stored by ") + count + " in " + time_text(took);
    return why.empty() ? text : text + ": " + why;
}

std::string GroupState::silent() const {
    std::string text;
    for (auto const& voter : voters) {
        if (voter.left > Time(0)) continue;
        text.append(text.empty() ? "" : ", ").append(voter.address);
        if (!voter.trouble.empty()) text.append(" (").append(voter.trouble).append(")");
    }
    return text;
}

}   // namespace garner::group
