// Bodies that lie on disk in pieces, and objects as their records tell them.
#pragma once
#include <atomic>
#include <functional>
#include <optional>
#include <vector>

#include "store/body_source.hpp"
#include "store/disk_core.hpp"
#include "util/mutex.hpp"

namespace garner::store::disk {

/// Bytes of an object's body that lie in the pieces of one number: see ObjectMeta::Span.
using Extent = ObjectMeta::Span;
inline constexpr std::size_t extents_max = Body::segments_max;

/// Pieces are cut from the first byte of the body, or of each run of bytes of one with gaps, Core::piece_bytes() each; what
/// is left at the end is the last. Thread-safe.
class PieceSource final : public BodySource {
public:
    /// Of a body that is being written: it has what it was told to have by grew().
    PieceSource(Core& core, std::uint64_t number) : core_(core), number_(number), piece_(core.piece_bytes()) {}
    /// Of one that is written. `extents`: what there is of it, in order, without overlaps.
    PieceSource(Core& core, Bytes length, std::vector<Extent> extents)
        : core_(core), piece_(core.piece_bytes()), extents_(std::move(extents)), until_(length) {}

    /// Loads the first piece and keeps it for whoever loads it first, so that a body whose beginning is damaged is found out
    /// before anything of it is sent. Before others see this. False: it cannot be had.
    net::awaitable<bool> open(net::Executor executor);
    net::awaitable<Loaded> load(Bytes offset, net::Executor executor) override;
    Bytes until() const override { return until_.load(std::memory_order_acquire); }
    std::shared_ptr<BodySource> as_part(Bytes first, Bytes length) const override;
    std::shared_ptr<BodySource> joined_with(BodySource const& other) const override;
    bool has(Bytes first, Bytes last) const override;
    /// One more piece is written. Its writer only.
    void grew(Bytes bytes) { until_.fetch_add(bytes, std::memory_order_release); }

    bool is_of(Core const& core) const { return &core_ == &core; }
    std::uint64_t number() const { return number_; }
    Bytes piece() const override { return piece_; }
    std::vector<Extent> extents() const;
    /// The index has every piece.
    bool is_whole() const override;

private:
    void keep_opened(Bytes offset, Loaded loaded);
    Loaded take_opened(Bytes offset);
    std::optional<Extent> extent_at(Bytes offset) const;
    /// Where in the body the piece begins that has this byte of the extent.
    Bytes piece_of(Extent const& extent, Bytes offset) const { return offset - (offset - extent.origin) % piece_; }

    Core& core_;
    std::uint64_t const number_ = 0;      // 0: `extents_` say where it lies
    Bytes const piece_;
    std::vector<Extent> const extents_;
    std::atomic<Bytes> until_{0};
    Mutex mutex_;
    Loaded opened_ GUARDED_BY(mutex_);
    Bytes opened_at_ GUARDED_BY(mutex_) = 0;
};

/// `extents` with what `more` has in their gaps.
std::vector<Extent> fill_gaps(std::vector<Extent> const& extents, std::vector<Extent> const& more);

/// The object that a record tells, uncharged; a body in pieces is loaded when it is read. nullptr when not all of them are
/// there any more, or it is no object.
ObjectPtr object_of(Core& core, ReadRecord const& read);

}  // namespace garner::store::disk
