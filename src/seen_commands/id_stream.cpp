#include "seen_commands/id_stream.hpp"

namespace garner::seen_commands {

std::span<std::uint32_t const> IdStream::next(std::size_t count) {
    if (!fault_.empty()) return {};
    ids_.clear();
    auto const odd = numbers_.next_numbers<std::uint32_t>(count, [&](std::uint32_t id) { ids_.push_back(id); });
    read_ += ids_.size();
    fault_ = file_.fault();
    if (fault_.empty() && odd != 0)
        fault_ = path_ + ": " + std::to_string(read_ * sizeof(std::uint32_t) + odd) +
                 " bytes are no whole number of 4-byte URL numbers: the file is cut off, or no stream of little-endian u32";
    if (!fault_.empty()) return {};
    return ids_;
}

}  // namespace garner::seen_commands
