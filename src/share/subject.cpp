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

SubjectRef Subjects::find(std::string_view key) {
    auto& shard = shards_[hash_(key) % shard_count];
    MutexLock const lock(shard.mutex);
    return SubjectRef(shard.table.get(key));
}

std::size_t Subjects::size() const {
    std::size_t sum = 0;
    for (auto const& shard : shards_) {
        MutexLock const lock(shard.mutex);
        sum += shard.table.size();
    }
    return sum;
}

Bytes Subjects::memory() const {
    Bytes sum = 0;
    for (auto const& shard : shards_) {
        MutexLock const lock(shard.mutex);
        sum += shard.table.memory();
    }
    return sum;
}

}   // namespace garner::share
