// The body of one representation. It grows append-only, can be read while it grows, and has a completion state.
#pragma once
#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "net/page_lender.hpp"
#include "store/budget.hpp"
#include "store/lent.hpp"
#include "util/mutex.hpp"
#include "util/recycled_memory.hpp"

namespace garner::store {

class BodySource;

/// One producer and many readers, on any threads. Readers never see a byte that may still change.
class Body : public boost::intrusive_ref_counter<Body>, public Recycled {
public:
    enum class State : std::uint8_t { growing, complete, failed };

    /// `expected`: the length, if known. The budget is charged for each segment until the body is destroyed.
    Body(Budget& budget, std::optional<Bytes> expected) : budget_(budget), expected_(expected), own_end_(expected) {}
    /// Both ends are inclusive.
    struct Span {
        Bytes first = 0;
        Bytes last = 0;
    };
    /// A complete body that uses no memory. `present`: the byte ranges of its `length` bytes that exist, in order;
    /// the source has them.
    Body(Bytes length, std::vector<Span> present, std::shared_ptr<BodySource> source);
    /// A complete body of bytes that are charged by their lender.
    explicit Body(Loaded all);
    ~Body();
    Body(Body const&) = delete;

    /// Bytes that memory lacks or has dropped can be loaded from `source`, up to source->until(). Call before the
    /// body is shared.
    void set_source(std::shared_ptr<BodySource> source);
    /// nullptr: no source.
    std::shared_ptr<BodySource> const& source() const { return source_; }

    /// Makes room for at least one more byte and returns it; empty when the budget has none. Producer only.
    /// `reserve(bytes)` takes bytes from the budget, evicting other objects if needed, and returns whether it
    /// succeeded.
    template <class Reserve>
    std::span<char> room(Reserve&& reserve);
    /// Publishes `bytes` of the last room to readers. Producer only.
    void grow(Bytes bytes);
    /// Copies bytes to the end; false when there is no room for all of them. Producer only.
    template <class Reserve>
    bool append(std::string_view bytes, Reserve&& reserve);
    /// Appends loaded bytes without copying them. Returns false and takes nothing when too much of that memory is
    /// unused, another owner is already charged for it, or `reserve` fails. Producer only.
    template <class Reserve>
    bool adopt(Loaded const& loaded, Reserve&& reserve);
    /// Ends growth. A complete body has exactly the expected length, if one was given.
    void finish(State end);

    /// Drops whole segments before `offset`; they become unreadable. Producer only.
    void forget_before(Bytes offset);

    /// Reuses the last segment as room, once all bytes so far have been read. If an abandoned reader still sends from
    /// the segment, a new segment replaces it; empty when `reserve` has no bytes for that. Producer only.
    template <class Reserve>
    std::span<char> recycle(Reserve&& reserve);

    /// True when memory holds all bytes that exist, so no load is needed. Complete bodies only.
    bool is_resident() const;
    /// True when its memory is used by this body alone and is charged.
    bool is_charged() const;
    /// All its bytes, if their lender is charged for them; otherwise empty.
    Loaded lent() const;
    /// True when the source has all bytes that exist, so memory may drop them. Complete bodies only.
    bool is_on_source() const;

    /// A view of these bytes as a part of a longer body: at offset `first` of `length` bytes. Both share the bytes and the
    /// source. Complete bodies of known length only.
    boost::intrusive_ptr<Body> as_part(Bytes first, Bytes length) const;
    /// The union of two complete bodies of one representation and one length; shares their bytes in memory and on
    /// their sources. nullptr when the union needs more than segments_max segments in memory and the sources cannot
    /// replace them, or when the sources cannot be joined.
    static boost::intrusive_ptr<Body> join(Body const& a, Body const& b);
    static constexpr std::size_t segments_max = 1024;   // limit for a joined body
    /// From the first missing byte to the last one; nothing when none is missing. Complete bodies only.
    std::optional<Span> missing() const;
    /// The byte ranges that exist, in order, with a gap between any two. Complete bodies only.
    std::vector<Span> present() const;
    /// A growing body for the missing range of this complete, resident body. It begins with the bytes before the
    /// range. Once the range is filled, it ends with the bytes after it. Both bodies share these bytes.
    boost::intrusive_ptr<Body> completing(Span missing) const;
    /// True when no byte from `first` to `last` is missing. Complete bodies only.
    bool has(Bytes first, Bytes last) const;
    bool has_gaps() const { return missing().has_value(); }
    /// Memory used by the segment records of a joined body, beside its bytes; 0 for other bodies.
    Bytes bookkeeping() const { return bookkeeping_; }

    State state() const { return state_.load(std::memory_order_acquire); }
    Bytes size() const { return size_.load(std::memory_order_acquire); }
    std::optional<Bytes> expected() const { return expected_; }
    /// The final length, or the expected one; nothing when unknown.
    std::optional<Bytes> length() const;
    Bytes charged() const { return charged_.load(std::memory_order_relaxed); }

private:
    friend class BodyReader;
    /// Memory that stays charged until its last user is gone: the body, or a reader of bytes that the body has
    /// dropped.
    struct Block {
        static constexpr Bytes largest = net::PageLender::part_min;
        Block(Budget& budget, Bytes capacity)
            : budget(&budget), charged(capacity), capacity(capacity), bytes(memory(capacity)), has_pages(capacity == largest) {}
        Block(Budget& budget, Loaded const& taken_over)
            : budget(&budget), charged(taken_over.owner->capacity()), capacity(taken_over.bytes.size()),
              bytes(bytes_of(taken_over)) {}
        explicit Block(Loaded const& lent)
            : budget(nullptr), charged(0), capacity(lent.bytes.size()), bytes(bytes_of(lent)), lender(lent.owner) {}
        ~Block() {
            if (kernel_has_pages) forget_pages();
            if (budget) budget->release(charged);
        }
        Block(Block const&) = delete;
        /// Whole pages for a block of the largest size.
        static std::shared_ptr<char[]> memory(Bytes capacity);
        /// From now on the kernel may keep the pages: they change no more, and the memory gets others when it is freed. False: it
        /// has no pages of its own.
        bool lend() {
            if (has_pages) kernel_has_pages.store(true, std::memory_order_relaxed);
            return has_pages;
        }
        void forget_pages();
        /// Lent bytes are never written to.
        static std::shared_ptr<char[]> bytes_of(Loaded const& lent) { return {lent.owner, const_cast<char*>(lent.bytes.data())}; }
        Budget* budget;   // null: the lender accounts for the bytes
        Bytes charged;
        Bytes capacity;
        std::shared_ptr<char[]> bytes;
        std::shared_ptr<Lent> lender;
        bool has_pages = false;   // of its own
        std::atomic<bool> kernel_has_pages{false};
    };
    struct Segment {
        std::shared_ptr<Block> block;
        Bytes offset;
        Bytes cut = 0;   // bytes at the block's end beyond the body: a reused block may be too long
        Bytes end() const { return offset + block->capacity - cut; }
    };
    using Segments = RecycledVector<Segment>;
    Body(Budget& budget, Bytes length, Segments segments);
    /// Segments that no thread changes: for the producer of a growing body, and for readers of a complete one.
    /// Neither needs the lock; the thread safety analysis cannot see that.
    Segments const& settled() const NO_THREAD_SAFETY_ANALYSIS { return segments_; }
    Bytes next_capacity() const;
    bool segments_have(Bytes first, Bytes last) const;
    std::span<char> open_room();
    void add_segment(std::shared_ptr<Block> block);
    bool may_adopt(Loaded const& loaded);
    bool take_over(Loaded const& loaded);
    void cut_last();
    void add_rest();
    std::span<char> reuse_last();
    std::span<char> replace_last();

    Budget& budget_;
    std::optional<Bytes> expected_;
    std::optional<Bytes> own_end_;   // end of the received bytes; before expected_ if `rest_` follows
    Bytes bookkeeping_ = 0;
    std::atomic<Bytes> size_{0};
    std::atomic<State> state_{State::growing};
    std::atomic<Bytes> charged_{0};
    std::atomic<Bytes> filling_{0};
    mutable Mutex mutex_;
    Segments rest_;                          // becomes part of segments_ at the end
    Segments segments_ GUARDED_BY(mutex_);   // by offset, each ending behind the one before; joined: overlaps, gaps
    std::shared_ptr<BodySource> source_;
    std::vector<Span> on_source_;   // ranges that exist, for a body with gaps and a source
};

using BodyPtr = boost::intrusive_ptr<Body>;

/// Reads one body forward from an offset. Belongs to one reader.
class BodyReader {
public:
    explicit BodyReader(boost::intrusive_ptr<Body const> body, Bytes offset = 0) : body_(std::move(body)), offset_(offset) {}
    ~BodyReader() { unpin(); }
    BodyReader(BodyReader const&) = delete;

    /// Up to `pieces.size()` consecutive pieces from the current offset on, at most `limit` bytes. Returns the number
    /// of pieces; 0 at the current end of the body (see Body::state), when needs_load(), and when lost(). Pieces of a
    /// growing body and loaded pieces stay valid until the next call or advance(), even if the body drops them; other
    /// pieces of a complete body stay valid as long as the body.
    std::size_t next(std::span<std::string_view> pieces, Bytes limit);
    void advance(Bytes bytes) {
        offset_ += bytes;
        unpin();
    }
    /// For the `pieces` of the last next(): those of net::PageLender::part_min and more may be lent to the kernel. False: none may.
    bool lend(std::size_t pieces);
    Bytes offset() const { return offset_; }
    /// The bytes at offset() were dropped and cannot be loaded from a source.
    bool lost() const { return lost_; }
    /// The bytes at offset() are not in memory: call load() (body_source.hpp), then next() again.
    bool needs_load() const { return needs_load_; }
    /// Hands loaded bytes at offset() to the reader, which keeps them until it has passed them. Empty bytes make the
    /// reader lost().
    void give(Loaded loaded);
    Body const& body() const { return *body_; }
    /// Releases the body; only offset() may be called afterwards.
    void leave() {
        unpin();
        body_.reset();
    }

private:
    enum class Pin : bool { no, yes };
    std::size_t from_loaded(std::span<std::string_view> pieces, Bytes limit);
    std::size_t collect(Body::Segments const& segments, std::span<std::string_view> pieces, Bytes limit, Bytes end, Pin pin);
    void unpin();
    boost::intrusive_ptr<Body const> body_;
    Bytes offset_;
    RecycledVector<std::shared_ptr<Body::Block>> pins_;   // blocks of the last result, for a growing body
    std::size_t segment_ = 0;                             // a hint: the segment of the last offset_
    bool settled_ = false;                                // the last pieces are those of a complete body in memory
    bool lost_ = false;
    bool needs_load_ = false;
    Loaded loaded_;   // no owner: nothing is loaded
    Bytes loaded_at_ = 0;
};

// ---- template ----

template <class Reserve>
std::span<char> Body::room(Reserve&& reserve) {
    if (auto open = open_room(); !open.empty()) return open;
    auto capacity = next_capacity();
    if (capacity == 0 || !reserve(capacity)) return {};
    add_segment(std::allocate_shared<Block>(RecyclingAllocator<Block>(), budget_, capacity));
    return open_room();
}

template <class Reserve>
bool Body::append(std::string_view bytes, Reserve&& reserve) {
    while (!bytes.empty()) {
        auto const open = room(reserve);
        if (open.empty()) return false;
        auto const count = bytes.copy(open.data(), open.size());
        grow(count);
        bytes.remove_prefix(count);
    }
    return true;
}

template <class Reserve>
bool Body::adopt(Loaded const& loaded, Reserve&& reserve) {
    return may_adopt(loaded) && reserve(loaded.owner->capacity()) && take_over(loaded);
}

template <class Reserve>
std::span<char> Body::recycle(Reserve&& reserve) {
    forget_before(size());
    check(!settled().empty());
    if (auto room = reuse_last(); !room.empty()) return room;
    if (!reserve(settled().back().block->capacity)) return {};
    return replace_last();
}

}   // namespace garner::store
