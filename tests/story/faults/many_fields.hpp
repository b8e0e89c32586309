// More field lines than the limit for a head.
#pragma once
#include <string>

namespace garner::test {

inline std::string many_fields(int count) {
    std::string lines;
    for (int i = 0; i < count; ++i) lines += "X-" + std::to_string(i) + ": y\r\n";
    return lines;
}

}   // namespace garner::test
