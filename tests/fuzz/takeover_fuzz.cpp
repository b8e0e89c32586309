// The messages of a takeover: any CBOR is read or refused, and a message that was read is written and read again.
#include <string>

#include "control/cbor.hpp"
#include "fuzzed.hpp"
#include "takeover/client_message.hpp"

namespace {

using namespace garner::takeover;

void read_again(Json const& message) {
    if (auto const hello = hello_of(message)) garner::check(bool(hello_of(json_of(*hello))));
    if (auto const welcome = welcome_of(message)) {
        auto const again = welcome_of(json_of(*welcome));
        garner::check(again && again->ticket_keys == welcome->ticket_keys && again->sequence == welcome->sequence);
    }
    if (auto const sockets = sockets_of(message)) {
        auto const again = sockets_of(json_of(*sockets));
        garner::check(again && again->names == sockets->names && again->last == sockets->last);
    }
    if (auto const serving = serving_of(message)) {
        auto const again = serving_of(json_of(*serving));
        garner::check(again && again->disk == serving->disk && again->control == serving->control);
    }
    if (auto const forget = forget_of(message)) {
        auto const again = forget_of(json_of(*forget, "forget"));
        garner::check(again && again->keys == forget->keys && again->number == forget->number && again->power == forget->power &&
                      again->everything == forget->everything);
    }
    if (auto const clients = clients_of(message)) {
        auto const again = clients_of(json_of(*clients));
        garner::check(again && again->number == clients->number && again->clients.size() == clients->clients.size());
        for (std::size_t i = 0; i < again->clients.size(); ++i)
            garner::check(again->clients[i].descriptors() == clients->clients[i].descriptors());
    }
    if (auto const taken = taken_of(message)) garner::check(taken_of(json_of(*taken))->returned == taken->returned);
    if (auto const number = settled_of(message)) garner::check(*settled_of(settled(*number)) == *number);
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    auto const message = garner::control::read_cbor({data, size});
    if (!message.is_object()) return 0;
    garner::check(what_of(message).size() <= size);
    (void)refusal_of(message);
    read_again(message);
    return 0;
}
