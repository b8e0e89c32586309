#include "h2/inbox.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace garner::h2 {

namespace {
constexpr std::size_t smallest_block = 4 * KiB;
}

void Inbox::append(std::string_view bytes) {
    size_ += bytes.size();
    if (!blocks_.empty()) {
        auto& last = blocks_.back();
        auto const fits = bytes.substr(0, last.capacity - last.end);
        last.end += fits.copy(last.bytes.get() + last.end, fits.size());
        bytes.remove_prefix(fits.size());
    }
    if (bytes.empty()) return;
    auto const capacity = std::max(bytes.size(), smallest_block);
    auto& added = blocks_.emplace_back(Block{std::make_unique_for_overwrite<char[]>(capacity), capacity});
    added.end = bytes.copy(added.bytes.get(), bytes.size());
}

std::string_view Inbox::front() const {
    if (size_ == 0) return {};
    return {blocks_.front().bytes.get() + begin_, blocks_.front().end - begin_};
}

void Inbox::take(std::size_t bytes) {
    check(bytes <= front().size());
    size_ -= bytes;
    begin_ += bytes;
    if (blocks_.empty() || begin_ < blocks_.front().end) return;
    begin_ = 0;
    // The only block is used again: a body that is taken as it arrives allocates once.
    if (blocks_.size() == 1)
        blocks_.front().end = 0;
    else
        blocks_.erase(blocks_.begin());
}

void Inbox::clear() {
    std::vector<Block>().swap(blocks_);
    begin_ = 0;
    size_ = 0;
}

}   // namespace garner::h2
