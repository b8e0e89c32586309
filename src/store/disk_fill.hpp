// How objects become records: whole ones at once, large bodies in pieces as they come.
#pragma once
#include <functional>
#include <memory>

#include "store/disk_body.hpp"
#include "store/disk_core.hpp"
#include "store/disk_store.hpp"

namespace garner::store::disk {

/// Writes a whole object, or gives the reason why not; then what lay under its key is gone, too. A body up to
/// Object::inline_body_max lies with its head, a longer one and one with gaps in pieces before it. What its source has on
/// this disk already stays where it is.
NotStored write_object(Core& core, Object::Parts const& parts);

/// The same in two steps, for a body in memory: its pieces, then the record by which they are found. `full` is asked when the
/// buffers have no room for one: whether to try again, after so many tries.
struct WrittenPieces {
    NotStored why = NotStored::none;
    std::vector<Extent> extents;      // of the whole body: those that were here before, too
};
WrittenPieces write_pieces(Core& core, Body const& body, std::function<bool(unsigned tries)> const& full);
NotStored write_head(Core& core, Object::Parts const& parts, WrittenPieces const& written);
/// The disk has all of it already.
bool is_on_disk(Core const& core, Body const& body);

/// A body that is written as it comes, under a number of its own. Without commit() its pieces are never found, and leave
/// when their turn comes.
class PieceFill final : public DiskFill {
public:
    /// Told once: by commit(), or when it goes without and the disk was what it failed by.
    using Told = std::function<void(NotStored, Object::Parts const&)>;
    explicit PieceFill(Core& core, Of of = Of::whole, Told told = {})
        : core_(core), of_(of), told_(std::move(told)), source_(std::make_shared<PieceSource>(core, core.next_body())) {}

    ~PieceFill() override;

    /// At most pieces_a_call: a worker has others to see to.
    bool take(Body const& growing) override;
    static constexpr int pieces_a_call = 4;
    bool commit(Object::Parts const& parts) override;
    std::shared_ptr<BodySource> source() const override { return source_; }
    Bytes taken() const override { return source_->until(); }

private:
    bool lies_with_head(Body const& complete) const;
    void give_up(NotStored why);
    void take_rest(Body const& body);

    Core& core_;
    Of const of_;
    Told const told_;
    std::shared_ptr<PieceSource> source_;
    NotStored trouble_ = NotStored::none;   // what kept the last piece from being taken
    bool given_up_ = false;
    bool committed_ = false;
};

}  // namespace garner::store::disk
