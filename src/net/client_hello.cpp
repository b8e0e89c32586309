#include "net/client_hello.hpp"

#include <algorithm>

#include "util/text.hpp"

namespace garner::net {
namespace {

using State = ClientHelloReading::State;

constexpr std::size_t record_head = 5;   // type, version, length (RFC 8446 5.1)
constexpr std::size_t record_content_max = 16 * 1024;
constexpr std::size_t message_head = 4;   // type, length (RFC 8446 4)
constexpr std::size_t server_name_max = 255;
constexpr char type_client_hello = 1;

ClientHelloReading malformed(char const* reason) { return {State::malformed, reason}; }

/// Takes parts from the front. After a part that is not there, failed() is true and all further parts are empty.
class Parts {
public:
    explicit Parts(std::string_view bytes) : rest_(bytes) {}

    bool failed() const { return failed_; }
    bool empty() const { return rest_.empty(); }
    std::string_view take(std::size_t count) {
        bool const is_there = count <= rest_.size();
        failed_ = failed_ || !is_there;
        auto const part = rest_.substr(0, is_there ? count : 0);
        rest_.remove_prefix(is_there ? count : rest_.size());
        return part;
    }
    /// A number of `bytes` bytes in network order.
    std::size_t number(std::size_t bytes) {
        std::size_t value = 0;
        for (char const c : take(bytes)) value = value << 8 | static_cast<unsigned char>(c);
        return value;
    }
    /// A part after its length, which has `bytes` bytes.
    std::string_view vector(std::size_t bytes) { return take(number(bytes)); }

private:
    std::string_view rest_;
    bool failed_ = false;
};

bool is_grease(std::size_t number) { return (number & 0x0f0f) == 0x0a0a && (number >> 8) == (number & 0xff); }

bool is_host_character(char c) { return is_alpha(c) || is_digit(c) || c == '-' || c == '.' || c == '_' || c == ':'; }

char const* read_server_name(std::string_view extension, ClientHello& hello) {
    constexpr std::size_t overhead = 5;   // lengths and type around the only name
    auto name = server_name_in(extension);
    if (name.empty()) return "an invalid list of server names";
    if (extension.size() != name.size() + overhead) return "more than one server name";
    if (name.ends_with('.')) name.remove_suffix(1);
    bool const is_valid = !name.empty() && name.size() <= server_name_max && std::ranges::all_of(name, is_host_character);
    if (!is_valid) return "an invalid server name";
    hello.server_name = lower_case(name);
    return nullptr;
}

char const* read_protocols(std::string_view extension, ClientHello& hello) {
    Parts parts(extension);
    Parts names(parts.vector(2));
    do {
        auto const name = names.vector(1);
        if (name.empty()) return "an invalid list of protocols";
        hello.protocols.emplace_back(name);
    } while (!names.empty());
    return parts.failed() || !parts.empty() ? "an invalid list of protocols" : nullptr;
}

char const* read_versions(std::string_view extension, ClientHello& hello) {
    Parts parts(extension);
    Parts versions(parts.vector(1));
    hello.versions.clear();
    do {
        auto const version = versions.number(2);
        if (!is_grease(version)) hello.versions.push_back(static_cast<std::uint16_t>(version));
    } while (!versions.empty());
    return parts.failed() || !parts.empty() || versions.failed() ? "an invalid list of versions" : nullptr;
}

char const* note_ech(std::string_view, ClientHello& hello) {
    hello.has_ech = true;
    return nullptr;
}

struct Extension {
    std::size_t type;
    /// Returns the error, or nullptr.
    char const* (*read)(std::string_view extension, ClientHello& hello);
};
constexpr Extension extensions_read[]{{0, read_server_name}, {16, read_protocols}, {43, read_versions}, {0xfe0d, note_ech}};

/// Returns the error, or nullptr.
char const* read_extensions(std::string_view bytes, ClientHello& hello) {
    std::vector<std::size_t> seen;
    for (Parts parts(bytes); !parts.empty();) {
        auto const type = parts.number(2);
        auto const extension = parts.vector(2);
        if (parts.failed()) return "an extension that is cut short";
        auto const* const known = std::ranges::find(extensions_read, type, &Extension::type);
        if (known == std::end(extensions_read)) continue;
        // RFC 8446 4.2: two of them could mean different names to this parser and to the origin.
        if (std::ranges::count(seen, type) > 0) return "a repeated extension";
        seen.push_back(type);
        if (auto const* const fault = known->read(extension, hello)) return fault;
    }
    return nullptr;
}

/// `body`: the message without its type and length.
ClientHelloReading read_body(std::string_view body) {
    ClientHelloReading reading{State::hello};
    Parts parts(body);
    reading.hello.versions.push_back(static_cast<std::uint16_t>(parts.number(2)));
    parts.take(32);   // random
    auto const session = parts.vector(1);
    auto const suites = parts.vector(2);
    auto const compressions = parts.vector(1);
    bool const has_extensions = !parts.empty();
    auto const extensions = has_extensions ? parts.vector(2) : std::string_view();
    bool const is_valid = session.size() <= 32 && !suites.empty() && suites.size() % 2 == 0 && !compressions.empty();
    if (parts.failed() || !parts.empty() || !is_valid) return malformed("lengths that do not fit the message");
    if (auto const* const fault = read_extensions(extensions, reading.hello)) return malformed(fault);
    return reading;
}

/// The length of the message with its head; message_head while the head is incomplete.
std::size_t length_of(std::string_view message) {
    Parts parts(message);
    parts.take(1);
    auto const length = parts.number(3);
    return message_head + (parts.failed() ? 0 : length);
}

ClientHelloReading more_than(std::size_t bytes) {
    return bytes < client_hello_max ? ClientHelloReading{} : malformed("more than 64 KiB");
}

}   // namespace

std::string_view server_name_in(std::string_view extension) {
    constexpr std::size_t host_name_type = 0;
    Parts parts(extension);
    Parts names(parts.vector(2));
    if (parts.failed() || !parts.empty()) return {};
    while (!names.empty()) {
        auto const type = names.number(1);
        auto const name = names.vector(2);
        if (type == host_name_type && !names.failed()) return name;
    }
    return {};
}

bool ClientHello::offers(std::string_view protocol) const { return std::ranges::count(protocols, protocol) > 0; }

ClientHelloReading read_client_hello(std::string_view bytes) {
    auto rest = bytes.substr(0, client_hello_max);
    std::string message;
    for (bool is_first = true;; is_first = false) {
        bool const is_record = (rest.empty() || rest[0] == tls_handshake) && (rest.size() < 2 || rest[1] == 3);
        if (!is_record) return is_first ? ClientHelloReading{State::not_tls} : malformed("another record inside the message");
        if (rest.size() < record_head) return more_than(bytes.size());
        auto const length = Parts(rest.substr(3)).number(2);
        if (length == 0 || length > record_content_max) return malformed("an invalid length of a record");
        auto const fragment = rest.substr(record_head, length);
        message.append(fragment);
        if (!message.empty() && message[0] != type_client_hello) return malformed("a message other than ClientHello");
        auto const wanted = length_of(message);
        if (wanted > client_hello_max - record_head) return malformed("more than 64 KiB");
        if (message.size() >= message_head && message.size() >= wanted)
            return read_body(std::string_view(message).substr(message_head, wanted - message_head));
        if (fragment.size() < length) return more_than(bytes.size());
        rest.remove_prefix(record_head + length);
    }
}

}   // namespace garner::net
