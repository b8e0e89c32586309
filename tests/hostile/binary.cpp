// The release's hardening, read from the ELF file: of a small program with the same options, and of the program itself where
// it was built.
#include <elf.h>

#include <cstring>
#include <filesystem>

#include "hostile/hostile.hpp"
#include "support/child.hpp"

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
    /// A name or instruction somewhere in the file.
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

void expect_hardened(std::string const& path) {
    Elf const elf(path);
    EXPECT_TRUE(elf.is_position_independent()) << path;
    EXPECT_TRUE(elf.has_segment(PT_GNU_RELRO)) << path;
    EXPECT_TRUE(elf.binds_at_start()) << path;
    EXPECT_TRUE(elf.has("__stack_chk_fail")) << path;
    EXPECT_TRUE(elf.has("cpy_chk")) << path << ": _FORTIFY_SOURCE";
    EXPECT_TRUE(elf.has("__glibcxx_assert_fail") || elf.has("__n < this->size()")) << path << ": _GLIBCXX_ASSERTIONS";
#ifdef __x86_64__
    EXPECT_TRUE(elf.has("\xf3\x0f\x1e\xfa")) << path << ": endbr64";
#endif
}

}  // namespace

TEST(Hostile, the_hardening_options_show_in_the_program) { expect_hardened(GARNER_HARDENED); }

TEST(Hostile, the_release_is_hardened) {
    std::string const release = GARNER_RELEASE;
    if (!std::filesystem::exists(release)) GTEST_SKIP() << "no release build here: tools/build release";
    expect_hardened(release);
}

}  // namespace garner::test
