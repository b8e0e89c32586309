// Where the bytes of a body lie that memory does not hold.
#pragma once
#include <functional>
#include <memory>

#include "net/asio.hpp"
#include "store/body.hpp"
#include "store/lent.hpp"
#include "util/bytes.hpp"

namespace garner::store {

/// Thread-safe.
class BodySource {
public:
    virtual ~BodySource() = default;
    /// What lies from `offset` on, at most one piece of the body. Resumes on the caller's executor.
    virtual net::awaitable<Loaded> load(Bytes offset, net::Executor executor) = 0;
    /// What it takes of a body that grows, and gives, at a time; 0: any number of bytes.
    virtual Bytes piece() const { return 0; }
    /// Before this offset everything can be loaded; it grows with a body that grows.
    virtual Bytes until() const = 0;
    /// Nothing of that is known to be lost for good: as good as sure that it can be loaded now, or later.
    virtual bool is_whole() const = 0;

    /// The same bytes in a longer body: from `first` on, of `length` in all. nullptr: it knows whole bodies only, as of the
    /// following.
    virtual std::shared_ptr<BodySource> as_part(Bytes, Bytes) const { return nullptr; }
    /// What either has of one body that has gaps; nullptr, too, when that would be in too many pieces.
    virtual std::shared_ptr<BodySource> joined_with(BodySource const&) const { return nullptr; }
    /// From `first` to `last` it has all, of a complete body.
    virtual bool has(Bytes, Bytes last) const { return last < until(); }
};

/// For a reader that needs_load(): brings what it looked for, so that its next() finds it. False: it cannot be had, and
/// the reader is lost(). The reader stays where it is meanwhile.
net::awaitable<bool> load(BodyReader& reader, net::Executor executor);

/// A complete body with all the bytes that are there of `body` in memory, gaps kept; `body` itself where they are there
/// already. `reserve` as for Body::room. nullptr when bytes or room cannot be had; nothing is taken then.
net::awaitable<BodyPtr> in_memory(BodyPtr body, Budget& budget, std::function<bool(Bytes)> reserve, net::Executor executor);

}  // namespace garner::store
