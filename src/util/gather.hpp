// Pieces for one gathered write.
#pragma once
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>

namespace garner {

/// At most N borrowed pieces, in order. Allocates nothing.
template <std::size_t N>
class Gather {
public:
    /// Empty pieces are left out.
    void add(std::string_view bytes) {
        if (!bytes.empty()) pieces_[used_++] = {const_cast<char*>(bytes.data()), bytes.size()};
    }
    bool empty() const { return used_ == 0; }
    /// True if this many more pieces fit.
    bool has_room_for(std::size_t pieces) const { return used_ + pieces <= N; }
    bool has_piece_of(std::size_t bytes_or_more) const {
        return std::any_of(pieces_.begin(), pieces_.begin() + used_,
                           [&](iovec const& piece) { return piece.iov_len >= bytes_or_more; });
    }
    /// Returns all pieces; pieces added afterwards belong to the next write, and overwrite these.
    std::span<iovec> take() { return {pieces_.data(), std::exchange(used_, 0)}; }

private:
    std::array<iovec, N> pieces_;
    std::size_t used_ = 0;
};

}   // namespace garner
