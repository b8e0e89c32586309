// A source of body bytes that memory does not hold.
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
    /// The bytes from `offset` on, at most one piece of the body. Resumes on the caller's executor.
    virtual net::awaitable<Loaded> load(Bytes offset, net::Executor executor) = 0;
    /// The number of bytes it takes from a growing body, and returns, at a time; 0: any number.
    virtual Bytes piece() const { return 0; }
    /// All bytes before this offset can be loaded. It advances with a growing body.
    virtual Bytes until() const = 0;
    /// True when no byte is known to be lost: a load is very likely to succeed, now or later.
    virtual bool is_whole() const = 0;

    /// A source of these bytes at offset `first` of a longer body of `length` bytes. nullptr: the source supports whole bodies
    /// only; this is also the default of the next two functions.
    virtual std::shared_ptr<BodySource> as_part(Bytes, Bytes) const { return nullptr; }
    /// The union of two sources of one body with gaps; nullptr, too, when it would have too many pieces.
    virtual std::shared_ptr<BodySource> joined_with(BodySource const&) const { return nullptr; }
    /// True when the source has all bytes from `first` to `last`. Complete bodies only.
    virtual bool has(Bytes, Bytes last) const { return last < until(); }
    /// Its bytes are in memory: from now on it does not keep its store open, and loads fail once the store is closed.
    virtual void let_go() {}
};

/// For a reader that needs_load(): loads the bytes at its offset, so that its next() returns them. False: the bytes
/// are unavailable and the reader is lost(). The reader must stay alive meanwhile.
net::awaitable<bool> load(BodyReader& reader, net::Executor executor);

/// A complete body with all existing bytes of `body` in memory, gaps kept; `body` itself if they are resident and
/// charged. `reserve`: as for Body::room. nullptr when bytes or room are unavailable; nothing stays charged then.
net::awaitable<BodyPtr> in_memory(BodyPtr body, Budget& budget, std::function<bool(Bytes)> reserve, net::Executor executor);

}   // namespace garner::store
