// The release build's hardening, read from the ELF file of the program.
#include <elf.h>

#include <cstring>

#include "hostile/hostile.hpp"

namespace garner::test {

namespace {

/// A 64-bit ELF file.
class Elf {
public:
    explicit Elf(std::string const& path) : bytes_(read_file(path)) {}

    bool is_position_independent() const { return at<Elf64_Ehdr>(0).e_type == ET_DYN && has_segment(PT_INTERP); }
    bool has_segment(std::uint32_t type) const { return segment(type).p_type == type; }
    bool binds_at_start() const {
        auto const dynamic = segment(PT_DYNAMIC);
        for (std::size_t i = 0; i < dynamic.p_filesz / sizeof(Elf64_Dyn); ++i) {
            auto const entry = at<Elf64_Dyn>(dynamic.p_offset + i * sizeof(Elf64_Dyn));
            if (entry.d_tag == DT_FLAGS && (entry.d_un.d_val & DF_BIND_NOW)) return true;
            if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_NOW)) return true;
        }
        return false;
    }
    /// True if the file contains this name or instruction anywhere.
    bool has(std::string_view bytes) const { return bytes_.find(bytes) != bytes_.npos; }

private:
    template <class T>
    T at(std::size_t offset) const {
        T value{};
        if (offset + sizeof value <= bytes_.size()) std::memcpy(&value, bytes_.data() + offset, sizeof value);
        return value;
    }
    Elf64_Phdr segment(std::uint32_t type) const {
        auto const head = at<Elf64_Ehdr>(0);
        for (unsigned i = 0; i < head.e_phnum; ++i)
            if (auto const found = at<Elf64_Phdr>(head.e_phoff + i * sizeof(Elf64_Phdr)); found.p_type == type) return found;
        return {};
    }

    std::string bytes_;
};

void expect_hardened(Elf const& elf) {
    EXPECT_TRUE(elf.is_position_independent());
    EXPECT_TRUE(elf.has_segment(PT_GNU_RELRO));
    EXPECT_TRUE(elf.binds_at_start());
    EXPECT_TRUE(elf.has("__stack_chk_fail"));
    EXPECT_TRUE(elf.has("cpy_chk")) << "_FORTIFY_SOURCE";
    EXPECT_TRUE(elf.has("__glibcxx_assert_fail") || elf.has("__n < this->size()")) << "_GLIBCXX_ASSERTIONS";
#ifdef __x86_64__
    EXPECT_TRUE(elf.has("\xf3\x0f\x1e\xfa")) << "endbr64";
#endif
}

}   // namespace

TEST(Hostile, the_program_is_hardened) {
    Elf const elf(garner_binary());
    if (elf.has("__asan_init") || elf.has("__tsan_init")) GTEST_SKIP() << "built with a sanitizer";
    expect_hardened(elf);
}

}   // namespace garner::test
