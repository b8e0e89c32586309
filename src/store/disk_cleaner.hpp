// Making room: the oldest segment becomes free; what of it is worth keeping is written again.
#pragma once
#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "io/file.hpp"
#include "store/disk_index.hpp"
#include "store/disk_log.hpp"

namespace garner::store::disk {

/// Works on a thread of its own. Requests do not wait for it: while no segment is free, nothing is stored.
class Cleaner {
public:
    struct Figures {
        std::atomic<std::uint64_t> evicted{0};
        std::atomic<Bytes> reinserted{0};
        std::atomic<std::uint64_t> damaged{0};
    };
    /// Whether the record under this hash, used so often (0 to 3), is to be written again.
    using Keeps = std::function<bool(Fingerprint, unsigned uses)>;
    /// Told of each record that left.
    using Gone = std::function<void(Fingerprint, Bytes)>;
    /// Writes it again, and puts it in the index where it still stands at that place; false: no room.
    using Write = std::function<bool(Record const&, Place const&)>;

    Cleaner(io::File const& file, Log& log, Index& index, double share, Keeps keeps, Gone gone, Write write)
        : file_(file), log_(log), index_(index), share_(share), keeps_(std::move(keeps)), gone_(std::move(gone)),
          write_(std::move(write)) {}

    void clean(std::uint32_t segment);
    void stop() { stopping_.store(true); }
    Figures const& figures() const { return figures_; }

private:
    struct Live {
        Fingerprint hash;
        Bytes offset;
        Bytes bytes;
        unsigned uses;
    };
    std::vector<Live> live_of(std::uint32_t segment);
    unsigned least_uses(std::vector<Live> const& live) const;
    bool keep(std::uint32_t segment, std::vector<Live> const& live);
    enum class Again : std::uint8_t { written, damaged, no_room };
    Again write_again(Place const& place, std::string_view bytes);
    void evict(Live const& record);

    io::File const& file_;
    Log& log_;
    Index& index_;
    double const share_;      // of a segment, at most, that is written again: bounds the write amplification
    Keeps const keeps_;
    Gone const gone_;
    Write const write_;
    Figures figures_;
    std::atomic<bool> stopping_{false};
};

}  // namespace garner::store::disk
