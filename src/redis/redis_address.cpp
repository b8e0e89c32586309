#include "redis/redis_address.hpp"

#include <algorithm>
#include <fstream>

#include "util/option_words.hpp"
#include "util/units.hpp"

namespace garner::redis {
namespace {

constexpr std::size_t prefix_at_most = 64;

std::string read_prefix(std::string_view value, std::string& to) {
    bool const plain = std::ranges::all_of(value, [](char c) { return c > ' ' && c < 0x7f && c != '{' && c != '}'; });
    // Braces would put all keys into one slot, on one node.
    if (value.empty() || value.size() > prefix_at_most || !plain)
        return "prefix=" + std::string(value) + " is not 1 to 64 letters, digits and signs other than braces";
    to = value;
    return {};
}

std::string read_patience(std::string_view value, milliseconds& to) {
    auto const time = parse_time(value);
    if (!time || *time < milliseconds{100})
        return "patience=" + std::string(value) + " is not a time of at least 100ms; write it like 20s";
    to = *time;
    return {};
}

std::string read_password(std::string_view path, std::string& to) {
    std::ifstream file{std::string(path)};
    if (!std::getline(file, to) || to.empty())
        return "password-file=" + std::string(path) + " cannot be read, or contains no password";
    if (to.ends_with('\r')) to.pop_back();
    return {};
}

std::string read_option(std::string_view name, std::string_view value, RedisAddress& to) {
    if (name == "prefix") return read_prefix(value, to.prefix);
    if (name == "patience") return read_patience(value, to.patience);
    if (name == "password-file") return read_password(value, to.password);
    return "no option " + quoted_word(name) + "; valid options: prefix, patience, password-file";
}

}   // namespace

std::string RedisEndpoint::text() const {
    bool const brackets = host.find(':') != host.npos;
    return (brackets ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

bool read_redis_endpoint(std::string_view text, RedisEndpoint& to) {
    auto const colon = text.rfind(':');
    if (colon == text.npos || !read_whole_number(text.substr(colon + 1), to.port) || to.port == 0) return false;
    auto host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    to.host = host;
    return true;
}

std::string read_redis_address(std::string_view text, RedisAddress& to) {
    std::vector<std::string_view> named;
    for (auto const part : comma_parts(text)) {
        auto const equals = part.find('=');
        RedisEndpoint node;
        if (equals != part.npos) {
            auto const name = part.substr(0, equals);
            if (std::ranges::find(named, name) != named.end()) return std::string(name) + "= is given twice; remove one";
            named.push_back(name);
            if (auto fault = read_option(name, part.substr(equals + 1), to); !fault.empty()) return fault;
        } else if (read_redis_endpoint(part, node) && !node.host.empty()) {
            to.nodes.push_back(std::move(node));
        } else {
            return quoted_word(part) + " is not a node; write redis:HOST:PORT,HOST:PORT";
        }
    }
    return to.nodes.empty() ? "no node; write redis:HOST:PORT,HOST:PORT" : "";
}

}   // namespace garner::redis
