// The program's version.
#pragma once

namespace garner {

inline constexpr char const* version = "0.1.0";

}   // namespace garner
