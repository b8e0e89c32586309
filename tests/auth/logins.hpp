// Fields of Proxy-Authorization, and waits for checks.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "auth/authenticator.hpp"
#include "util/base64.hpp"
#include "util/clock.hpp"

namespace garner::auth {

inline std::string basic(std::string_view user, std::string_view password) {
    return "Basic " + encode_base64(std::string(user) + ":" + std::string(password));
}

inline constexpr IpAddress here = IpAddress::v4(192, 0, 2, 1), there = IpAddress::v4(192, 0, 2, 2),
                           third = IpAddress::v4(192, 0, 2, 3);

/// The answer within 30 s.
inline LoginAnswer answer_of(RunningCheck const& check) {
    auto const limit = steady_now() + seconds{30};
    for (;;) {
        if (auto answer = check.answer()) return *std::move(answer);
        if (steady_now() > limit) return {.kind = LoginAnswer::Kind::unavailable, .reason = "the check does not end"};
        std::this_thread::sleep_for(milliseconds{1});
    }
}

inline LoginAnswer log_in(Authenticator& authenticator, std::string const& field, IpAddress const& client = here,
                          WallTime now = wall_now()) {
    return answer_of(*authenticator.verify(field, client, now));
}

/// Applies the sources, as the start does.
inline void use(Authenticator& authenticator, std::shared_ptr<Sources const> sources) {
    auto const change = authenticator.prepare(std::move(sources));
    ASSERT_TRUE(change) << change.fault_text();
    (*change)();
}

/// The sources, or an empty pointer and a failed test.
inline std::shared_ptr<Sources const> load(Options const& options) {
    auto loaded = Sources::load(options);
    for (auto const& fault : loaded.faults) ADD_FAILURE() << fault.text();
    return loaded.sources;
}

}   // namespace garner::auth
