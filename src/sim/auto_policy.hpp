// memory.policy "auto": which policy to run, by what each would have made of the traffic.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/what_if.hpp"
#include "util/clock.hpp"

namespace garner::sim {

/// Follows the best one slowly: it must have led in several windows in a row, and the last change must be a while ago.
class AutoPolicy {
public:
    enum class Aim : std::uint8_t { objects, bytes };
    struct Terms {
        Aim aim = Aim::objects;
        double margin = 0.03;            // fewer misses than the running one has, as a share of its misses
        unsigned windows = 3;            // in a row
        seconds window{10};              // and WhatIf::requests_wanted samples
        seconds rest{60};                // between two changes
    };
    /// As in "auto:aim=bytes:margin=5".
    static constexpr std::string_view name = "auto";
    static bool is_spec(std::string_view text) { return text.substr(0, text.find(':')) == name; }
    /// Of a text that is_spec(). Empty `fault`, or one line that names what is wrong and the mend.
    struct ReadTerms;
    static ReadTerms read(std::string_view text);

    explicit AutoPolicy(Terms const& terms) : terms_(terms) {}

    struct Change {
        std::string policy;              // its spec
        std::string why;                 // one sentence
    };
    /// To be called every second or so with all that was counted so far.
    std::optional<Change> look(WhatIf const&, std::string_view running, SteadyTime now);

    Aim aim() const { return terms_.aim; }
    static std::string_view text(Aim aim) { return aim == Aim::bytes ? "bytes" : "objects"; }

private:
    struct Candidate {
        std::string policy;
        std::uint64_t before = 0;        // misses when the window began, in objects or bytes
        unsigned lead = 0;               // windows in a row in which it led the running one
        std::uint64_t missed = 0;        // in these windows
        std::uint64_t running_missed = 0;
        std::uint64_t requests = 0;
    };
    void begin_window(WhatIf const&, SteadyTime now);
    void end_window(WhatIf const&, std::string_view running);
    std::uint64_t missed(WhatIf::Row const&) const;
    std::optional<Change> best(std::string_view running) const;

    Terms terms_;
    std::string running_;            // what the candidates were compared with
    std::vector<Candidate> candidates_;
    std::uint64_t epoch_ = 0;
    std::uint64_t requests_before_ = 0;
    SteadyTime window_began_{};
    std::optional<SteadyTime> changed_;
};

struct AutoPolicy::ReadTerms {
    Terms terms;
    std::string fault;
};

}  // namespace garner::sim
