#include "net/name_cache.hpp"

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>

#include "util/check.hpp"
#include "util/text.hpp"

namespace garner::net {

namespace {

constexpr milliseconds positive_min{1'000};

std::uint64_t random_seed() {
    std::random_device random;
    return (std::uint64_t{random()} << 32) | random();
}

std::string file_text(std::string const& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string_view next_word(std::string_view& line) {
    auto begin = std::min(line.find_first_not_of(" \t\r"), line.size());
    auto end = std::min(line.find_first_of(" \t\r", begin), line.size());
    auto word = line.substr(begin, end - begin);
    line.remove_prefix(end);
    return word;
}

}  // namespace

NameCache::NameCache(ResolverOptions const& options)
    : options_(options), hash_{random_seed()}, shards_used_(options.entries_max < 1'024 ? 1 : shards_max) {
    for (auto& shard : shards_) shard.entries = decltype(shard.entries)(0, hash_);
    reload();
}

std::size_t NameCache::shard_number(std::string_view host) const { return (hash_(host) >> 56) % shards_used_; }

NamesPtr NameCache::find(std::string_view host, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    auto found = shard.entries.find(host);
    if (found == shard.entries.end()) return nullptr;
    auto& entry = found->second;
    if (entry.from_hosts) return entry.names;
    if (now >= entry.expires) return nullptr;
    entry.unlink();
    shard.by_use.push_back(entry);
    return entry.names;
}

NamesPtr NameCache::store(std::string_view host, std::vector<Address> addresses, seconds ttl, SteadyTime now) {
    check(!addresses.empty());
    auto names = std::make_shared<Names const>(Names{std::move(addresses), {}});
    auto lifetime = std::min(std::max<milliseconds>(ttl, positive_min), options_.positive_max);
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    auto& entry = entry_for(shard, host);
    if (entry.from_hosts) return entry.names;
    entry.names = names;
    entry.failures = 0;
    entry.expires = now + lifetime;
    evict_beyond_bound(shard);
    return names;
}

NamesPtr NameCache::store_failure(std::string_view host, std::string failure, SteadyTime now) {
    auto names = std::make_shared<Names const>(Names{{}, std::move(failure)});
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    auto& entry = entry_for(shard, host);
    if (entry.from_hosts) return entry.names;
    auto doublings = std::min(entry.failures, 20u);
    entry.names = names;
    ++entry.failures;
    entry.expires = now + std::min(options_.negative_first * (1 << doublings), options_.negative_ttl);
    evict_beyond_bound(shard);
    return names;
}

std::optional<NameCache::Failure> NameCache::failure_of(std::string_view host, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    auto found = shard.entries.find(host);
    if (found == shard.entries.end()) return std::nullopt;
    auto const& entry = found->second;
    if (entry.from_hosts || now >= entry.expires || entry.names->failure.empty()) return std::nullopt;
    return Failure{entry.names, std::chrono::ceil<milliseconds>(entry.expires - now)};
}

void NameCache::forget(std::string_view host) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    auto found = shard.entries.find(host);
    if (found == shard.entries.end() || found->second.from_hosts) return;
    shard.entries.erase(found);
    --shard.answers;
}

NameCache::Entry& NameCache::entry_for(Shard& shard, std::string_view host) {
    auto found = shard.entries.find(host);
    if (found == shard.entries.end()) {
        found = shard.entries.try_emplace(std::string(host)).first;
        found->second.host = &found->first;
        ++shard.answers;
    }
    auto& entry = found->second;
    if (entry.from_hosts) return entry;
    entry.unlink();
    shard.by_use.push_back(entry);
    return entry;
}

void NameCache::evict_beyond_bound(Shard& shard) {
    auto bound = std::max<std::size_t>(1, options_.entries_max / shards_used_);
    while (shard.answers > bound) {
        shard.entries.erase(shard.entries.find(*shard.by_use.front().host));
        --shard.answers;
    }
}

void NameCache::reload() {
    std::array<std::vector<std::pair<std::string, NamesPtr>>, shards_max> split;
    for (auto& [host, addresses] : parse_hosts(file_text(options_.hosts_file)))
        split[shard_number(host)].emplace_back(host, std::make_shared<Names const>(Names{addresses, {}}));
    for (std::size_t i = 0; i < shards_used_; ++i) replace_hosts(shards_[i], std::move(split[i]));
}

void NameCache::replace_hosts(Shard& shard, std::vector<std::pair<std::string, NamesPtr>> hosts) {
    // Under one lock, so that no look-up falls between the old file and the new.
    MutexLock const lock(shard.mutex);
    std::erase_if(shard.entries, [](auto const& item) { return item.second.from_hosts; });
    for (auto& [host, names] : hosts) {
        auto [place, made] = shard.entries.try_emplace(std::move(host));
        auto& entry = place->second;
        if (!made) --shard.answers;
        entry.unlink();
        entry.host = &place->first;
        entry.from_hosts = true;
        entry.names = std::move(names);
    }
}

std::size_t NameCache::size() {
    std::size_t total = 0;
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        total += shard.entries.size();
    }
    return total;
}

void write_cached_form(std::string_view host, std::string& out) {
    out.assign(host);
    for (char& c : out) c = to_lower(c);
    if (out.ends_with('.')) out.pop_back();
}

std::unordered_map<std::string, std::vector<Address>> parse_hosts(std::string_view text) {
    std::unordered_map<std::string, std::vector<Address>> hosts;
    while (!text.empty()) {
        auto line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        line = line.substr(0, line.find('#'));
        Error fault;
        auto address = asio::ip::make_address(std::string(next_word(line)), fault);
        if (fault) continue;
        for (auto name = next_word(line); !name.empty(); name = next_word(line)) {
            auto& addresses = hosts[lower_case(name)];
            if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
        }
    }
    return hosts;
}

}  // namespace garner::net
