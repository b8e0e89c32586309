// ICP: parsed data lie inside the datagram, and an encoded message parses to an equal one.
#include <string>

#include "fuzzed.hpp"
#include "icp/icp_message.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace garner;
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    auto const datagram = bytes.view();
    icp::IcpMessage message, reread;
    if (icp::parse_message(datagram, message)) return 0;
    check(message.number != 0 && message.url.size() <= icp::url_max);
    check(fuzz::lies_inside(message.url, datagram) && message.url.find('\0') == message.url.npos);
    std::string again;
    if (message.opcode == icp::Opcode::query)
        icp::write_query(message.number, message.url, message.options & icp::flag_source_rtt, again);
    else
        icp::write_message(message, again);
    check(!icp::parse_message(again, reread));
    check(reread.opcode == message.opcode && reread.number == message.number && reread.url == message.url);
    return 0;
}
