#include "proxy/refusals.hpp"

#include <algorithm>
#include <utility>

namespace garner::proxy {

namespace {

std::string key_of(IpAddress const& client) { return first_bits(client, 32, 64).text(); }

Bytes bytes_of(Refused const& refused) {
    Bytes sum = sizeof refused;
    for (auto const* text : {&refused.id, &refused.method, &refused.url, &refused.user, &refused.rule, &refused.because})
        sum += heap_block(text->capacity());
    for (auto const* groups : {&refused.groups, &refused.unknown_groups})
        for (auto const& group : *groups) sum += sizeof group + heap_block(group.capacity());
    return sum;
}

/// A row of a list for the operator.
Refused row_of(Refused const& refused) {
    constexpr std::size_t method_max = 32, text_max = 128;
    Refused row;
    row.id = refused.id;
    row.at = refused.at;
    row.method = refused.method.substr(0, method_max);
    row.url = refused.url.substr(0, Refusals::url_max);
    row.user = refused.user.substr(0, text_max);
    row.rule = refused.rule.substr(0, text_max);
    row.listener = refused.listener;
    row.client = refused.client;
    row.destination = refused.destination;
    row.counted = CountedBytes<Refused>(bytes_of(row));
    return row;
}

}   // namespace

void Refusals::note(Refused const& refused) {
    auto row = row_of(refused);
    MutexLock const lock(mutex_);
    latest_.push_front(std::move(row));
    if (latest_.size() > latest_max) latest_.pop_back();
}

std::vector<Refused> Refusals::latest() const {
    MutexLock const lock(mutex_);
    return std::vector<Refused>(latest_.begin(), latest_.end());
}

void Refusals::add(Refused refused) {
    note(refused);
    if (refused.url.size() > url_max) refused.url.assign(refused.url, 0, url_max);
    refused.counted = CountedBytes<Refused>(bytes_of(refused));
    MutexLock const lock(mutex_);
    auto& latest = clients_.get(key_of(refused.client), clients_max);
    latest.push_front(std::move(refused));
    if (latest.size() > of_client_max) latest.pop_back();
    while (CountedBytes<Refused>::sum() > bytes_max && clients_.size() > 1) clients_.erase_oldest();
}

std::vector<Refused> Refusals::of(IpAddress const& client, std::string_view user) const {
    std::vector<Refused> found;
    MutexLock const lock(mutex_);
    auto const* latest = clients_.find(key_of(client));
    if (!latest) return found;
    for (auto const& one : *latest)
        if (one.client == client && (one.user.empty() || one.user == user)) found.push_back(one);
    return found;
}

bool Refusals::has_users(IpAddress const& client) const {
    MutexLock const lock(mutex_);
    auto const* latest = clients_.find(key_of(client));
    return latest && std::ranges::any_of(*latest, [&](Refused const& one) { return one.client == client && !one.user.empty(); });
}

std::vector<Refused> Refusals::find(std::string_view id, std::size_t most) const {
    std::vector<Refused> found;
    MutexLock const lock(mutex_);
    clients_.for_each([&](std::string const&, std::deque<Refused> const& latest) {
        for (auto const& one : latest)
            if (one.id.starts_with(id) && found.size() < most) found.push_back(one);
    });
    for (auto const& one : latest_) {
        bool const is_new = one.id.starts_with(id) && !std::ranges::count(found, one.id, &Refused::id);
        if (is_new && found.size() < most) found.push_back(one);
    }
    return found;
}

}   // namespace garner::proxy
