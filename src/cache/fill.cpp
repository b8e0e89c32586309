#include "cache/fill.hpp"

#include <algorithm>

#include "cache/fetches.hpp"
#include "cache/parts.hpp"
#include "util/check.hpp"

namespace garner::cache {

FillView Fill::view() const {
    MutexLock const lock(mutex_);
    return view_;
}

bool Fill::selects(http::Fields const& request) const {
    MutexLock const lock(mutex_);
    if (vary_.star) return false;
    return vary_.names.empty() || http::variant_key(vary_, request) == variant_;
}

std::string Fill::varies_by() const {
    MutexLock const lock(mutex_);
    return http::to_string(vary_);
}

std::size_t Fill::followers() const {
    MutexLock const lock(mutex_);
    return follower_count_;
}

bool Fill::remember_failure(FetchFailure const& failure, bool of_head_only, NegativeTerms const& terms,
                            std::optional<Witness> const& witness) const {
    return home_.remember_failure(*this, failure, of_head_only, terms, witness);
}

bool Fill::is_given() const {
    MutexLock const lock(mutex_);
    return begun_ || follower_count_ > 0;
}

net::WakeHandles Fill::take_waiting() {
    net::WakeHandles handles;
    for (auto* follower : followers_) {
        follower->assert_held();
        if (follower->waiting_) handles.push_back(std::exchange(follower->waiting_, {}));
    }
    return handles;
}

void Fill::grown() {
    net::WakeHandles handles;
    {
        MutexLock const lock(mutex_);
        ++view_.version;
        handles = take_waiting();
    }
    net::wake_all(std::move(handles), net::Wake::ready);
}

Beside Fill::go_beside(FillPtr const& fill, IpAddress const& client) {
    MutexLock const lock(fill->mutex_);
    auto& taken = fill->beside_;
    if (taken.size() >= beside_max || std::ranges::find(taken, client) != taken.end()) return {};
    taken.push_back(client);
    return Beside(fill, client);
}

void Fill::leave_beside(IpAddress const& client) {
    {
        MutexLock const lock(mutex_);
        beside_.erase(std::ranges::find(beside_, client));
    }
    grown();
}

Beside& Beside::operator=(Beside&& other) noexcept {
    if (this != &other) {
        drop();
        fill_ = std::move(other.fill_);
        client_ = other.client_;
    }
    return *this;
}

void Beside::leave() {
    auto const fill = std::exchange(fill_, nullptr);
    fill->leave_beside(client_);
}

Bytes Fill::slowest_follower() const {
    MutexLock const lock(mutex_);
    Bytes slowest = UINT64_MAX;
    for (auto* follower : followers_) {
        follower->assert_held();
        if (!follower->dropped_) slowest = std::min(slowest, follower->offset_);
    }
    return slowest;
}

void Fill::charge_laggards(Bytes size, SteadyTime::duration waited, milliseconds allowance) {
    net::WakeHandles handles;
    {
        MutexLock const lock(mutex_);
        bool others_keep_up = false;
        for (auto* follower : followers_) {
            follower->assert_held();
            others_keep_up |= !follower->dropped_ && follower->offset_ >= size;
        }
        bool dropped = false;
        for (auto* follower : followers_) {
            follower->assert_held();
            if (follower->holds_) follower->held_ += waited;
            follower->holds_ = others_keep_up && !follower->dropped_ && follower->offset_ < size;
            if (!follower->holds_ || follower->held_ <= allowance) continue;
            follower->dropped_ = dropped = true;
        }
        if (!dropped) return;
        ++view_.version;
        handles = take_waiting();
    }
    net::wake_all(std::move(handles), net::Wake::ready);
}

void Fill::wake_on_reading(net::WakeHandle handle) {
    MutexLock const lock(mutex_);
    producer_ = std::move(handle);
}

void Fill::set_variant(http::VaryNames vary, std::string variant) {
    MutexLock const lock(mutex_);
    vary_ = std::move(vary);
    variant_ = std::move(variant);
}

void Fill::change(FillView::Phase phase, store::ObjectPtr object, FetchFailure failure, char const* reason) {
    net::WakeHandles handles;
    {
        MutexLock const lock(mutex_);
        view_.phase = phase;
        if (object) view_.object = std::move(object);
        view_.failure = std::move(failure);
        view_.reason = reason;
        ++view_.version;
        handles = take_waiting();
    }
    net::wake_all(std::move(handles), net::Wake::ready);
}

bool Fill::promote_next() {
    net::WakeHandle handle;
    {
        MutexLock const lock(mutex_);
        if (view_.phase != FillView::Phase::head || followers_.empty()) return false;
        auto& next = followers_.front();
        next.assert_held();
        next.promoted_ = true;
        ++view_.version;
        handle = std::exchange(next.waiting_, {});
    }
    handle.wake(net::Wake::ready);
    return true;
}

share::Payer Fill::payer(share::Line const& line, share::Direction direction) const {
    share::Payer payer;
    share::Turn first;
    auto const now = wall_now();
    MutexLock const lock(mutex_);
    line.compare_tags([&](auto const& tag_of) {
        auto const consider = [&](share::Payer const& one) {
            if (!one || one == payer) return;
            share::Turn const turn{one.state(now), tag_of(one.subject->flow(direction))};
            if (!payer || turn < first) payer = one, first = turn;
        };
        mutex_.assert_held();
        for (auto* follower : followers_) {
            follower->assert_held();
            if (!follower->dropped_) consider(follower->payer_);
        }
    });
    return payer;
}

/// A follower never waits for the cap of another one.
std::optional<std::shared_ptr<share::Cap>> Fill::fastest_cap(share::Direction direction) const {
    std::optional<std::shared_ptr<share::Cap>> fastest;
    MutexLock const lock(mutex_);
    for (auto* follower : followers_) {
        follower->assert_held();
        if (follower->dropped_) continue;
        auto const rate = share::permitted_rate(follower->cap_.get(), direction);
        if (!fastest || rate > share::permitted_rate(fastest->get(), direction)) fastest = follower->cap_;
    }
    return fastest;
}

void Fill::note_charged(share::Cap const& cap, Bytes bytes) {
    MutexLock const lock(mutex_);
    for (auto* follower : followers_) {
        follower->assert_held();
        if (follower->cap_.get() == &cap) follower->charged_ += bytes;
    }
}

void Fill::begin_wait(net::WakeHandle handle) {
    MutexLock const lock(mutex_);
    in_line_.payer = std::move(handle);
    ++in_line_.waits;
}

void Fill::end_wait() {
    MutexLock const lock(mutex_);
    --in_line_.waits;
    in_line_.ended = steady_now();
}

SteadyTime Fill::last_in_line(SteadyTime now) const {
    MutexLock const lock(mutex_);
    return in_line_.waits > 0 ? now : in_line_.ended;
}

std::optional<FetchFailure> Fill::failure_of(Witness const& witness) const {
    MutexLock const lock(mutex_);
    return failed_for_ == witness ? std::optional(failure_) : std::nullopt;
}

bool Fill::is_second_to_fail(FetchFailure const& failure, Witness const& witness) {
    MutexLock const lock(mutex_);
    if (failed_for_ && failed_for_->client != witness.client) return true;
    failed_for_ = witness;
    failure_ = failure;
    return false;
}

void FillLease::head_is_storable(store::ObjectPtr growing, http::VaryNames vary, std::string variant) {
    check(growing->status() != 206 || !fill_->leads_others());
    fill_->set_variant(std::move(vary), std::move(variant));
    fill_->change(FillView::Phase::body, std::move(growing), {}, "");
    fill_->home_.supersession().detach_contradicted(*fill_);
}

void FillLease::give(store::Object::Parts& response, http::VaryNames const& vary) {
    auto& home = fill_->home_;
    response.sequence = home.memory().numbers.next();
    home.supersession().give(*fill_, response, vary, nullptr);
}

net::awaitable<void> FillLease::give_after_disk(store::Object::Parts& response, http::VaryNames const& vary,
                                                net::Executor executor) {
    auto& home = fill_->home_;
    response.sequence = home.memory().numbers.next();
    store::ObjectPtr known;
    if (response.status == 206) known = co_await home.disk().load_parts(response.key, executor);
    bool const may_be_there = home.supersession().give(*fill_, response, vary, known);
    if (may_be_there) co_await home.disk().settled(store::Survives::process, executor);
}

void FillLease::give_unstored(store::Object::Parts const& response, http::VaryNames const& vary) {
    fill_->home_.supersession().give_unstored(*fill_, *outline(response), vary);
}

bool FillLease::complete(store::ObjectPtr object, http::VaryNames vary, std::string variant, store::DiskFill* on_disk) {
    if (!fill_) return false;
    auto fill = std::move(fill_);
    bool const kept =
        fill->home_.publish(*fill, {object, vary, variant, ResultFrom::origin, object ? object->sequence() : 0, on_disk});
    fill->set_variant(std::move(vary), std::move(variant));
    fill->change(FillView::Phase::complete, std::move(object), {}, "");
    return kept;
}

bool FillLease::loaded(store::ObjectPtr const& object, http::VaryNames const& vary, std::string const& variant,
                       std::uint64_t marker) {
    auto fill = std::move(fill_);
    fill->home_.publish(*fill, {object, vary, variant, ResultFrom::disk, marker, nullptr});
    fill->change(FillView::Phase::look_again, nullptr, {}, "");
    return !fill->home_.supersession().is_overtaken(*fill);
}

void FillLease::look_again() {
    auto fill = std::move(fill_);
    fill->home_.end(*fill);
    fill->change(FillView::Phase::look_again, nullptr, {}, "");
}

void FillLease::refuse(char const* reason) {
    if (!fill_) return;
    auto fill = std::move(fill_);
    fill->home_.end(*fill, reason);
    fill->change(FillView::Phase::refused, nullptr, {}, reason);
}

void FillLease::stop_storing(char const* reason) {
    fill_->home_.stop_storing(*fill_, reason);
    MutexLock const lock(fill_->mutex_);
    fill_->closed_ = true;
}

void FillLease::fail(FetchFailure failure) {
    if (!fill_) return;
    auto fill = std::move(fill_);
    fill->home_.supersession().outdate_older(*fill);   // while the fill still keeps it from the disk
    fill->home_.end(*fill);
    fill->change(FillView::Phase::failed, nullptr, std::move(failure), "");
}

void FillLease::fail_alone(FetchFailure failure, Witness const& witness) {
    if (!fill_) return;
    if (fill_->is_second_to_fail(failure, witness))
        fail(std::move(failure));
    else
        drop();
}

void FillLease::give_up() {
    auto fill = std::move(fill_);
    fill->home_.supersession().outdate_older(*fill);   // like fail()
    if (fill->home_.promote_or_end(*fill)) return;
    if (fill->view().phase == FillView::Phase::head)
        fill->change(FillView::Phase::refused, nullptr, {}, "the leading request was aborted");
    else
        fill->change(FillView::Phase::failed, nullptr, {502, "the fetch was cancelled"}, "");
}

Follower::Follower(FillPtr fill) : fill_(std::move(fill)) {
    MutexLock const lock(fill_->mutex_);
    dropped_ = fill_->closed_;
    fill_->followers_.push_back(*this);
    ++fill_->follower_count_;
}

Follower::~Follower() {
    bool owes_a_lead;
    net::WakeHandle producer;
    {
        MutexLock const lock(fill_->mutex_);
        unlink();
        --fill_->follower_count_;
        owes_a_lead = std::exchange(promoted_, false);
        producer = std::exchange(fill_->producer_, {});
    }
    producer.wake(net::Wake::ready);
    if (owes_a_lead) FillLease(fill_).drop();
}

void Follower::pay_as(share::Payer payer, std::shared_ptr<share::Cap> cap) {
    net::WakeHandle paying;
    {
        MutexLock const lock(fill_->mutex_);
        payer_ = std::move(payer);
        cap_ = std::move(cap);
        paying = std::exchange(fill_->in_line_.payer, {});
    }
    paying.wake(net::Wake::ready);
}

Bytes Follower::not_charged(Bytes bytes) {
    MutexLock const lock(fill_->mutex_);
    if (!cap_) return 0;
    auto const charged = std::min(charged_, bytes);
    charged_ -= charged;
    return bytes - charged;
}

void Follower::wake_on_change(std::uint64_t seen, net::WakeHandle handle) {
    {
        MutexLock const lock(fill_->mutex_);
        if (fill_->view_.version == seen) {
            waiting_ = std::move(handle);
            return;
        }
    }
    handle.wake(net::Wake::ready);
}

bool Follower::promoted() const {
    MutexLock const lock(fill_->mutex_);
    return promoted_;
}

FillLease Follower::take_lead() {
    MutexLock const lock(fill_->mutex_);
    check(promoted_);
    promoted_ = false;
    return FillLease(fill_);
}

void Follower::read_up_to(Bytes offset) {
    net::WakeHandle producer;
    {
        MutexLock const lock(fill_->mutex_);
        fill_->begun_ = true;
        // A producer that is told of no progress would wake the followers again, for ever.
        if (offset > offset_) producer = std::exchange(fill_->producer_, {});
        offset_ = offset;
    }
    producer.wake(net::Wake::ready);
}

bool Follower::dropped() const {
    MutexLock const lock(fill_->mutex_);
    return dropped_;
}

}   // namespace garner::cache
