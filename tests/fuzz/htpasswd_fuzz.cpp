// Users' files: no crash, no fault with the text of a line, and every user that is kept has a lower-case name and a known hash.
#include "auth/htpasswd.hpp"

#include <string>

#include "auth/password_hash.hpp"
#include "fuzzed.hpp"

using namespace garner;

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    auto const file = auth::parse_htpasswd("users", bytes.view());
    check(file.hashes.empty() == file.typical.empty());
    check(file.faults.size() <= auth::Htpasswd::faults_max + 1);
    for (auto const& [user, hash] : file.hashes) {
        check(!user.empty() && user.find(':') == user.npos && auth::fault_of_hash(hash) == nullptr);
        for (char const c : user) check(!(c >= 'A' && c <= 'Z'));
        // The other kinds take too long.
        if (hash.starts_with("{SHA}") || hash.starts_with("$apr1$")) auth::matches_hash(auth::Secret("password"), hash);
    }
    check(auth::changed_users(file, file).empty());
    return 0;
}
