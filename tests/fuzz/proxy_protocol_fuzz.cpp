// PROXY headers: a refusal and a complete header never change with more bytes, and an incomplete one needs them.
#include <string>

#include "fuzzed.hpp"
#include "net/proxy_protocol.hpp"

namespace {

using namespace garner;
using State = net::ProxyHeaderParse::State;

void check_parse(net::ProxyHeaderParse const& parse, std::size_t size) {
    check((parse.state == State::refused) == (parse.fault != net::ProxyHeaderFault::none));
    check(parse.state != State::complete || (parse.size > 0 && parse.size <= size));
    check(parse.header.unique_id.size() <= 128 && parse.header.authority.size() <= 255);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes(reinterpret_cast<char const*>(data), size);
    fuzz::Exact const exact(bytes);
    auto const whole = net::parse_proxy_header(exact.view());
    check_parse(whole, size);
    for (auto const at : fuzz::cuts(size, static_cast<std::uint32_t>(size))) {
        fuzz::Exact const part(bytes.substr(0, at));
        auto const parse = net::parse_proxy_header(part.view());
        check_parse(parse, at);
        if (parse.state == State::incomplete) continue;
        check(parse.state == whole.state && parse.fault == whole.fault && parse.size == whole.size);
        check(parse.header == whole.header);
    }
    return 0;
}
