// memory.policy "auto": selects the policy by simulated results on the real traffic.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/what_if.hpp"
#include "util/clock.hpp"
#include "util/result.hpp"

namespace garner::sim {

/// Switches slowly: the best policy must have led in several windows in a row, some time after the last change.
class AutoPolicy {
public:
    enum class Aim : std::uint8_t { objects, bytes };
    struct Terms {
        Aim aim = Aim::objects;
        double margin = 0.03;   // least reduction of misses, as a share of the running policy's misses
        unsigned windows = 3;   // in a row
        seconds window{10};     // in addition to WhatIf::requests_wanted samples
        seconds rest{60};       // between two changes
    };
    /// For a spec like "auto:aim=bytes:margin=5".
    static constexpr std::string_view name = "auto";
    static bool is_spec(std::string_view text) { return text.substr(0, text.find(':')) == name; }
    /// Reads a text that is_spec().
    static Result<Terms> read(std::string_view text);

    explicit AutoPolicy(Terms const& terms) : terms_(terms) {}

    struct Change {
        std::string policy;   // its spec
        std::string why;      // one sentence
    };
    /// To be called about every second with all counts so far.
    std::optional<Change> look(WhatIf const&, std::string_view running, SteadyTime now);

    Aim aim() const { return terms_.aim; }
    static std::string_view text(Aim aim) { return aim == Aim::bytes ? "bytes" : "objects"; }

private:
    struct Candidate {
        std::string policy;
        std::uint64_t before = 0;   // misses at the start of the window, in objects or bytes
        unsigned lead = 0;          // windows in a row in which it beat the running policy
        std::uint64_t missed = 0;   // in these windows
        std::uint64_t running_missed = 0;
        std::uint64_t requests = 0;
    };
    void begin_window(WhatIf const&, SteadyTime now);
    void end_window(WhatIf const&, std::string_view running);
    std::uint64_t missed(WhatIf::Row const&) const;
    std::optional<Change> best(std::string_view running) const;

    Terms terms_;
    std::string running_;   // the policy that the candidates were compared with
    std::vector<Candidate> candidates_;
    std::uint64_t epoch_ = 0;
    std::uint64_t requests_before_ = 0;
    SteadyTime window_began_{};
    std::optional<SteadyTime> changed_;
};

}   // namespace garner::sim
