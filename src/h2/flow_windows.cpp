#include "h2/flow_windows.hpp"

#include <algorithm>
#include <bit>

namespace garner::h2 {

void Windows::open(Stream& stream) {
    stream = {initial, 0};
    ++open_;
    sum_ += initial;
    grow_connection();
}

void Windows::close(Stream& stream) {
    if (stream.size == 0) return;
    --open_;
    sum_ -= stream.size;
    stream = {};
}

void Windows::consumed(Stream& stream, Bytes bytes, Bytes waiting) {
    stream.taken += bytes;
    if (stream.taken < stream.size || waiting > stream.size / 4) return;
    stream.taken = 0;
    auto const raised = std::min(std::bit_ceil(2 * stream.size), largest_);
    if (raised <= stream.size || sum_ + (raised - stream.size) > most_of_streams()) return;
    sum_ += raised - stream.size;
    stream.size = raised;
    grow_connection();
}

/// Streams that may still be opened need their initial windows.
Bytes Windows::most_of_streams() const {
    auto const kept = Bytes{streams_ - std::min(open_, streams_)} * initial;
    return most_ - std::min(kept, most_);
}

void Windows::grow_connection() {
    if (sum_ <= connection_) return;
    auto const grown = std::min(std::max(std::bit_ceil(sum_), MiB), most_);
    if (grown > connection_ && charged_.resize(grown - initial)) connection_ = grown;
}

}   // namespace garner::h2
