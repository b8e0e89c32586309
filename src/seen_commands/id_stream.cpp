#include "seen_commands/id_stream.hpp"

#include <bit>
#include <cstring>

namespace garner::seen_commands {

std::span<std::uint32_t const> IdStream::next(std::size_t count) {
    static_assert(std::endian::native == std::endian::little);
    if (!fault_.empty()) return {};
    ids_.resize(count);
    auto const to = reinterpret_cast<char*>(ids_.data());
    std::size_t got = 0;
    while (got < count * sizeof(std::uint32_t)) {
        auto const more = file_.read(to + got, count * sizeof(std::uint32_t) - got);
        if (more == 0) break;
        got += more;
    }
    fault_ = file_.fault();
    if (auto const odd = got % sizeof(std::uint32_t); fault_.empty() && odd != 0) {
        auto const bytes = read_ * sizeof(std::uint32_t) + got;
        fault_ = path_ + ": " + std::to_string(bytes) + " bytes are no whole number of 4-byte URL numbers: the file is " +
                 "cut off, or no stream of little-endian u32";
    }
    if (!fault_.empty()) return {};
    ids_.resize(got / sizeof(std::uint32_t));
    read_ += ids_.size();
    return ids_;
}

}  // namespace garner::seen_commands
