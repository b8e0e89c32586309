// The protocol of a group: any body is read or refused, a message that was read is written and read again, and a channel takes any
// bytes.
#include <string>

#include "fuzzed.hpp"
#include "group/signed_frames.hpp"

namespace {

using namespace garner::group;

void read_again(std::string_view bytes) {
    if (bytes.empty()) return;
    garner::fuzz::Exact const body(bytes.substr(1));
    auto const message = message_in(static_cast<std::uint8_t>(bytes[0]), body.view());
    if (!message) return;
    auto const written = body_of(*message);
    auto const again = message_in(type_of(*message), written);
    garner::check(again && *again == *message && written.size() <= bytes.size());
}

void feed(Channel& channel, std::string_view bytes, std::uint32_t seed) {
    std::size_t from = 0;
    for (auto const to : garner::fuzz::cuts(bytes.size(), seed)) {
        garner::fuzz::Exact const part(bytes.substr(from, to - from));
        channel.receive(part.view());
        while (channel.next()) {
        }
        garner::check(channel.waiting() <= bytes.size());
        from = to;
    }
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    garner::fuzz::Input const input(data, size);
    read_again(input.bytes);
    Channel voter(Channel::Side::voter, "secret"), member(Channel::Side::member, "secret");
    feed(voter, input.bytes, input.seed);
    (void)member.seal(Hello{});
    feed(member, input.bytes, input.seed);
    return 0;
}
