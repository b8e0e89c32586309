#include "net/name_cache.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

#include "util/check.hpp"
#include "util/idna.hpp"
#include "util/text.hpp"

namespace garner::net {

namespace {

constexpr milliseconds positive_min{1'000};

/// A system without /etc/hosts has no names in it.
Result<std::string> read_hosts(std::string const& path) {
    if (path.empty()) return std::string();
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file && errno == ENOENT && path == ResolverOptions{}.hosts_file) return std::string();
    if (file) file.peek();   // a directory can be opened, but not read
    if (file.is_open() && !file.bad()) {
        std::ostringstream text;
        text << file.rdbuf();
        return text.str();
    }
    return Fault{.what = std::string("cannot be read: ") + std::strerror(errno),
                 .mend = "correct its path, or give the user that runs garner read access",
                 .where = "dns.hosts_file: " + path};
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
    : servers_(options.servers), search_(options.search), shards_used_(options.entries_max < 1'024 ? 1 : shards_max) {
    auto const hosts = read_hosts(options.hosts_file);
    auto first = change_to(options, hosts ? std::string_view(*hosts) : std::string_view());
    apply(first);
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
    auto const lifetime = std::min(std::max<milliseconds>(ttl, positive_min), shard.bounds.positive_ttl);
    auto& answer = shard.answers.get(host, shard.bounds.answers_max);
    answer = {counted(host, {std::move(addresses)}), now + lifetime, 0};
    return answer.names;
}

NamesPtr NameCache::store_failure(std::string_view host, std::string failure, SteadyTime now, std::optional<milliseconds> ttl) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    if (auto names = shard.from_hosts(host)) return names;
    auto const bounds = shard.bounds;
    auto& answer = shard.answers.get(host, bounds.answers_max);
    auto const doublings = std::min(answer.failures, 20u);
    // An answer of DNS ends a row of failures.
    answer.failures = ttl ? 0 : answer.failures + 1;
    answer.names = counted(host, {{}, std::move(failure)});
    auto const lifetime = ttl ? *ttl : bounds.negative_first * (1 << doublings);
    answer.expires = now + std::min(lifetime, bounds.negative_ttl);
    return answer.names;
}

std::optional<NameCache::Failure> NameCache::failure_of(std::string_view host, SteadyTime now) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    auto const* answer = shard.answers.find(host);
    if (!answer || now >= answer->expires || answer->names->failure.empty()) return std::nullopt;
    return Failure{answer->names, std::chrono::ceil<milliseconds>(answer->expires - now)};
}

std::vector<NameCache::HandedFailure> NameCache::failures(SteadyTime now) {
    std::vector<HandedFailure> all;
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        shard.answers.for_each([&](std::string const& host, CachedNames const& answer) {
            if (!answer.names || answer.names->failure.empty() || now >= answer.expires) return;
            all.push_back({host, answer.names->failure, answer.failures, std::chrono::ceil<milliseconds>(answer.expires - now)});
        });
    }
    return all;
}

void NameCache::adopt(HandedFailure const& failed, SteadyTime now) {
    auto& shard = shard_of(failed.host);
    MutexLock const lock(shard.mutex);
    if (shard.from_hosts(failed.host)) return;
    auto const bounds = shard.bounds;
    auto& answer = shard.answers.get(failed.host, bounds.answers_max);
    answer.names = counted(failed.host, {{}, failed.failure});
    answer.failures = failed.failures;
    answer.expires = now + std::min(failed.left, bounds.negative_ttl);
}

void NameCache::forget(std::string_view host) {
    auto& shard = shard_of(host);
    MutexLock const lock(shard.mutex);
    shard.answers.erase(host);
}

Result<Prepared> NameCache::prepare(ResolverOptions const& fresh) {
    auto const hosts = read_hosts(fresh.hosts_file);
    if (!hosts) return hosts.fault();
    auto const change = std::make_shared<Change>(change_to(fresh, *hosts));
    return Prepared([this, change] { apply(*change); });
}

NameCache::Change NameCache::change_to(ResolverOptions const& options, std::string_view hosts) const {
    Change change{.options = options, .hosts = {}};
    for (auto& [host, addresses] : parse_hosts(hosts))
        change.hosts[shard_number(host)].emplace(host, std::make_shared<Names const>(Names{addresses, {}, {}}));
    return change;
}

/// Failures of the former servers must not last, and other servers may know other addresses.
void NameCache::apply(Change& change) {
    auto const& options = change.options;
    bool const asks_others = options.servers != servers_ || options.search != search_;
    Bounds const bounds{options.positive_ttl, options.negative_first, options.negative_ttl,
                        std::max<std::size_t>(1, options.entries_max / shards_used_)};
    for (std::size_t i = 0; i < shards_used_; ++i) {
        auto& shard = shards_[i];
        MutexLock const lock(shard.mutex);
        if (asks_others) shard.answers.clear();
        for (auto const& [host, names] : change.hosts[i]) shard.answers.erase(host);
        shard.hosts.swap(change.hosts[i]);
        shard.bounds = bounds;
    }
    servers_ = options.servers;
    search_ = options.search;
}

void NameCache::forget_answers() {
    for (auto& shard : shards_) {
        MutexLock const lock(shard.mutex);
        shard.answers.clear();
    }
}

Bytes NameCache::bytes_max() {
    auto& shard = shards_.front();
    MutexLock const lock(shard.mutex);
    return shards_used_ * shard.bounds.answers_max * entry_bytes_max;
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
            std::string host;
            // Clients ask for the ASCII form of an international name.
            if (is_ascii(name) || !append_ascii_name(name, host)) host = lower_case(name);
            auto& addresses = hosts[host];
            if (std::find(addresses.begin(), addresses.end(), address) == addresses.end()) addresses.push_back(address);
        }
    }
    return hosts;
}

}   // namespace garner::net
