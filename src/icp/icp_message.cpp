#include "icp/icp_message.hpp"

#include <array>

#include "util/check.hpp"

namespace garner::icp {

namespace {

constexpr char version = 2;
constexpr Bytes requester_bytes = 4;   // of a query: its client's address, which nobody fills in

std::uint32_t read_16(std::string_view at) {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(at[0])) << 8 | static_cast<std::uint8_t>(at[1]);
}
std::uint32_t read_32(std::string_view at) { return read_16(at) << 16 | read_16(at.substr(2)); }

void append_16(std::uint32_t value, std::string& out) {
    out += static_cast<char>(value >> 8);
    out += static_cast<char>(value);
}
void append_32(std::uint32_t value, std::string& out) {
    append_16(value >> 16, out);
    append_16(value & 0xffff, out);
}

bool is_known(std::uint8_t opcode) {
    switch (static_cast<Opcode>(opcode)) {
    case Opcode::query:
    case Opcode::hit:
    case Opcode::miss:
    case Opcode::err:
    case Opcode::secho:
    case Opcode::decho:
    case Opcode::miss_nofetch:
    case Opcode::denied:
    case Opcode::hit_obj: return true;
    }
    return false;
}

MessageFault read_head(std::string_view datagram, IcpMessage& message) {
    if (datagram.size() < message_head) return MessageFault::too_short;
    if (datagram[1] != version) return MessageFault::other_version;
    if (read_16(datagram.substr(2)) != datagram.size() || datagram.size() > message_max) return MessageFault::length;
    auto const opcode = static_cast<std::uint8_t>(datagram[0]);
    if (!is_known(opcode)) return MessageFault::opcode;
    message.opcode = static_cast<Opcode>(opcode);
    message.number = read_32(datagram.substr(4));
    message.options = read_32(datagram.substr(8));
    message.option_data = read_32(datagram.substr(12));
    return message.number == 0 ? MessageFault::number : MessageFault::none;
}

MessageFault read(std::string_view datagram, IcpMessage& message) {
    auto const fault = read_head(datagram, message);
    if (fault != MessageFault::none) return fault;
    auto payload = datagram.substr(message_head);
    if (message.opcode == Opcode::query) {
        if (payload.size() < requester_bytes) return MessageFault::too_short;
        payload.remove_prefix(requester_bytes);
    }
    auto const end = payload.find('\0');
    if (end == payload.npos || end > url_max) return MessageFault::url;
    message.url = payload.substr(0, end);
    return MessageFault::none;
}

void write(IcpMessage const& message, Bytes before_url, std::string& out) {
    auto const length = message_head + before_url + message.url.size() + 1;
    check(message.number != 0 && length <= message_max);
    out.clear();
    out.reserve(length);
    out += static_cast<char>(message.opcode);
    out += version;
    append_16(static_cast<std::uint32_t>(length), out);
    append_32(message.number, out);
    append_32(message.options, out);
    append_32(message.option_data, out);
    append_32(0, out);   // sender's address: nobody's business
    out.append(before_url, '\0');
    out += message.url;
    out += '\0';
}

constexpr std::array<std::string_view, 7> fault_texts{
    "none",    "shorter than its head", "another length than it says", "not of version 2", "unknown opcode",
    "number 0", "URL without its end, or too long"};

}  // namespace

std::string_view text(MessageFault fault) { return fault_texts[static_cast<std::size_t>(fault)]; }

std::optional<IcpMessage> parse_message(std::string_view datagram, MessageFault& fault) {
    IcpMessage message;
    fault = read(datagram, message);
    if (fault != MessageFault::none) return std::nullopt;
    return message;
}

void write_query(std::uint32_t number, std::string_view url, bool source_rtt, std::string& out) {
    write({Opcode::query, number, source_rtt ? flag_source_rtt : 0, 0, url}, requester_bytes, out);
}

void write_message(IcpMessage const& message, std::string& out) {
    check(message.opcode != Opcode::query);
    write(message, 0, out);
}

}  // namespace garner::icp
