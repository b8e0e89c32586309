#include "share/fair_queue.hpp"

#include <algorithm>

#include "util/check.hpp"

namespace garner::share {

/// A flow that waits keeps its place: its tag is its key.
double FairQueue::start(Flow const& flow) const {
    return flow.backlog_ ? flow.tag_ : std::max(flow.tag_, now_ - credit_ / flow.weight_);
}

void FairQueue::move_on(Flow& flow, Bytes bytes) {
    now_ = std::max(now_, start(flow));
    flow.tag_ = tag_after(flow, bytes);
}

void FairQueue::add(Flow& flow, Ticket& ticket) {
    if (!flow.backlog_) {
        flow.tag_ = start(flow);
        flow.backlog_ = &waiting_.try_emplace(Key{flow.tag_, &flow}).first->second;
    }
    flow.backlog_->tickets.push_back(ticket);
    ++flow.backlog_->count;
    ++tickets_;
}

void FairQueue::remove(Flow& flow, Ticket& ticket) {
    ticket.unlink();
    --flow.backlog_->count;
    --tickets_;
    if (flow.backlog_->count == 0) end_backlog(flow);
}

void FairQueue::end_backlog(Flow& flow) {
    waiting_.erase(Key{flow.tag_, &flow});
    flow.backlog_ = nullptr;
}

Ticket& FairQueue::serve() {
    check(!empty());
    auto node = waiting_.extract(waiting_.begin());
    Flow& flow = *node.key().second;
    auto& backlog = node.mapped();
    Ticket& ticket = *backlog.tickets.pop_front();
    --backlog.count;
    --tickets_;
    move_on(flow, ticket.bytes);
    if (backlog.count == 0) {
        flow.backlog_ = nullptr;
        return ticket;
    }
    node.key().first = flow.tag_;
    waiting_.insert(std::move(node));
    return ticket;
}

}   // namespace garner::share
