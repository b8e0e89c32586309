// Writes objects as records: short ones at once, large bodies in pieces as they arrive.
#pragma once
#include <functional>
#include <memory>

#include "store/disk_body.hpp"
#include "store/disk_core.hpp"
#include "store/disk_store.hpp"

namespace garner::store::disk {

/// Writes a whole object, or returns the reason why not; then the object under its key is dropped, too. A body up to
/// Object::inline_body_max is in one record with its head; a longer one, or one with gaps, is in pieces before it.
/// Bytes that its source already has on this disk are not written again.
NotStored write_object(Core& core, Object::Parts const& parts);

/// Writes a body in memory in two steps: its pieces, then the record that makes them reachable. `full` is called when
/// the buffers have no room for a piece, with the number of tries so far; it returns whether to try again.
struct WrittenPieces {
    NotStored why = NotStored::none;
    std::vector<Extent> extents;   // the whole body, including extents that were on disk before
};
WrittenPieces write_pieces(Core& core, Body const& body, std::function<bool(unsigned tries)> const& full);
NotStored write_head(Core& core, Object::Parts const& parts, WrittenPieces const& written);
/// True when the disk already has all of the body.
bool is_on_disk(Core const& core, Body const& body);

/// A body written as it arrives, under a number of its own. Without commit() its pieces are unreachable, and are
/// evicted with their segments.
class PieceFill final : public DiskFill {
public:
    /// Called once: by commit(), or on destruction without commit() if the disk was the cause.
    using Told = std::function<void(NotStored, Object::Parts const&)>;
    explicit PieceFill(Core& core, Of of = Of::whole, Told told = {})
        : kept_(core.kept()), core_(core), of_(of), told_(std::move(told)),
          source_(std::make_shared<PieceSource>(core, core.next_body())) {}

    ~PieceFill() override;

    /// Takes at most pieces_a_call pieces, so that the worker can serve other requests.
    bool take(Body const& growing) override;
    static constexpr int pieces_a_call = 4;
    bool commit(Object::Parts const& parts) override;
    std::shared_ptr<BodySource> source() const override { return source_; }
    Bytes taken() const override { return source_->until(); }

private:
    bool lies_with_head(Body const& complete) const;
    void give_up(NotStored why);
    void take_rest(Body const& body);

    std::shared_ptr<void const> const kept_;
    Core& core_;
    Of const of_;
    Told const told_;
    std::shared_ptr<PieceSource> source_;
    NotStored trouble_ = NotStored::none;   // why the last piece was not taken
    bool given_up_ = false;
    bool committed_ = false;
};

}   // namespace garner::store::disk
