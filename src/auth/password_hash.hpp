// The hashes of passwords that a users' file may have.
#pragma once
#include <string>
#include <string_view>

#include "auth/secret.hpp"

namespace garner::auth {

/// Why a users' file cannot have this hash, or nullptr: bcrypt ($2a$, $2b$, $2y$), SHA-crypt ($5$, $6$), yescrypt ($y$),
/// MD5-crypt ($1$, $apr1$) and {SHA} are known. Hashes that would take more than about a second are refused. A literal.
char const* fault_of_hash(std::string_view hash);

/// `hash` must be without a fault. Takes 1 µs ({SHA}) to seconds (bcrypt 15), and 32 KiB of heap memory, which is wiped.
/// Thread-safe.
bool matches_hash(Secret const& password, std::string const& hash);

}   // namespace garner::auth
