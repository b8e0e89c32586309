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

/// A body that is written as it comes, under a number of its own. Without commit() its pieces are never found, and leave
/// when their turn comes.
class PieceFill final : public DiskFill {
public:
    /// Told once by commit().
    using Told = std::function<void(NotStored, Object::Parts const&)>;
    explicit PieceFill(Core& core, Of of = Of::whole, Told told = {})
        : core_(core), of_(of), told_(std::move(told)), source_(std::make_shared<PieceSource>(core, core.next_body())) {}

    bool take(Body const& growing) override;
    bool commit(Object::Parts const& parts) override;
    std::shared_ptr<BodySource> source() const override { return source_; }
    Bytes taken() const override { return source_->until(); }

private:
    bool lies_with_head(Body const& complete) const;

    Core& core_;
    Of const of_;
    Told const told_;
    std::shared_ptr<PieceSource> source_;
    bool given_up_ = false;
};

}  // namespace garner::store::disk
