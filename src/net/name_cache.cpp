#include "net/name_cache.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "util/check.hpp"
#include "util/text.hpp"

namespace garner::net {

namespace {

constexpr milliseconds positive_min{1'000};

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

}   // namespace

NamesPtr NameCache::Shard::from_hosts(std::string_view host) const {
    auto const found = hosts.find(host);
    return found == hosts.end() ? nullptr : found->second;
}

NamesPtr NameCache::counted(std::string_view host, Names names) {
    auto const addresses = names.addresses.capacity() * sizeof(Address);
    names.counted = CountedBytes<Names>(entry_bytes + host.size() + names.failure.size() + addresses);
    return std::make_shared<Names const>(std::move(names));
}

NameCache::NameCache(ResolverOptions const& options)
    : options_(options), shards_used_(options.entries_max < 1'024 ? 1 : shards_max) {
    reload();
}

NamesPtr NameCache::find(std::string_view host, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    if (auto names = shard.from_hosts(host)) return names;
    auto const* answer = shard.answers.use(host);
    return answer && now < answer->expires ? answer->names : nullptr;
}

NamesPtr NameCache::store(std::string_view host, std::vector<Address> addresses, seconds ttl, SteadyTime now) {
    check(!addresses.empty());
    if (addresses.size() > addresses_max) addresses = std::vector<Address>(addresses.begin(), addresses.begin() + addresses_max);
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    if (auto names = shard.from_hosts(host)) return names;
    auto const lifetime = std::min(std::max<milliseconds>(ttl, positive_min), options_.positive_max);
    auto& answer = shard.answers.get(host, answers_max());
    answer = {counted(host, {std::move(addresses)}), now + lifetime, 0};
    return answer.names;
}

NamesPtr NameCache::store_failure(std::string_view host, std::string failure, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    if (auto names = shard.from_hosts(host)) return names;
    auto& answer = shard.answers.get(host, answers_max());
    auto const doublings = std::min(answer.failures++, 20u);
    answer.names = counted(host, {{}, std::move(failure)});
    answer.expires = now + std::min(options_.negative_first * (1 << doublings), options_.negative_ttl);
    return answer.names;
}

std::optional<NameCache::Failure> NameCache::failure_of(std::string_view host, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    auto const* answer = shard.answers.find(host);
    if (!answer || now >= answer->expires || answer->names->failure.empty()) return std::nullopt;
    return Failure{answer->names, std::chrono::ceil<milliseconds>(answer->expires - now)};
}

void NameCache::forget(std::string_view host) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    shard.answers.erase(host);
}

void NameCache::reload() {
    std::array<Hosts, shards_max> split;
    for (auto& [host, addresses] : parse_hosts(file_text(options_.hosts_file)))
        split[shard_number(host)].emplace(host, std::make_shared<Names const>(Names{addresses, {}, {}}));
    for (std::size_t i = 0; i < shards_used_; ++i) {
        MutexLock const lock(shards_[i].mutex);
        for (auto const& [host, names] : split[i]) shards_[i].answers.erase(host);
        shards_[i].hosts.swap(split[i]);
    }
}

std::size_t NameCache::size() {
    std::size_t total = 0;
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        total += shard.hosts.size() + shard.answers.size();
    }
    return total;
}

void write_cached_form(std::string_view host, std::string& out) {
    out.clear();
    append_lower_case(host, out);
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

}   // namespace garner::net
