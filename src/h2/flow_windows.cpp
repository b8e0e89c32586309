#include "h2/flow_windows.hpp"

#include <algorithm>
#include <bit>

namespace garner::h2 {

bool Windows::open(Stream& stream, Bytes promised) {
    if (!add(initial, promised)) return false;
    stream = {initial, 0};
    ++open_;
    return true;
}

void Windows::close(Stream& stream) {
    if (stream.size == 0) return;
    --open_;
    sum_ -= stream.size;
    stream = {};
    if (wanted() >= connection_) return;
    connection_ = wanted();
    charged_.resize(connection_ - initial);
}

void Windows::consumed(Stream& stream, Bytes bytes, Bytes waiting, Bytes promised) {
    stream.taken += bytes;
    if (stream.taken < stream.size || waiting > stream.size / 4) return;
    stream.taken = 0;
    auto const raised = std::min(std::bit_ceil(2 * stream.size), largest_);
    if (raised <= stream.size || sum_ + (raised - stream.size) > most_of_streams()) return;
    if (add(raised - stream.size, promised)) stream.size = raised;
}

/// Streams that may still be opened need their initial windows.
Bytes Windows::most_of_streams() const {
    auto const kept = Bytes{streams_ - std::min(open_, streams_)} * initial;
    return most_ - std::min(kept, most_);
}

/// A connection that was promised no more than its window now is bounded by this window, whatever the streams may send.
bool Windows::add(Bytes bytes, Bytes promised) {
    sum_ += bytes;
    auto const grown = wanted();
    if (grown > connection_ && charged_.resize(grown - initial)) connection_ = grown;
    if (sum_ <= connection_ || promised <= connection_) return true;
    sum_ -= bytes;
    return false;
}

Bytes Windows::wanted() const { return sum_ <= initial ? initial : std::min(std::max(std::bit_ceil(sum_), MiB), most_); }

}   // namespace garner::h2
