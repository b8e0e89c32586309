// A body for range requests.
#pragma once
#include <string>

#include "support/message.hpp"

namespace garner::test {

inline std::string const film = pattern(100'000);

}   // namespace garner::test
