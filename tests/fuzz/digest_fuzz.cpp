// Cache digests: an accepted digest has consistent sizes, and lookups of any key stay within its bytes.
#include "icp/digest.hpp"

#include <string>

#include "fuzzed.hpp"

namespace {

using namespace garner;

/// A URL of the input is found in a digest that contains it, and that digest is accepted.
void check_round_trip(std::string_view url) {
    icp::DigestBuilder builder(url.size());
    auto const key = icp::digest_key(url);
    builder.add(key);
    auto const digest = icp::Digest::read(std::move(builder).finish());
    check(digest && (*digest)->entries() == 1);
    check((*digest)->may_have(key));
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    std::string_view const bytes(reinterpret_cast<char const*>(data), size);
    check_round_trip(bytes);
    std::string copy(bytes);
    copy.shrink_to_fit();
    auto const read = icp::Digest::read(std::move(copy));
    if (!read) return 0;
    auto const& digest = *read;
    check(digest->size() == size);
    for (auto const word : {0u, 1u, 0x7fffffffu, 0xffffffffu}) (void)digest->may_have({word, ~word, word / 3, word * 7});
    return 0;
}
