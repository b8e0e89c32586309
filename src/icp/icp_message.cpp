#include "icp/icp_message.hpp"

#include "util/big_endian.hpp"
#include "util/check.hpp"
#include "util/one_of.hpp"

namespace garner::icp {

namespace {

constexpr char version = 2;
constexpr Bytes requester_bytes = 4;   // of a query: its client's address, which is always 0

bool is_known(Opcode opcode) {
    using enum Opcode;
    return is_one_of<query, hit, miss, err, secho, decho, miss_nofetch, denied, hit_obj>(opcode);
}

char const* parse_head(std::string_view datagram, IcpMessage& message) {
    if (datagram.size() < message_head) return "shorter than its header";
    if (datagram[1] != version) return "the version is not 2";
    bool const whole = read_big_endian<std::uint16_t>(datagram.substr(2)) == datagram.size();
    if (!whole || datagram.size() > message_max) return "the length does not match the header";
    message.opcode = static_cast<Opcode>(datagram[0]);
    if (!is_known(message.opcode)) return "unknown opcode";
    message.number = read_big_endian<std::uint32_t>(datagram.substr(4));
    message.options = read_big_endian<std::uint32_t>(datagram.substr(8));
    message.option_data = read_big_endian<std::uint32_t>(datagram.substr(12));
    return message.number == 0 ? "the request number is 0" : nullptr;
}

void write(IcpMessage const& message, Bytes before_url, std::string& out) {
    auto const length = message_head + before_url + message.url.size() + 1;
    check(message.number != 0 && length <= message_max);
    out.clear();
    out.reserve(length);
    out += static_cast<char>(message.opcode);
    out += version;
    append_big_endian(static_cast<std::uint16_t>(length), out);
    append_big_endian(message.number, out);
    append_big_endian(message.options, out);
    append_big_endian(message.option_data, out);
    append_big_endian(std::uint32_t{0}, out);   // the sender's address, which receivers know from the datagram
    out.append(before_url, '\0');
    out += message.url;
    out += '\0';
}

}   // namespace

char const* parse_message(std::string_view datagram, IcpMessage& message) {
    if (auto const* error = parse_head(datagram, message)) return error;
    auto payload = datagram.substr(message_head);
    if (message.opcode == Opcode::query) {
        if (payload.size() < requester_bytes) return "the requester address is missing";
        payload.remove_prefix(requester_bytes);
    }
    auto const end = payload.find('\0');
    if (end == payload.npos || end > url_max) return "URL not terminated, or too long";
    message.url = payload.substr(0, end);
    return nullptr;
}

void write_query(std::uint32_t number, std::string_view url, bool source_rtt, std::string& out) {
    write({Opcode::query, number, source_rtt ? flag_source_rtt : 0, 0, url}, requester_bytes, out);
}

void write_message(IcpMessage const& message, std::string& out) {
    check(message.opcode != Opcode::query);
    write(message, 0, out);
}

}   // namespace garner::icp
