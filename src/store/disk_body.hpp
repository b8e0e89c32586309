// Bodies that lie on disk in pieces, and objects as their records tell them.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <vector>

#include "store/body_source.hpp"
#include "store/disk_core.hpp"

namespace garner::store::disk {

/// Pieces are cut from the first byte of the body, or of each span of one with gaps, Core::piece_bytes() each; what is left
/// at the end is the last. Thread-safe.
class PieceSource final : public BodySource {
public:
    /// Of a body that is being written: it has what it was told to have by grew().
    PieceSource(Core& core, std::uint64_t number) : core_(core), number_(number), piece_(core.piece_bytes()) {}
    /// Of one that is written. `spans`: what there is of it, in order; empty: all.
    PieceSource(Core& core, std::uint64_t number, Bytes length, std::vector<Body::Span> spans)
        : core_(core), number_(number), piece_(core.piece_bytes()), spans_(std::move(spans)), until_(length) {}

    /// Loads the first piece and keeps it for whoever loads it first, so that a body whose beginning is damaged is found out
    /// before anything of it is sent. Before others see this. False: it cannot be had.
    net::awaitable<bool> open(net::Executor executor);
    net::awaitable<Loaded> load(Bytes offset, net::Executor executor) override;
    Bytes until() const override { return until_.load(std::memory_order_acquire); }
    /// One more piece is written. Its writer only.
    void grew(Bytes bytes) { until_.fetch_add(bytes, std::memory_order_release); }

    bool is_of(Core const& core) const { return &core_ == &core; }
    std::uint64_t number() const { return number_; }
    Bytes piece() const { return piece_; }
    std::vector<Body::Span> const& spans() const { return spans_; }
    /// The index has every piece.
    bool is_whole() const override;

private:
    Loaded take_opened(Bytes offset);
    Body::Span span_at(Bytes offset) const;
    std::optional<Body::Span> piece_at(Bytes offset) const;
    Fingerprint hash_of(Bytes first) const { return hash_of_piece(number_, first, core_.seed()); }

    Core& core_;
    std::uint64_t const number_;
    Bytes const piece_;
    std::vector<Body::Span> const spans_;
    std::atomic<Bytes> until_{0};
    std::mutex mutex_;
    Loaded opened_;
    Bytes opened_at_ = 0;
};

/// The object that a record tells, uncharged; a body in pieces is loaded when it is read. nullptr when not all of them are
/// there any more, or it is no object.
ObjectPtr object_of(Core& core, ReadRecord const& read);

}  // namespace garner::store::disk
