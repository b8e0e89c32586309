// Numbers in readable form.
#pragma once
#include <cstdio>
#include <string>

namespace garner {

/// With exactly this many decimals: "0.50".
inline std::string with_decimals(double value, int decimals) {
    char text[400];   // the largest double has 309 digits
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

/// At most six significant digits, in the shortest form: "0.5", "1e+09".
inline std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return text;
}

}   // namespace garner
