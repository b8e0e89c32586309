#include "net/dns_message.hpp"

#include <optional>

#include "util/text.hpp"

namespace garner::net {

DnsMessage::DnsMessage(std::string_view bytes) : bytes_(bytes), good_(bytes.size() >= header_bytes) {
    go_to(4);
    counts_.questions = number<std::uint16_t>();
    counts_.answers = number<std::uint16_t>();
    counts_.authorities = number<std::uint16_t>();
    go_to(header_bytes);
}

std::string_view DnsMessage::take(std::size_t count) {
    if (!has(count)) return {};
    at_ += count;
    return bytes_.substr(at_ - count, count);
}

/// Each pointer leads back, so that there is no loop (RFC 1035 4.1.4).
std::string DnsMessage::name() {
    std::string name;
    std::optional<std::size_t> behind;   // the first pointer
    for (std::size_t bound = at_;;) {
        auto const length = number<std::uint8_t>();
        if (!good_ || length == 0) break;
        if (length >= 0xc0) {
            auto const to = static_cast<std::size_t>(length & 0x3f) << 8 | number<std::uint8_t>();
            if (!behind) behind = at_;
            good_ = good_ && to < bound;
            at_ = bound = to;
            continue;
        }
        if (length > 63 || name.size() + length + 1 > name_max || !has(length)) {
            good_ = false;
            break;
        }
        if (!name.empty()) name += '.';
        name += lower_case(take(length));
    }
    if (behind) at_ = *behind;
    return name;
}

std::string DnsMessage::question() {
    std::string asked;
    go_to(header_bytes);
    for (unsigned i = 0; i < counts_.questions && good_; ++i) {
        asked = name();
        skip(4);
    }
    return asked;
}

DnsMessage::Record DnsMessage::record() {
    Record record;
    record.owner = name();
    record.type = number<std::uint16_t>();
    record.of_class = number<std::uint16_t>();
    record.ttl = number<std::uint32_t>();
    auto const size = number<std::uint16_t>();
    auto const begin = at_;
    skip(size);
    record.end = at_;
    go_to(begin);
    return record;
}

}   // namespace garner::net
