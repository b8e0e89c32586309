// Bodies stored on disk in pieces, and objects decoded from their records.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "store/body_source.hpp"
#include "store/disk_core.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// Bytes of an object's body stored in the pieces of one body number: see ObjectMeta::Span.
using Extent = ObjectMeta::Span;
inline constexpr std::size_t extents_max = Body::segments_max;

/// The store that a source reads from.
class StoreOfSource {
public:
    explicit StoreOfSource(Core& core) : core_(&core), kept_(core.kept()), owner_(kept_), is_shared_(kept_ != nullptr) {}

    /// Valid as long as the result lives; nullptr: the store was destroyed after let_go().
    std::shared_ptr<Core> lock() const;
    /// Does not keep the store from being destroyed any more.
    void let_go();
    bool is(Core const& core) const { return core_ == &core && !(is_shared_ && owner_.expired()); }

private:
    Core* const core_;
    Mutex mutex_;
    std::shared_ptr<void const> kept_ GUARDED_BY(mutex_);
    std::weak_ptr<void const> const owner_;
    bool const is_shared_;   // otherwise the store outlives the source
};

/// Each body, or each run of bytes of a body with gaps, is cut into pieces of Core::piece_bytes() from its first
/// byte; the last piece is shorter. Thread-safe.
class PieceSource final : public BodySource {
public:
    /// For a body being written: it has the bytes announced by grew().
    PieceSource(Core& core, std::uint64_t number) : store_(core), number_(number), piece_(core.piece_bytes()) {}
    /// For a written body. `extents`: the parts that exist, in order, without overlaps.
    PieceSource(Core& core, Bytes length, std::vector<Extent> extents)
        : store_(core), piece_(core.piece_bytes()), extents_(std::move(extents)), until_(length) {}

    /// Loads the first piece and keeps it for the first load(), so that a damaged beginning is detected before any
    /// byte is sent. Call before this is shared. False: unavailable.
    net::awaitable<bool> open(net::Executor executor);
    net::awaitable<Loaded> load(Bytes offset, net::Executor executor) override;
    Bytes until() const override { return until_.load(std::memory_order_acquire); }
    std::shared_ptr<BodySource> as_part(Bytes first, Bytes length) const override;
    std::shared_ptr<BodySource> joined_with(BodySource const& other) const override;
    bool has(Bytes first, Bytes last) const override;
    void let_go() override { store_.let_go(); }
    /// One more piece was written. Called by its writer only.
    void grew(Bytes bytes) { until_.fetch_add(bytes, std::memory_order_release); }

    bool is_of(Core const& core) const { return store_.is(core); }
    std::uint64_t number() const { return number_; }
    Bytes piece() const override { return piece_; }
    std::vector<Extent> extents() const;
    /// True when the index has every piece.
    bool is_whole() const override;

private:
    void keep_opened(Bytes offset, Loaded loaded);
    Loaded take_opened(Bytes offset);
    std::optional<Extent> extent_at(Bytes offset) const;
    /// The body offset of the piece that contains this byte of the extent.
    Bytes piece_of(Extent const& extent, Bytes offset) const { return offset - (offset - extent.origin) % piece_; }

    StoreOfSource store_;
    std::uint64_t const number_ = 0;   // 0: `extents_` locate the bytes
    Bytes const piece_;
    std::vector<Extent> const extents_;
    std::atomic<Bytes> until_{0};
    Mutex mutex_;
    Loaded opened_ GUARDED_BY(mutex_);
    Bytes opened_at_ GUARDED_BY(mutex_) = 0;
};

/// `extents` plus the parts of `more` that lie in their gaps.
std::vector<Extent> fill_gaps(std::vector<Extent> const& extents, std::vector<Extent> const& more);

/// The object decoded from a record, uncharged; a body in pieces is loaded when read. nullptr when a piece is
/// missing, or the record is no object.
ObjectPtr object_of(Core& core, ReadRecord const& read);

}   // namespace garner::store::disk
