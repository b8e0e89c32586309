// ClientHello: a reading never changes with more bytes, nor with other boundaries of records.
#include <algorithm>
#include <string>

#include "fuzzed.hpp"
#include "net/client_hello.hpp"
#include "util/big_endian.hpp"

namespace {

using namespace garner;
using net::ClientHelloReading;
using State = ClientHelloReading::State;

bool is_same(ClientHelloReading const& a, ClientHelloReading const& b) {
    return a.state == b.state && std::string_view(a.reason) == b.reason && a.hello == b.hello;
}

void check_hello(net::ClientHello const& hello) {
    auto const& name = hello.server_name;
    check(name.size() <= 255 && !name.ends_with('.') && name.find_first_of(" /\\@#?\t\r\n") == name.npos);
    check(std::ranges::none_of(name, [](char c) { return (c >= 'A' && c <= 'Z') || static_cast<unsigned char>(c) >= 0x80; }));
    for (auto const& protocol : hello.protocols) check(!protocol.empty() && protocol.size() <= 255);
}

/// The contents of all whole records, and of the last one as far as it is there.
std::string contents_of(std::string_view stream) {
    std::string contents;
    while (stream.size() >= 5 && stream[0] == 22) {
        auto const length = read_big_endian<std::uint16_t>(stream.substr(3));
        contents += stream.substr(5, length);
        stream.remove_prefix(std::min<std::size_t>(5u + length, stream.size()));
    }
    return contents;
}

std::string in_records_of(std::size_t size, std::string_view contents) {
    std::string stream;
    for (; !contents.empty(); contents.remove_prefix(std::min(size, contents.size()))) {
        auto const part = contents.substr(0, size);
        stream += std::string("\x16\x03\x01", 3);
        append_big_endian(static_cast<std::uint16_t>(part.size()), stream);
        stream += part;
    }
    return stream;
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Input const input(data, size);
    fuzz::Exact const bytes(input.bytes);
    auto const whole = net::read_client_hello(bytes.view());
    for (auto const place : fuzz::cuts(input.bytes.size(), input.seed)) {
        fuzz::Exact const beginning(input.bytes.substr(0, place));
        auto const part = net::read_client_hello(beginning.view());
        check(part.state == State::needs_more || is_same(part, whole));
    }
    if (whole.state != State::hello) return 0;
    check_hello(whole.hello);
    auto const contents = contents_of(input.bytes);
    auto const message = contents.substr(0, 4 + read_big_endian<std::uint32_t>(contents) % (1u << 24));
    auto const again = in_records_of(64 + input.seed, message);
    if (again.size() <= net::client_hello_max) check(is_same(net::read_client_hello(again), whole));
    return 0;
}
