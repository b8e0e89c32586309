// The cost of minting a certificate, with the leaf key that Garner uses and with a provider key of OpenSSL 3.
//   minting [COUNT]   mints COUNT certificates with each in turns, and prints the microseconds of processor time and the
//                     bytes for one
#include <malloc.h>
#include <openssl/ec.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "bump/authority.hpp"
#include "bump/ca_files.hpp"
#include "bump/ca_init.hpp"
#include "bump/minted.hpp"
#include "util/clock.hpp"

namespace {

using namespace garner;
using namespace garner::bump;

std::shared_ptr<EVP_PKEY> make_provider_key() { return {EVP_EC_gen("P-256"), &EVP_PKEY_free}; }

double microseconds_each(Authority& authority, Likeness const& likeness, int count) {
    auto const begin = thread_seconds();
    for (int i = 0; i < count; ++i) authority.mint(likeness, Signer::ca, wall_now());
    return (thread_seconds() - begin) * 1e6 / count;
}

/// Heap memory of a certificate in the cache.
double bytes_each(Authority& authority, Likeness const& likeness, std::size_t count) {
    MintedCertificates minted(count);
    auto const before = ::mallinfo2().uordblks;
    for (std::size_t i = 0; i < count; ++i)
        minted.add("host-" + std::to_string(i) + ".example.org:443", likeness, authority.mint(likeness, Signer::ca, wall_now()),
                   wall_now(), wall_now());
    return static_cast<double>(::mallinfo2().uordblks - before) / static_cast<double>(count);
}

double median(std::vector<double> values) {
    std::ranges::sort(values);
    return values[values.size() / 2];
}

}   // namespace

int main(int argc, char** argv) {
    int const count = argc > 1 ? std::atoi(argv[1]) : 2'000;
    auto directory = (std::filesystem::temp_directory_path() / "garner-minting-XXXXXX").string();
    if (count < 1 || !::mkdtemp(directory.data())) return 1;
    CaPaths const paths(directory);
    auto const made = init_ca(directory, {}, wall_now());
    auto const ca = made ? read_ca(paths.chain, paths.key) : Result<Ca>(made.fault());
    std::filesystem::remove_all(directory);
    if (!ca) return std::fprintf(stderr, "%s\n", ca.fault().text().c_str()), 1;

    Authority authority(ca->chain, ca->key), provider(ca->chain, ca->key, make_provider_key);
    Likeness const likeness{{"www.example.org", "example.org"}, wall_now(), wall_now() + std::chrono::days(30)};
    std::vector<double> ours, theirs;
    for (int run = 0; run < 7; ++run) {
        ours.push_back(microseconds_each(authority, likeness, count));
        theirs.push_back(microseconds_each(provider, likeness, count));
    }
    std::printf("minting: %.1f us (%.1f to %.1f); with a provider key: %.1f us; ratio %.2f\n", median(ours),
                *std::ranges::min_element(ours), *std::ranges::max_element(ours), median(theirs), median(ours) / median(theirs));
    std::printf("memory: %.0f bytes a certificate\n", bytes_each(authority, likeness, 1'000));
    return 0;
}
