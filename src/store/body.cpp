#include "store/body.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <new>

#include "store/body_source.hpp"

namespace garner::store {

namespace {
constexpr Bytes first_segment = 16 * KiB;
// The reference counts of a segment's block, and the allocator's overhead for it and for its bytes.
constexpr Bytes segment_allocations = 64;
// If more of the adopted memory were unused, copying the bytes would be cheaper.
constexpr Bytes most_beside = 8;   // denominator: at most one eighth

std::vector<Body::Span> union_of(std::vector<Body::Span> spans, std::vector<Body::Span> const& more) {
    spans.insert(spans.end(), more.begin(), more.end());
    std::ranges::sort(spans, {}, &Body::Span::first);
    std::vector<Body::Span> all;
    for (auto const& span : spans) {
        if (!all.empty() && span.first <= all.back().last + 1)
            all.back().last = std::max(all.back().last, span.last);
        else
            all.push_back(span);
    }
    return all;
}

/// For bodies that use no memory.
Budget& nothing() {
    static Budget none(0, 0);
    return none;
}
}   // namespace

Body::Body(Budget& budget, Bytes length, Segments segments)
    : budget_(budget), expected_(length), own_end_(length),
      bookkeeping_(segments.size() * (sizeof(Segment) + sizeof(Block) + segment_allocations)), size_(length),
      state_(State::complete), segments_(std::move(segments)) {
    for (auto const& segment : segments_) charged_ += segment.block->charged;
}

Body::Body(Loaded all)
    : budget_(nothing()), expected_(all.bytes.size()), own_end_(expected_), size_(*expected_), state_(State::complete) {
    segments_.push_back({std::make_shared<Block>(all), 0});
}

Body::Body(Bytes length, std::vector<Span> present, std::shared_ptr<BodySource> source)
    : budget_(nothing()), expected_(length), own_end_(length), size_(length), state_(State::complete), source_(std::move(source)),
      on_source_(std::move(present)) {}

std::shared_ptr<char[]> Body::Block::memory(Bytes capacity) {
    RecyclingAllocator<char> const allocator;
    if (capacity != largest) return std::allocate_shared_for_overwrite<char[]>(allocator, capacity);
    static auto const page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    // Not aligned_alloc(): a block that glibc frees would be too small for the next one.
    auto size = capacity + page;
    auto* const all = std::malloc(size);
    if (!all) throw std::bad_alloc();
    void* pages = all;
    std::align(page, capacity, pages, size);
    return {static_cast<char*>(pages), [all](char*) { std::free(all); }, allocator};
}

/// The kernel may still send them. The memory is empty afterwards, so that its next user writes into other pages. If the system
/// refuses that, nothing uses the memory again.
void Body::Block::forget_pages() {
    if (::madvise(bytes.get(), capacity, MADV_DONTNEED) != 0) new std::shared_ptr<char[]>(std::move(bytes));
}

Body::~Body() { budget_.release_filling(filling_.load(std::memory_order_relaxed)); }

void Body::set_source(std::shared_ptr<BodySource> source) {
    if (state() == State::complete) on_source_ = present();
    source_ = std::move(source);
}

std::optional<Bytes> Body::length() const {
    if (state() == State::complete) return size();
    return expected_;
}

Bytes Body::next_capacity() const {
    auto const size = size_.load(std::memory_order_relaxed);
    // For a source that takes pieces, no piece may span two segments: a full segment can be taken and then dropped.
    auto const piece = source_ ? source_->piece() : 0;
    auto const most = piece > 0 ? piece - size % piece : Block::largest;
    if (own_end_) return std::min(*own_end_ - std::min(size, *own_end_), most);
    return std::min(std::clamp(size, first_segment, Block::largest), most);
}

void Body::add_segment(std::shared_ptr<Block> block) {
    charged_.fetch_add(block->charged, std::memory_order_relaxed);
    filling_.fetch_add(block->charged, std::memory_order_relaxed);
    Segment segment{std::move(block), size_.load(std::memory_order_relaxed)};
    MutexLock const lock(mutex_);
    segments_.push_back(std::move(segment));
}

bool Body::may_adopt(Loaded const& loaded) {
    Bytes const bytes = loaded.bytes.size();
    bool const fits = bytes > 0 && (!own_end_ || size() + bytes <= *own_end_);
    return fits && loaded.owner->capacity() <= bytes + bytes / most_beside && open_room().empty();
}

/// Releases the reservation if another owner already took over the memory.
bool Body::take_over(Loaded const& loaded) {
    if (!loaded.owner->take_over()) {
        budget_.release(loaded.owner->capacity());
        budget_.release_filling(loaded.owner->capacity());
        return false;
    }
    add_segment(std::make_shared<Block>(budget_, loaded));
    grow(loaded.bytes.size());
    return true;
}

std::span<char> Body::open_room() {
    if (settled().empty()) return {};
    auto const& last = settled().back();
    auto used = size_.load(std::memory_order_relaxed) - last.offset;
    return {last.block->bytes.get() + used, static_cast<std::size_t>(last.block->capacity - used)};
}

void Body::grow(Bytes bytes) { size_.store(size_.load(std::memory_order_relaxed) + bytes, std::memory_order_release); }

/// Empty when a reader still uses the segment. Readers take and release segments under the same lock, so a segment
/// without readers is safe to overwrite.
std::span<char> Body::reuse_last() {
    MutexLock const lock(mutex_);
    auto& last = segments_.back();
    if (last.block.use_count() > 1 || last.block->kernel_has_pages) return {};
    last.offset = size_.load(std::memory_order_relaxed);
    return {last.block->bytes.get(), static_cast<std::size_t>(last.block->capacity)};
}

std::span<char> Body::replace_last() {
    Segment fresh{std::make_shared<Block>(budget_, settled().back().block->capacity), size_.load(std::memory_order_relaxed)};
    MutexLock const lock(mutex_);
    std::swap(segments_.back(), fresh);
    auto& last = segments_.back();
    return {last.block->bytes.get(), static_cast<std::size_t>(last.block->capacity)};
}

void Body::add_rest() {
    check(size() == *own_end_);
    MutexLock const lock(mutex_);
    for (auto& segment : rest_) {
        charged_.fetch_add(segment.block->charged, std::memory_order_relaxed);
        segments_.push_back(std::move(segment));
    }
    rest_.clear();
    size_.store(*expected_, std::memory_order_release);
}

/// The unused end of the last segment is not part of the body.
void Body::cut_last() {
    MutexLock const lock(mutex_);
    if (segments_.empty()) return;
    auto& last = segments_.back();
    last.cut += last.end() - std::min(last.end(), size());
}

void Body::finish(State end) {
    if (end == State::complete) cut_last();
    if (end == State::complete && !rest_.empty()) add_rest();
    check(end != State::complete || !expected_ || *expected_ == size());
    budget_.release_filling(filling_.exchange(0, std::memory_order_relaxed));
    state_.store(end, std::memory_order_release);
}

void Body::forget_before(Bytes offset) {
    MutexLock const lock(mutex_);
    auto keep = std::find_if(segments_.begin(), segments_.end(), [&](Segment const& segment) { return segment.end() > offset; });
    // The last segment stays: the producer writes there.
    if (keep == segments_.end() && keep != segments_.begin()) --keep;
    Bytes freed = 0;
    for (auto segment = segments_.begin(); segment != keep; ++segment) freed += segment->block->charged;
    segments_.erase(segments_.begin(), keep);
    charged_.fetch_sub(freed, std::memory_order_relaxed);
    auto filling = filling_.load(std::memory_order_relaxed);
    auto filling_freed = std::min(filling, freed);
    filling_.fetch_sub(filling_freed, std::memory_order_relaxed);
    budget_.release_filling(filling_freed);
}

bool Body::is_resident() const {
    check(state() == State::complete);
    if (!source_) return true;
    auto const there = present();
    return std::ranges::all_of(there, [&](Span span) { return segments_have(span.first, span.last); });
}

bool Body::is_charged() const {
    return std::ranges::all_of(settled(), [](Segment const& segment) { return segment.block->budget != nullptr; });
}

Loaded Body::lent() const {
    if (settled().size() != 1 || !settled().front().block->lender) return {};
    auto const& block = *settled().front().block;
    return {block.lender, {block.bytes.get(), static_cast<std::size_t>(block.capacity)}};
}

bool Body::is_on_source() const {
    if (!source_) return false;
    auto const there = present();
    return std::ranges::all_of(there, [&](Span span) { return source_->has(span.first, span.last); });
}

BodyPtr Body::as_part(Bytes first, Bytes length) const {
    // Without an expected length the last segment may be longer than what it holds.
    check(state() == State::complete && expected_ == size() && first + size() <= length);
    auto segments = settled();
    for (auto& segment : segments) segment.offset += first;
    BodyPtr part(new Body(budget_, length, std::move(segments)));
    if (source_) part->source_ = source_->as_part(first, length);
    if (part->source_) part->on_source_ = {{first, first + size() - 1}};
    return part;
}

BodyPtr Body::join(Body const& a, Body const& b) {
    check(a.state() == State::complete && b.state() == State::complete && a.size() == b.size());
    auto all = a.settled();
    all.insert(all.end(), b.settled().begin(), b.settled().end());
    std::ranges::stable_sort(all, {}, &Segment::offset);
    Segments segments;
    for (auto& segment : all) {
        if (!segments.empty() && segment.end() <= segments.back().end()) continue;
        if (!segments.empty() && segment.offset == segments.back().offset) segments.pop_back();
        // A segment covered by its two neighbours is dropped.
        while (segments.size() >= 2 && segments[segments.size() - 2].end() >= segment.offset) segments.pop_back();
        segments.push_back(std::move(segment));
    }
    bool const too_many = segments.size() > segments_max;
    if (too_many) segments.clear();
    auto& budget = a.settled().empty() ? b.budget_ : a.budget_;
    BodyPtr joined(new Body(budget, a.size(), std::move(segments)));
    if (!a.source_ && !b.source_) return too_many ? nullptr : joined;
    joined->source_ = !a.source_ ? b.source_ : !b.source_ ? a.source_ : a.source_->joined_with(*b.source_);
    if (!joined->source_) return nullptr;
    joined->on_source_ = union_of(a.present(), b.present());
    return !too_many || joined->is_on_source() ? joined : nullptr;
}

std::optional<Body::Span> Body::missing() const {
    check(state() == State::complete);
    std::optional<Span> missing;
    Bytes reached = 0;
    auto note_gap_before = [&](Bytes offset) {
        if (offset > reached) missing = Span{missing ? missing->first : reached, offset - 1};
    };
    if (source_ && on_source_.empty()) return missing;
    for (auto const& span : on_source_) {
        note_gap_before(span.first);
        reached = span.last + 1;
    }
    if (on_source_.empty())
        for (auto const& segment : settled()) {
            note_gap_before(segment.offset);
            reached = std::max(reached, segment.end());
        }
    note_gap_before(size());
    return missing;
}

std::vector<Body::Span> Body::present() const {
    check(state() == State::complete);
    if (!on_source_.empty()) return on_source_;
    std::vector<Span> spans;
    if (source_ && size() > 0) spans.push_back({0, size() - 1});
    if (source_) return spans;
    for (auto const& segment : settled()) {
        auto const last = std::min(segment.end(), size()) - 1;
        if (spans.empty() || segment.offset > spans.back().last + 1)
            spans.push_back({segment.offset, last});
        else
            spans.back().last = std::max(spans.back().last, last);
    }
    return spans;
}

BodyPtr Body::completing(Span missing) const {
    check(is_resident());
    BodyPtr body(new Body(budget_, expected_));
    body->own_end_ = missing.last + 1;
    body->size_ = missing.first;
    body->bookkeeping_ = bookkeeping_;
    MutexLock const lock(body->mutex_);
    for (auto const& segment : settled()) {
        if (segment.offset > missing.last) body->rest_.push_back(segment);
        if (segment.offset >= missing.first) continue;
        body->segments_.push_back(segment);
        body->charged_ += segment.block->charged;
    }
    return body;
}

bool Body::has(Bytes first, Bytes last) const {
    check(state() == State::complete);
    if (!source_) return segments_have(first, last);
    auto const there = present();
    return std::ranges::any_of(there, [&](Span span) { return span.first <= first && last <= span.last; });
}

bool Body::segments_have(Bytes first, Bytes last) const {
    for (auto const& segment : settled()) {
        if (segment.offset > first) return false;
        if (segment.end() > last) return true;
        first = std::max(first, segment.end());
    }
    return false;
}

std::size_t BodyReader::next(std::span<std::string_view> pieces, Bytes limit) {
    unpin();
    needs_load_ = false;
    settled_ = false;
    if (lost_) return 0;
    if (loaded_.owner)
        if (auto const count = from_loaded(pieces, limit)) return count;
    // Order matters: a body seen complete here keeps its segments, so they may be read without the lock.
    settled_ = body_->state() == Body::State::complete;
    auto end = body_->size();
    if (offset_ >= end) return 0;
    if (settled_) return collect(body_->settled(), pieces, limit, end, Pin::no);
    MutexLock const lock(body_->mutex_);
    return collect(body_->segments_, pieces, limit, end, Pin::yes);
}

bool BodyReader::lend(std::size_t pieces) {
    if (!settled_) return false;
    bool any = false;
    auto const& segments = body_->settled();
    for (auto i = segment_; i < segment_ + pieces; ++i) {
        if (segments[i].block->capacity < Body::Block::largest) continue;   // copied
        if (!segments[i].block->lend()) return false;
        any = true;
    }
    return any;
}

std::size_t BodyReader::collect(Body::Segments const& segments, std::span<std::string_view> pieces, Bytes limit, Bytes end,
                                Pin pin) {
    if (segment_ >= segments.size() || segments[segment_].offset > offset_) segment_ = 0;
    while (segment_ < segments.size() && segments[segment_].end() <= offset_) ++segment_;
    if (segment_ == segments.size() || segments[segment_].offset > offset_) {
        needs_load_ = body_->source_ && offset_ < body_->source_->until();
        lost_ = !needs_load_;
        return 0;
    }
    std::size_t count = 0;
    auto at = offset_;
    for (auto i = segment_; i < segments.size() && count < pieces.size() && at < end && limit > 0; ++i) {
        auto const& segment = segments[i];
        if (segment.offset > at) break;
        auto bytes = std::min({segment.end() - at, end - at, limit});
        pieces[count++] = {segment.block->bytes.get() + (at - segment.offset), static_cast<std::size_t>(bytes)};
        if (pin == Pin::yes) pins_.push_back(segment.block);
        at += bytes;
        limit -= bytes;
    }
    return count;
}

/// 0 when the reader has passed the loaded bytes.
std::size_t BodyReader::from_loaded(std::span<std::string_view> pieces, Bytes limit) {
    auto const passed = offset_ - loaded_at_;
    if (passed >= loaded_.bytes.size()) {
        loaded_ = {};
        return 0;
    }
    pieces[0] = loaded_.bytes.substr(passed, limit);
    return 1;
}

void BodyReader::give(Loaded loaded) {
    needs_load_ = false;
    lost_ = loaded.bytes.empty();
    loaded_ = lost_ ? Loaded{} : std::move(loaded);
    loaded_at_ = offset_;
}

void BodyReader::unpin() {
    if (pins_.empty()) return;
    MutexLock const lock(body_->mutex_);
    pins_.clear();
}

}   // namespace garner::store
