// The identity of the program's file.
#pragma once
#include <string>

namespace garner {

/// The build ID that the linker has written into this program (ELF note NT_GNU_BUILD_ID), in hexadecimal digits: two builds of one
/// version differ. Empty if the linker has written none. Any thread.
std::string build_id();

}   // namespace garner
