#include "net/srv_answer.hpp"

#include <algorithm>

#include "net/dns_message.hpp"
#include "util/text.hpp"

namespace garner::net {

namespace {

bool is_host(std::string_view name) {
    return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") == npos;
}

/// False if the record is malformed. A target that is no host, or has no port, is left out; "." offers no service (RFC 2782).
bool read_target(DnsMessage& message, DnsMessage::Record const& record, std::vector<SrvTarget>& targets, bool& has_useless) {
    SrvTarget target;
    target.priority = message.number<std::uint16_t>();
    target.weight = message.number<std::uint16_t>();
    target.port = message.number<std::uint16_t>();
    target.host = message.name();
    if (!message.good() || message.at() != record.end) return false;
    if (target.port != 0 && is_host(target.host))
        targets.push_back(std::move(target));
    else
        has_useless = has_useless || !target.host.empty();
    return true;
}

void finish(SrvAnswer& answer) {
    auto& all = answer.targets;
    std::ranges::sort(all);
    all.erase(std::unique(all.begin(), all.end()), all.end());
    if (all.size() > srv_targets_max) all.resize(srv_targets_max);
}

}   // namespace

std::optional<SrvAnswer> parse_srv_answer(std::string_view bytes) {
    DnsMessage message(bytes);
    auto service = message.question();   // or the name to which it is an alias
    SrvAnswer answer;
    std::uint32_t ttl = INT32_MAX;
    bool found = false, has_useless = false;
    for (unsigned i = 0; i < message.counts().answers && message.good(); ++i) {
        auto const record = message.record();
        bool const is_about_it = record.of_class == dns_internet && record.owner == service;
        bool const is_srv = is_about_it && record.type == dns_srv;
        if (is_srv && !read_target(message, record, answer.targets, has_useless)) return std::nullopt;
        if (is_about_it && record.type == dns_cname) service = message.name();
        found = found || is_srv;
        ttl = std::min(ttl, dns_ttl(record.ttl));
        message.go_to(record.end);
    }
    if (!message.good() || !found || (answer.targets.empty() && has_useless)) return std::nullopt;
    answer.ttl = seconds{ttl};
    finish(answer);
    return answer;
}

}   // namespace garner::net
