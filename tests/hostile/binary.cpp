// The program that users run is built so that an error in memory ends it before an attacker can use it.
#include "hostile/hostile.hpp"
#include "support/child.hpp"

namespace garner::test {

TEST(HostileBinary, is_hardened) {
    auto const symbols = run({"readelf", "--wide", "--dyn-syms", garner_binary()}).output;
    if (symbols.find("__asan_") != symbols.npos || symbols.find("__tsan_") != symbols.npos || symbols.find("__ubsan_") != symbols.npos)
        GTEST_SKIP() << "built with a sanitizer";
    auto const all = run({"readelf", "--wide", "--file-header", "--dynamic", "--program-headers", "--notes", garner_binary()}).output;
    EXPECT_THAT(all, HasSubstr("DYN (Position-Independent Executable file)"));
    EXPECT_THAT(all, HasSubstr("GNU_RELRO"));
    EXPECT_THAT(all, HasSubstr("BIND_NOW")) << "the table of imported functions is read-only";
    EXPECT_THAT(all, Not(HasSubstr("GNU_STACK      0x000000 0x0000000000000000 0x0000000000000000 0x000000 0x000000 RWE")));
    EXPECT_THAT(symbols, HasSubstr("__stack_chk_fail"));
    EXPECT_THAT(symbols, HasSubstr("_chk@")) << "_FORTIFY_SOURCE checks lengths of copies";
    auto const code = run({"objdump", "--disassemble=main", garner_binary()}).output;
    EXPECT_THAT(code, HasSubstr("endbr64")) << "-fcf-protection";
}

}  // namespace garner::test
