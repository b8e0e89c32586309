// The bytes of one representation: they only grow, may be read while they do, and know whether they are complete.
#pragma once
#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <boost/smart_ptr/intrusive_ref_counter.hpp>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "store/budget.hpp"
#include "store/lent.hpp"
#include "util/mutex.hpp"

namespace garner::store {

class BodySource;

/// One producer, many readers, on any threads. Readers never see a byte that may still change.
class Body : public boost::intrusive_ref_counter<Body> {
public:
    enum class State : std::uint8_t { growing, complete, failed };

    /// `expected`: the length, where it is known. The budget is charged for each segment until the body dies.
    Body(Budget& budget, std::optional<Bytes> expected) : budget_(budget), expected_(expected), own_end_(expected) {}
    /// Both ends included.
    struct Span {
        Bytes first = 0;
        Bytes last = 0;
    };
    /// A complete body that costs no memory: of its `length` bytes these are there, in order, and the source has them.
    Body(Bytes length, std::vector<Span> present, std::shared_ptr<BodySource> source);
    /// A complete body of bytes that their lender accounts for.
    explicit Body(Loaded all);
    ~Body();
    Body(Body const&) = delete;

    /// What memory has not, or has forgotten, can be loaded from there, as far as source->until(). Before others see the
    /// body.
    void set_source(std::shared_ptr<BodySource> source);
    /// nullptr: it has none.
    std::shared_ptr<BodySource> const& source() const { return source_; }

    /// Makes room for at least one more byte and returns it; empty when the budget has none. Producer only.
    /// `reserve(bytes)` takes bytes from the budget, evicting others if need be, and says whether it could.
    template <class Reserve>
    std::span<char> room(Reserve&& reserve);
    /// `bytes` of the last room are filled. Producer only; readers see them from now on.
    void grow(Bytes bytes);
    /// These follow, where they were read to: nothing is copied. False, and nothing was taken, when too much else lies in
    /// that memory, somebody else accounts for it, or `reserve` has not as much. Producer only.
    template <class Reserve>
    bool adopt(Loaded const& loaded, Reserve&& reserve);
    /// No more will come. A body that is complete has exactly the expected length, where there was one.
    void finish(State end);

    /// Drops whole segments before `offset`; they cannot be read any more. Producer only.
    void forget_before(Bytes offset);

    /// Everything so far has been read and may go: the last segment becomes room again. Where a reader that was given up
    /// still sends from it, a new one takes its place; empty when `reserve` has no bytes for that. Producer only.
    template <class Reserve>
    std::span<char> recycle(Reserve&& reserve);

    /// True when memory has all that is there of it: nobody has to load anything. Of a complete body.
    bool is_resident() const;
    /// True when what memory has of it is kept for it alone, and charged.
    bool is_charged() const;
    /// All its bytes, where their lender accounts for them; nothing of any other body.
    Loaded lent() const;
    /// True when the source has all that is there of it: memory may forget it. Of a complete body.
    bool is_on_source() const;

    /// The same bytes as a part of a longer body: from `first` on, of `length` in all. Both share them, and what the source
    /// has of them. Of a complete body whose length was known before.
    boost::intrusive_ptr<Body> as_part(Bytes first, Bytes length) const;
    /// All that either of two complete bodies of one length and one representation has; shares their bytes, in memory and
    /// on their sources. nullptr when that would be more than segments_max pieces in memory, and cannot be had without
    /// them, or more than the sources can join.
    static boost::intrusive_ptr<Body> join(Body const& a, Body const& b);
    static constexpr std::size_t segments_max = 1024;   // of a body that was joined
    /// From the first byte that is missing to the last; nothing when none is. Of a complete body.
    std::optional<Span> missing() const;
    /// What is there, in order, with a gap between any two. Of a complete body.
    std::vector<Span> present() const;
    /// A growing body for those bytes of this complete one, which is resident: it begins with what lies before them, and when they have come
    /// it ends with what lies behind. Both share these bytes.
    boost::intrusive_ptr<Body> completing(Span missing) const;
    /// True when no byte from `first` to `last` is missing. Of a complete body.
    bool has(Bytes first, Bytes last) const;
    bool has_gaps() const { return missing().has_value(); }
    /// What a body made of parts costs beside its bytes: the account of its many small pieces. 0 for others.
    Bytes bookkeeping() const { return bookkeeping_; }

    State state() const { return state_.load(std::memory_order_acquire); }
    Bytes size() const { return size_.load(std::memory_order_acquire); }
    std::optional<Bytes> expected() const { return expected_; }
    /// The final length, or what is expected to become it; nothing when unknown.
    std::optional<Bytes> length() const;
    Bytes charged() const { return charged_.load(std::memory_order_relaxed); }

private:
    friend class BodyReader;
    /// Memory that stays charged until its last user is gone: the body, or a reader of what the body has forgotten.
    struct Block {
        Block(Budget& budget, Bytes capacity)
            : budget(&budget), charged(capacity), capacity(capacity),
              bytes(std::make_shared_for_overwrite<char[]>(capacity)) {}
        Block(Budget& budget, Loaded const& taken_over)
            : budget(&budget), charged(taken_over.owner->capacity()), capacity(taken_over.bytes.size()),
              bytes(bytes_of(taken_over)) {}
        explicit Block(Loaded const& lent)
            : budget(nullptr), charged(0), capacity(lent.bytes.size()), bytes(bytes_of(lent)), lender(lent.owner) {}
        ~Block() {
            if (budget) budget->release(charged);
        }
        Block(Block const&) = delete;
        /// Nobody writes to what was lent.
        static std::shared_ptr<char[]> bytes_of(Loaded const& lent) {
            return {lent.owner, const_cast<char*>(lent.bytes.data())};
        }
        Budget* budget;                  // null: the lender accounts for the bytes
        Bytes charged;
        Bytes capacity;
        std::shared_ptr<char[]> bytes;
        std::shared_ptr<Lent> lender;
    };
    struct Segment {
        std::shared_ptr<Block> block;
        Bytes offset;
        Bytes cut = 0;                   // of the block's end, what is not the body's: a block that is used again may be too long
        Bytes end() const { return offset + block->capacity - cut; }
    };
    Body(Budget& budget, Bytes length, std::vector<Segment> segments);
    /// For the producer of a growing body, who alone changes them, and for readers of a complete one, where nobody does any more:
    /// neither needs the lock, which the analysis cannot see.
    std::vector<Segment> const& settled() const NO_THREAD_SAFETY_ANALYSIS { return segments_; }
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
    std::optional<Bytes> own_end_;      // where what is received ends; before expected_ where `rest_` follows
    Bytes bookkeeping_ = 0;
    std::atomic<Bytes> size_{0};
    std::atomic<State> state_{State::growing};
    std::atomic<Bytes> charged_{0};
    std::atomic<Bytes> filling_{0};
    mutable Mutex mutex_;
    std::vector<Segment> rest_;         // becomes part of segments_ at the end
    std::vector<Segment> segments_ GUARDED_BY(mutex_);   // by offset, each ending behind the one before; joined: overlaps, gaps
    std::shared_ptr<BodySource> source_;
    std::vector<Span> on_source_;       // what is there of a body with gaps and a source
};

using BodyPtr = boost::intrusive_ptr<Body>;

/// Reads one body forward from an offset. Belongs to one reader.
class BodyReader {
public:
    explicit BodyReader(boost::intrusive_ptr<Body const> body, Bytes offset = 0)
        : body_(std::move(body)), offset_(offset) {}
    ~BodyReader() { unpin(); }
    BodyReader(BodyReader const&) = delete;

    /// Up to `pieces.size()` consecutive pieces of what is there from the current offset on, at most `limit` bytes.
    /// Returns how many pieces; 0 when nothing more is there (yet: see Body::state), when needs_load(), and when lost().
    /// The pieces of a growing body and those that were loaded live until the next call or advance(), whatever the body
    /// forgets meanwhile; the others of a complete one as long as the body.
    std::size_t next(std::span<std::string_view> pieces, Bytes limit);
    void advance(Bytes bytes) {
        offset_ += bytes;
        unpin();
    }
    Bytes offset() const { return offset_; }
    /// It was forgotten, and cannot be had from a source.
    bool lost() const { return lost_; }
    /// What next() looked for is not in memory: load() it (body_source.hpp), and ask again.
    bool needs_load() const { return needs_load_; }
    /// Puts the bytes that lie from offset() on into the reader's hands, until it has passed them. Without any it is lost.
    void give(Loaded loaded);
    Body const& body() const { return *body_; }
    /// Holds nothing of the body any more; only offset() may be called from now on.
    void leave() {
        unpin();
        body_.reset();
    }

private:
    enum class Pin : bool { no, yes };
    std::size_t from_loaded(std::span<std::string_view> pieces, Bytes limit);
    std::size_t collect(std::vector<Body::Segment> const& segments, std::span<std::string_view> pieces, Bytes limit, Bytes end,
                        Pin pin);
    void unpin();
    boost::intrusive_ptr<Body const> body_;
    Bytes offset_;
    std::vector<std::shared_ptr<Body::Block>> pins_;   // what was returned last, of a growing body
    std::size_t segment_ = 0;           // a hint: where offset_ was found last
    bool lost_ = false;
    bool needs_load_ = false;
    Loaded loaded_;                     // without an owner: nothing is in its hands
    Bytes loaded_at_ = 0;
};

// ---- template ----

template <class Reserve>
std::span<char> Body::room(Reserve&& reserve) {
    if (auto open = open_room(); !open.empty()) return open;
    auto capacity = next_capacity();
    if (capacity == 0 || !reserve(capacity)) return {};
    add_segment(std::make_shared<Block>(budget_, capacity));
    return open_room();
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

}  // namespace garner::store
