// A file of URL numbers: little-endian, four bytes each, plain or packed.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "sim/buffered_lines.hpp"

namespace garner::seen_commands {

class IdStream {
public:
    /// A file, or "-" for standard input.
    explicit IdStream(std::string const& path)
        : file_(path), numbers_(file_, 0), path_(path == "-" ? "standard input" : path) {}

    /// Up to so many of the next ones; fewer only at the end, none there and after a fault. Valid until the next call.
    std::span<std::uint32_t const> next(std::size_t count);

    /// Names the file, what is wrong with it and the mend. Empty: nothing.
    std::string const& fault() const { return fault_; }
    sim::UnpackedFile const& file() const { return file_; }

private:
    sim::UnpackedFile file_;
    sim::BufferedLines numbers_;
    std::string path_;
    std::string fault_;
    std::uint64_t read_ = 0;   // numbers
    std::vector<std::uint32_t> ids_;
};

}  // namespace garner::seen_commands
