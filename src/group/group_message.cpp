#include "group/group_message.hpp"

#include <algorithm>
#include <openssl/evp.h>
#include <utility>

#include "util/big_endian.hpp"
#include "util/check.hpp"

namespace garner::group {

namespace {

// ---- writing ----

class Writer {
public:
    template <std::unsigned_integral Number>
    void number(Number value) {
        append_big_endian(value, bytes);
    }
    void id(NoticeId const& id) {
        number(id.process);
        number(id.number);
    }
    void nonce(Nonce const& nonce) { bytes.append(nonce.data(), nonce.size()); }
    void text(std::string_view text) {
        auto const size = static_cast<std::uint16_t>(std::min<std::size_t>(text.size(), UINT16_MAX));
        number(size);
        bytes += text.substr(0, size);
    }
    std::string bytes;
};

void write(Hello const& hello, Writer& to) {
    to.number(hello.version);
    to.nonce(hello.nonce);
    if (hello.version != protocol_version) return;
    to.number(hello.identity.name);
    to.number(hello.identity.voters);
    to.number(static_cast<std::uint32_t>(hello.identity.lease.count()));
    for (auto const number : {hello.process, hello.instance, hello.sequence}) to.number(number);
    for (auto const* text : {&hello.member, &hello.address, &hello.domain}) to.text(*text);
    to.number(hello.uplink);
    to.number(hello.downlink);
}

void write(Welcome const& welcome, Writer& to) {
    to.nonce(welcome.nonce);
    to.number(welcome.instance);
    to.number(welcome.sequence);
}

void write(Poll const& poll, Writer& to) {
    to.number(poll.number);
    to.number(poll.applied);
}

void write(State const& state, Writer& to) {
    to.number(state.number);
    to.number(state.latest);
}

void write(News const& news, Writer& to) {
    to.number(news.first);
    for (auto const& notice : news.notices) append_to(to.bytes, notice);
}

void write(Append const& append, Writer& to) { append_to(to.bytes, append.notice); }
void write(Stored const& stored, Writer& to) { to.id(stored.id); }
void write(Confirmed const& confirmed, Writer& to) { to.id(confirmed.id); }

void write(Refused const& refused, Writer& to) {
    to.id(refused.id);
    to.text(refused.why);
}

void write(Standing const& standing, Writer& to) {
    for (auto const& offer : standing.offers) append_to(to.bytes, offer);
}

void write(Lines const& lines, Writer& to) {
    to.number(lines.uplink);
    to.number(lines.downlink);
}

// ---- reading ----

/// Reads from the beginning of a body. After an error all further values are empty.
class Reader {
public:
    explicit Reader(std::string_view body) : rest_(body) {}

    template <std::unsigned_integral Number>
    void number(Number& value) {
        auto const bytes = take(sizeof value);
        if (good_) value = read_big_endian<Number>(bytes);
    }
    void id(NoticeId& id) {
        number(id.process);
        number(id.number);
    }
    void nonce(Nonce& nonce) { take(nonce.size()).copy(nonce.data(), nonce.size()); }
    void text(std::string& text) {
        std::uint16_t size = 0;
        number(size);
        text = take(size);
    }
    void notice(Notice& notice) {
        auto found = take_notice(rest_);
        good_ = good_ && found;
        if (found) notice = *std::move(found);
    }
    void ignore_rest() { rest_ = {}; }
    bool has_more() const { return good_ && !rest_.empty(); }
    /// All was read without an error.
    bool is_done() const { return good_ && rest_.empty(); }

private:
    std::string_view take(std::size_t size) {
        good_ = good_ && rest_.size() >= size;
        if (!good_) return {};
        auto const taken = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return taken;
    }
    std::string_view rest_;
    bool good_ = true;
};

void read(Hello& hello, Reader& from) {
    std::uint32_t lease = 0;
    from.number(hello.version);
    from.nonce(hello.nonce);
    // The voter refuses it in words. The rest may have another form.
    if (hello.version != protocol_version) return from.ignore_rest();
    from.number(hello.identity.name);
    from.number(hello.identity.voters);
    from.number(lease);
    hello.identity.lease = milliseconds(lease);
    for (auto* number : {&hello.process, &hello.instance, &hello.sequence}) from.number(*number);
    for (auto* text : {&hello.member, &hello.address, &hello.domain}) from.text(*text);
    from.number(hello.uplink);
    from.number(hello.downlink);
}

void read(Welcome& welcome, Reader& from) {
    from.nonce(welcome.nonce);
    from.number(welcome.instance);
    from.number(welcome.sequence);
}

void read(Poll& poll, Reader& from) {
    from.number(poll.number);
    from.number(poll.applied);
}

void read(State& state, Reader& from) {
    from.number(state.number);
    from.number(state.latest);
}

void read(News& news, Reader& from) {
    from.number(news.first);
    while (from.has_more()) from.notice(news.notices.emplace_back());
}

void read(Append& append, Reader& from) { from.notice(append.notice); }
void read(Stored& stored, Reader& from) { from.id(stored.id); }
void read(Confirmed& confirmed, Reader& from) { from.id(confirmed.id); }

void read(Refused& refused, Reader& from) {
    from.id(refused.id);
    from.text(refused.why);
}

void read(Standing& standing, Reader& from) {
    while (from.has_more()) from.notice(standing.offers.emplace_back());
}

void read(Lines& lines, Reader& from) {
    from.number(lines.uplink);
    from.number(lines.downlink);
}

template <class Kind>
std::optional<Message> message_as(std::string_view body) {
    Kind message;
    Reader reader(body);
    read(message, reader);
    if (!reader.is_done()) return std::nullopt;
    return message;
}

template <std::size_t... index>
std::optional<Message> message_by_index(std::size_t wanted, std::string_view body, std::index_sequence<index...>) {
    std::optional<Message> found;
    ((index == wanted ? void(found = message_as<std::variant_alternative_t<index, Message>>(body)) : void()), ...);
    return found;
}

// ---- hashes ----

std::uint64_t hash_of(std::string_view text) {
    std::array<char, 32> digest{};
    unsigned size = 0;
    auto* const to = reinterpret_cast<unsigned char*>(digest.data());
    check(EVP_Digest(text.data(), text.size(), to, &size, EVP_sha256(), nullptr) == 1 && size == digest.size());
    return read_big_endian<std::uint64_t>({digest.data(), digest.size()});
}

}   // namespace

std::string body_of(Message const& message) {
    Writer to;
    std::visit([&](auto const& one) { write(one, to); }, message);
    return std::move(to.bytes);
}

std::optional<Message> message_in(std::uint8_t type, std::string_view body) {
    constexpr auto types = std::variant_size_v<Message>;
    if (type == 0 || type > types) return std::nullopt;
    return message_by_index(type - 1U, body, std::make_index_sequence<types>());
}

Identity identity_of(std::string_view name, std::vector<std::string> const& voters, milliseconds lease) {
    std::string list;
    for (auto const& voter : voters) list += voter + "\n";
    return {.name = hash_of(name), .voters = hash_of(list), .lease = lease};
}

}   // namespace garner::group
