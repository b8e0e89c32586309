// Answers of DNS with addresses and servers: what is accepted is bounded and sorted, and its hosts are names.
#include <algorithm>

#include "fuzzed.hpp"
#include "net/address_answer.hpp"
#include "net/srv_answer.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    using namespace garner;
    fuzz::Exact const bytes(std::string_view(reinterpret_cast<char const*>(data), size));
    if (auto const addresses = net::parse_address_answer(bytes.view())) {
        check(addresses->ttl.count() >= 0 && addresses->addresses.size() <= size / 15);
        check(!addresses->negative_ttl || (addresses->addresses.empty() && addresses->negative_ttl->count() >= 0));
    }
    auto const answer = net::parse_srv_answer(bytes.view());
    if (!answer) return 0;
    auto const& targets = answer->targets;
    check(answer->ttl.count() >= 0 && targets.size() <= net::srv_targets_max);
    check(std::ranges::is_sorted(targets) && std::ranges::adjacent_find(targets) == targets.end());
    for (auto const& target : targets) {
        check(target.port != 0 && !target.host.empty() && target.host.size() <= 255);
        check(target.host.find_first_of(" /:@?#\r\n[]") == target.host.npos);
    }
    return 0;
}
