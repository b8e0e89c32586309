#include "share/subject.hpp"

#include <algorithm>

namespace garner::share {

namespace {

constexpr char user_mark = 'u';
constexpr char network_mark = 'n';
constexpr char replication_mark = 'r';
constexpr std::string_view of_user = "user:", of_source = "source:";

bool is_doubtful(std::string_view user) {
    return user == all_subjects || user == replication_subject || user.starts_with(of_user) || user.starts_with(of_source) ||
           parse_ip(user);
}

}   // namespace

std::string subject_key(std::string_view user) { return std::string(1, user_mark).append(user); }

/// Without the zeros at its end, so that an IPv6 network of 64 bits needs no block of its own.
std::string subject_key(IpAddress const& network) {
    std::string_view bytes(reinterpret_cast<char const*>(network.bytes.data()), network.bytes.size());
    if (network.is_v4()) bytes.remove_prefix(12);
    std::string key(1, network.is_v4() ? '4' : network_mark);
    key.append(bytes);
    auto const last = key.find_last_not_of('\0');
    key.resize(last + 1);
    return key;
}

std::string replication_key() { return std::string(1, replication_mark); }

std::string subject_name(std::string_view key) {
    auto const mark = key.front();
    key.remove_prefix(1);
    if (mark == replication_mark) return std::string(replication_subject);
    if (mark == user_mark) return std::string(is_doubtful(key) ? of_user : "").append(key);
    IpAddress address = mark == '4' ? IpAddress::v4(0, 0, 0, 0) : IpAddress();
    std::copy(key.begin(), key.end(), reinterpret_cast<char*>(address.bytes.data()) + (mark == '4' ? 12 : 0));
    return address.text();
}

std::vector<std::string> subject_keys_of(std::string_view name) {
    if (name.starts_with(of_user)) return {subject_key(name.substr(of_user.size()))};
    bool const is_source = name.starts_with(of_source);
    if (is_source) name.remove_prefix(of_source.size());
    std::vector<std::string> keys;
    if (!is_source) keys.push_back(subject_key(name));
    if (auto const address = parse_ip(name)) keys.push_back(subject_key(*address));
    return keys;
}

Bytes memory_outside(std::string const& key) {
    constexpr Bytes of_allocator = 16;
    return key.size() <= std::string().capacity() ? 0 : key.size() + 1 + of_allocator;
}

SubjectRef Subjects::find(std::string_view key) {
    auto& shard = shards_[hash_(key) % shard_count];
    MutexLock const lock(shard.mutex);
    auto found = shard.all.find(key);
    if (found == shard.all.end()) {
        make_room(shard);
        found = shard.all.try_emplace(std::string(key)).first;
        found->second.key_ = &found->first;
        shard.long_keys += memory_outside(found->first);
    }
    auto& subject = found->second;
    subject.unlink();
    shard.by_use.push_back(subject);
    return SubjectRef(subject);
}

/// Subjects in use are looked at again later. Each is used by a connection, so there are few of them beyond the limit.
void Subjects::make_room(Shard& shard) {
    constexpr std::size_t most_of_shard = most / shard_count;
    constexpr Bytes memory_of_shard = memory_max / shard_count;
    constexpr int looks = 8;
    auto const is_full = [&shard] {
        shard.mutex.assert_held();
        return shard.all.size() >= most_of_shard || shard.memory() >= memory_of_shard;
    };
    for (int i = 0; i < looks && !shard.all.empty() && is_full(); ++i) {
        auto& oldest = *shard.by_use.pop_front();
        if (oldest.users_ > 0) {
            shard.by_use.push_back(oldest);
            continue;
        }
        auto const found = shard.all.find(*oldest.key_);
        shard.long_keys -= memory_outside(found->first);
        shard.all.erase(found);
    }
}

std::size_t Subjects::size() const {
    std::size_t sum = 0;
    for (auto const& shard : shards_) {
        MutexLock const lock(shard.mutex);
        sum += shard.all.size();
    }
    return sum;
}

Bytes Subjects::memory() const {
    Bytes sum = 0;
    for (auto const& shard : shards_) {
        MutexLock const lock(shard.mutex);
        sum += shard.memory();
    }
    return sum;
}

}   // namespace garner::share
