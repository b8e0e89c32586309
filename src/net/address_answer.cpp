#include "net/address_answer.hpp"

#include <algorithm>

#include "net/dns_message.hpp"

namespace garner::net {
namespace {

constexpr unsigned aliases_max = 16;

struct AnswerRecord {
    std::string owner;
    std::uint32_t ttl = 0;
    std::string alias;   // of a CNAME record
    std::optional<IpAddress> address{};
};

std::optional<IpAddress> address_of(std::string_view data) {
    IpAddress address;
    if (data.size() == 4) return IpAddress::v4(read_big_endian<std::uint32_t>(data));
    if (data.size() != address.bytes.size()) return std::nullopt;
    std::ranges::copy(data, address.bytes.begin());
    return address;
}

/// Records of other types and classes are left out. False if a record is malformed.
bool read_answers(DnsMessage& message, std::vector<AnswerRecord>& records) {
    for (unsigned i = 0; i < message.counts().answers && message.good(); ++i) {
        auto record = message.record();
        AnswerRecord one{std::move(record.owner), dns_ttl(record.ttl), {}};
        bool const is_alias = record.type == dns_cname;
        if (record.of_class == dns_internet && (is_alias || record.type == dns_a || record.type == dns_aaaa)) {
            if (is_alias)
                one.alias = message.name();
            else
                one.address = address_of(message.take(record.end - message.at()));
            if (!is_alias && !one.address) return false;
            records.push_back(std::move(one));
        }
        message.go_to(record.end);
    }
    return message.good();
}

/// RFC 2308 5: the lower one of the TTL and the MINIMUM field of the SOA record.
std::optional<seconds> read_negative_ttl(DnsMessage& message) {
    for (unsigned i = 0; i < message.counts().authorities && message.good(); ++i) {
        auto const record = message.record();
        if (record.type == dns_soa && record.of_class == dns_internet) {
            message.name();
            message.name();
            message.skip(16);   // serial, refresh, retry, expire
            auto const minimum = message.number<std::uint32_t>();
            if (!message.good() || message.at() != record.end) return std::nullopt;
            return seconds{std::min(dns_ttl(record.ttl), dns_ttl(minimum))};
        }
        message.go_to(record.end);
    }
    return std::nullopt;
}

}   // namespace

std::optional<AddressAnswer> parse_address_answer(std::string_view bytes) {
    DnsMessage message(bytes);
    auto name = message.question();
    std::vector<AnswerRecord> records;
    if (!read_answers(message, records)) return std::nullopt;
    AddressAnswer answer;
    std::uint32_t ttl = INT32_MAX;
    // Aliases may come in any order.
    for (unsigned i = 0; i < aliases_max; ++i) {
        auto const is_alias_of_it = [&](AnswerRecord const& one) { return !one.address && one.owner == name; };
        auto const alias = std::ranges::find_if(records, is_alias_of_it);
        if (alias == records.end()) break;
        ttl = std::min(ttl, alias->ttl);
        name = alias->alias;
    }
    for (auto const& record : records) {
        if (!record.address || record.owner != name) continue;
        ttl = std::min(ttl, record.ttl);
        answer.addresses.push_back(*record.address);
    }
    if (answer.addresses.empty())
        answer.negative_ttl = read_negative_ttl(message);
    else
        answer.ttl = seconds{ttl};
    return answer;
}

}   // namespace garner::net
