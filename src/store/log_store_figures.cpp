// Statistics of the disk tier.
#include "store/log_store.hpp"

namespace garner::store {

char const* text(NotStored why) {
    switch (why) {
    case NotStored::too_slow: return "the disk is too slow";
    case NotStored::too_large: return "larger than disk.object_max";
    case NotStored::too_small: return "smaller than disk.object_min";
    case NotStored::not_admitted: return "asked for once only (disk.admit)";
    case NotStored::rate: return "above disk.rate_max";
    case NotStored::failing: return "the disk fails";
    case NotStored::no_room: return "no room in memory on its way to the disk";
    case NotStored::none:
    case NotStored::count: break;
    }
    return "";
}

namespace disk {

namespace {

constexpr Bytes least_record = 128;      // without its body
constexpr Bytes index_bytes = 11;        // a record; an index that has just grown has a tenth more than it needs
constexpr Bytes order_bytes = 40;        // a record
constexpr Bytes empty_bytes = 4 * MiB;   // index and order without records

Bytes metadata_max(Bytes size, Bytes object_min, bool ordered) {
    return empty_bytes + size / (least_record + object_min) * (index_bytes + (ordered ? order_bytes : 0));
}

}   // namespace

std::uint64_t LogStore::first_sequence() const { return first_sequence_.load(); }

DiskStats LogStore::stats() const {
    DiskStats stats;
    stats.path = options().path;
    {
        MutexLock const lock(mutex_);
        stats.trouble = trouble_;
    }
    stats.state = DiskStats::State::failing;
    auto const* works = this->works();
    if (!works) return stats;
    auto const log = works->log.figures();
    auto const& reader = works->reader.figures();
    auto const& cleaner = works->cleaner.figures();
    bool const over = works->recovery.is_over();
    stats.state = removed_ || works->log.failing() ? DiskStats::State::failing
                  : over                           ? DiskStats::State::working
                                                   : DiskStats::State::recovering;
    if (auto const trouble = works->log.trouble(); !trouble.empty() && works->log.failing()) stats.trouble = trouble;
    stats.size = works->log.header().bytes();
    stats.live = live_.sum();
    stats.records = works->index.size();
    stats.metadata = works->index.metadata_bytes() + works->order->metadata_bytes() + works->log.metadata_bytes();
    stats.metadata_max = metadata_max(stats.size, options().object_min, works->order->has_memory()) + works->log.metadata_bytes();
    stats.buffered = log.buffered;
    stats.buffers = log.memory + works->reader.memory();
    stats.buffers_max = works->log.memory_max() + works->reader.memory_max();
    stats.segments = works->log.segments();
    stats.segments_recovered = works->recovery.segments_done();
    stats.segments_retired = log.retired;
    stats.hits = hits_;
    stats.hits_at_once = hits_at_once_;
    stats.pieces = pieces_;
    stats.misses = reader.misses;
    stats.damaged = reader.damaged + cleaner.damaged;
    stats.too_late = reader.too_late;
    stats.read_errors = reader.errors;
    stats.stored = stored_;
    for (std::size_t i = 0; i < not_stored_.size(); ++i) stats.not_stored[i] = not_stored_[i];
    stats.stored_bytes = stored_bytes_;
    stats.written_bytes = log.written;
    stats.reinserted_bytes = cleaner.reinserted;
    stats.evicted = cleaner.evicted + victims_;
    stats.write_errors = log.write_errors;
    stats.laps = log.laps;
    return stats;
}

}   // namespace disk

}   // namespace garner::store
