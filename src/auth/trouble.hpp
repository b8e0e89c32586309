// A source of users that cannot learn what it must know.
#pragma once
#include <cstdint>
#include <string>

#include "util/clock.hpp"

namespace garner::auth {

/// The source goes on with the facts of the time before.
struct Trouble {
    enum class Kind : std::uint8_t { file, directory };
    Kind kind = Kind::file;
    std::string name = {};     // the path, or the URL of the directory
    std::string why = {};      // "cannot be read: No such file or directory"
    std::string effect = {};   // "its last users stay"
    std::string fix = {};      // a suggested fix; may be empty
    WallTime since = {};       // a file was right at this time; a directory has been silent from it on
};

}   // namespace garner::auth
