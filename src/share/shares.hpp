// The line in both directions, and its subjects.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "share/line.hpp"
#include "share/options.hpp"
#include "share/subject.hpp"

namespace garner::share {

struct SubjectFigures {
    std::string name;
    std::array<FlowFigures, 2> flows;   // by direction
    Bytes bytes() const { return flows[0].bytes + flows[1].bytes; }
};

struct Figures {
    std::array<Bytes, 2> rates{};       // bytes a second, by direction; 0: not limited
    std::array<FlowFigures, 2> lines;   // the sum of all subjects, with those that have left
    std::size_t subjects = 0;
    Bytes memory = 0;   // of the subjects
};

/// Thread-safe.
class Shares {
public:
    /// For later bytes. Without a limit all waits end.
    void configure(Options const& options);
    Line& line(Direction direction) { return lines_[index(direction)]; }
    Line const& line(Direction direction) const { return lines_[index(direction)]; }
    SubjectRef subject(std::string_view key, float weight);

    Figures figures() const;
    /// The `most` subjects with most bytes, most bytes first.
    std::vector<SubjectFigures> largest(std::size_t most) const;

private:
    std::array<Line, 2> lines_;
    Subjects subjects_;
};

}   // namespace garner::share
