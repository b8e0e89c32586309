#include "config/value_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "util/bytes.hpp"
#include "util/file_stamp.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"
#include "util/text.hpp"

namespace garner::config {
namespace {

constexpr std::string_view prefix = "file:";
constexpr Bytes values_max = GiB;
constexpr auto access_mend = "check the path and the permissions";

// Names that most hosts files define for the machine itself. They are not entries of a block list.
constexpr std::array<std::string_view, 12> machine_names{
    "localhost",    "localhost.localdomain", "local",        "broadcasthost",  "ip6-localhost", "ip6-loopback",
    "ip6-localnet", "ip6-mcastprefix",       "ip6-allnodes", "ip6-allrouters", "ip6-allhosts",  "0.0.0.0"};

constexpr bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view without_comment(std::string_view line) {
    for (auto at = line.find('#'); at != line.npos; at = line.find('#', at + 1))
        if (at == 0 || is_blank(line[at - 1])) return line.substr(0, at);
    return line;
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    return text;
}

std::string_view next_word(std::string_view& rest) {
    rest = trimmed(rest);
    auto const word = rest.substr(0, std::min(rest.find_first_of(" \t"), rest.size()));
    rest.remove_prefix(word.size());
    return word;
}

/// "! Title: …" and "[Adblock Plus]" in lists of filters.
bool is_remark_of_adblock(std::string_view line) {
    return line.starts_with('!') || (line.starts_with("[Adblock") && line.ends_with(']'));
}

/// The lists that are in use, by path.
class KnownLists {
public:
    std::shared_ptr<http::HostList const> find(std::string const& path, FileStamp const& state) EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        auto const known = lists_.find(path);
        return known != lists_.end() && known->second.state == state ? known->second.list.lock() : nullptr;
    }
    void note(std::string const& path, FileStamp const& state, std::shared_ptr<http::HostList const> const& list) EXCLUDES(mutex_) {
        MutexLock const lock(mutex_);
        std::erase_if(lists_, [](auto const& one) { return one.second.list.expired(); });
        lists_[path] = {state, list};
    }

private:
    struct Known {
        FileStamp state;
        std::weak_ptr<http::HostList const> list;
    };
    Mutex mutex_;
    std::map<std::string, Known> lists_ GUARDED_BY(mutex_);
};

KnownLists& known_lists() {
    static KnownLists all;
    return all;
}

std::size_t count_hosts(std::string_view text) {
    std::size_t count = 0;
    each_value(text, [&](unsigned, std::string_view value) { each_host(value, [&](std::string_view) { ++count; }); });
    return count;
}

}   // namespace

std::optional<std::string> path_of_file(std::string_view value) {
    if (!value.starts_with(prefix)) return std::nullopt;
    return std::string(value.substr(prefix.size()));
}

Result<std::string> read_values(std::string const& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return garner::Fault{"is a directory", "name a file in it", path};
    // Reading a FIFO or a device may never end.
    if (std::filesystem::exists(path, error) && !std::filesystem::is_regular_file(path, error))
        return garner::Fault{"is not a regular file", "name a regular file", path};
    errno = 0;
    std::ifstream file(path, std::ios::binary | std::ios::ate);
    auto const size = file ? static_cast<std::streamoff>(file.tellg()) : -1;
    if (size < 0) return garner::Fault{std::string("cannot be read: ") + std::strerror(errno ? errno : EINVAL), access_mend, path};
    if (static_cast<Bytes>(size) > values_max) return garner::Fault{"is larger than 1 GiB", "divide it", path};
    std::string text(static_cast<std::size_t>(size), '\0');
    file.seekg(0);
    file.read(text.data(), size);
    if (file.bad() || (file.gcount() == 0 && size > 0))
        return garner::Fault{std::string("cannot be read: ") + std::strerror(errno ? errno : EISDIR), access_mend, path};
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

void each_value(std::string_view text, std::function<void(unsigned line, std::string_view value)> const& take) {
    for (unsigned line = 1; !text.empty(); ++line) {
        auto const end = std::min(text.find('\n'), text.size());
        auto const value = trimmed(without_comment(text.substr(0, end)));
        if (!value.empty()) take(line, value);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

void each_host(std::string_view value, std::function<void(std::string_view host)> const& take) {
    if (is_remark_of_adblock(value)) return;
    auto rest = value;
    auto const first = next_word(rest);
    auto const address = first.substr(0, first.find('%'));   // some files have "fe80::1%lo0"
    if (trimmed(rest).empty() || !parse_ip(address)) return take(value);
    for (auto host = next_word(rest); !host.empty(); host = next_word(rest))
        if (std::ranges::count(machine_names, host) == 0) take(host);
}

Result<std::shared_ptr<http::HostList const>> read_host_list(std::string const& path, TakeBadHost const& bad) {
    auto const state = stamp_of(path);
    if (state)
        if (auto known = known_lists().find(path, *state)) return known;
    auto const text = read_values(path);
    if (!text) return text.fault();
    auto list = std::make_shared<http::HostList>(count_hosts(*text));
    bool good = true;
    std::string scratch;
    each_value(*text, [&](unsigned line, std::string_view value) {
        each_host(value, [&](std::string_view host) {
            if (auto const plain = http::HostPattern::plain_form(host, scratch)) return list->add(*plain);
            good = false;
            bad(line, host);
        });
    });
    std::shared_ptr<http::HostList const> const done = std::move(list);
    if (good && state) known_lists().note(path, *state, done);
    return done;
}

}   // namespace garner::config
