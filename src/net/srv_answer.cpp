#include "net/srv_answer.hpp"

#include <algorithm>

#include "util/big_endian.hpp"
#include "util/text.hpp"

namespace garner::net {

namespace {

constexpr std::uint16_t cname_type = 5, srv_type = 33, class_internet = 1;
constexpr std::size_t header_bytes = 12, srv_name_max = 255;

/// Reads a DNS message from front to back. After an error `good` is false, and all reads return nothing.
class Message {
public:
    explicit Message(std::string_view bytes) : bytes_(bytes), good_(bytes.size() >= header_bytes) {}

    bool good() const { return good_; }
    void go_to(std::size_t at) { at_ = at; }
    std::size_t at() const { return at_; }
    template <class Number>
    Number number() {
        if (!has(sizeof(Number))) return 0;
        at_ += sizeof(Number);
        return read_big_endian<Number>(bytes_.substr(at_ - sizeof(Number)));
    }
    void skip(std::size_t count) {
        if (has(count)) at_ += count;
    }
    std::string name();

private:
    bool has(std::size_t count) {
        good_ = good_ && at_ <= bytes_.size() && count <= bytes_.size() - at_;
        return good_;
    }
    std::uint8_t byte() { return number<std::uint8_t>(); }

    std::string_view bytes_;
    std::size_t at_ = 0;
    bool good_;
};

/// In lower case, with dots between the labels. Each pointer leads back, so that there is no loop (RFC 1035 4.1.4).
std::string Message::name() {
    std::string name;
    std::optional<std::size_t> behind;   // the first pointer
    for (std::size_t bound = at_;;) {
        auto const length = byte();
        if (!good_ || length == 0) break;
        if (length >= 0xc0) {
            auto const to = static_cast<std::size_t>(length & 0x3f) << 8 | byte();
            if (!behind) behind = at_;
            good_ = good_ && to < bound;
            at_ = bound = to;
            continue;
        }
        if (length > 63 || name.size() + length + 1 > srv_name_max || !has(length)) {
            good_ = false;
            break;
        }
        if (!name.empty()) name += '.';
        name += lower_case(bytes_.substr(at_, length));
        at_ += length;
    }
    if (behind) at_ = *behind;
    return name;
}

bool is_host(std::string_view name) {
    return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-_.") == npos;
}

struct Record {
    std::string owner;
    std::uint16_t type = 0, of_class = 0;
    std::uint32_t ttl = 0;
    std::size_t end = 0;
};

Record read_record(Message& message) {
    Record record;
    record.owner = message.name();
    record.type = message.number<std::uint16_t>();
    record.of_class = message.number<std::uint16_t>();
    record.ttl = message.number<std::uint32_t>();
    auto const size = message.number<std::uint16_t>();
    auto const begin = message.at();
    message.skip(size);
    record.end = message.at();
    message.go_to(begin);
    return record;
}

/// False if the record is malformed. A target that is no host, or has no port, is left out; "." offers no service (RFC 2782).
bool read_target(Message& message, Record const& record, std::vector<SrvTarget>& targets, bool& has_useless) {
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
    Message message(bytes);
    message.go_to(4);
    auto const questions = message.number<std::uint16_t>();
    auto const records = message.number<std::uint16_t>();
    message.go_to(header_bytes);
    std::string service;   // or the name to which it is an alias
    for (unsigned i = 0; i < questions && message.good(); ++i) {
        service = message.name();
        message.skip(4);
    }
    SrvAnswer answer;
    constexpr std::uint32_t ttl_max = INT32_MAX;   // RFC 2181 8
    auto ttl = ttl_max;
    bool found = false, has_useless = false;
    for (unsigned i = 0; i < records && message.good(); ++i) {
        auto const record = read_record(message);
        bool const is_about_it = record.of_class == class_internet && record.owner == service;
        bool const is_srv = is_about_it && record.type == srv_type;
        if (is_srv && !read_target(message, record, answer.targets, has_useless)) return std::nullopt;
        if (is_about_it && record.type == cname_type) service = message.name();
        found = found || is_srv;
        ttl = std::min(ttl, record.ttl > ttl_max ? 0 : record.ttl);
        message.go_to(record.end);
    }
    if (!message.good() || !found || (answer.targets.empty() && has_useless)) return std::nullopt;
    answer.ttl = seconds{ttl};
    finish(answer);
    return answer;
}

}   // namespace garner::net
