// The file of a disk store: created, reopened, enlarged, recreated, or refused, for every state of its header.
#include "store/store_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace garner::store::disk {
namespace {

namespace fs = std::filesystem;

/// Reads of one place fail.
struct BadPlace : io::Faults {
    Bytes from = 0, until = 0;
    Verdict judge(Operation operation, Bytes offset, std::size_t size) override {
        bool const hit = operation == Operation::read && offset < until && offset + size > from;
        return {hit ? EIO : 0, SIZE_MAX};
    }
};

class StoreFileTest : public ::testing::Test {
protected:
    StoreFileTest() {
        std::string name = (fs::temp_directory_path() / "garner-file-XXXXXX").string();
        options.path = ::mkdtemp(name.data());
        options.size = 16 * MiB;
    }
    ~StoreFileTest() override { fs::remove_all(options.path); }

    fs::path path() const { return fs::path(options.path) / "store"; }
    /// Opens and closes the store and returns its header.
    StoreHeader header(StoreFile::When when = StoreFile::When::at_start) {
        auto const opened = StoreFile::open(options, when);
        EXPECT_TRUE(opened.store) << opened.trouble;
        return opened.store ? opened.store->header() : StoreHeader{};
    }
    std::string trouble(StoreFile::When when = StoreFile::When::at_start) {
        auto const opened = StoreFile::open(options, when);
        EXPECT_FALSE(opened.store);
        return opened.trouble;
    }
    void write(Bytes at, std::string_view bytes) {
        std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(static_cast<std::streamoff>(at));
        file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    }
    void damage_copy(unsigned copy) { write(copy * header_bytes + 100, "damage"); }
    void begin_with(std::string const& bytes) { std::ofstream(path(), std::ios::binary) << bytes; }

    DiskOptions options;
};

TEST_F(StoreFileTest, is_the_same_store_at_each_start_with_a_higher_epoch) {
    auto const first = header(), second = header();
    EXPECT_EQ(first.id, second.id);
    EXPECT_EQ(first.seed, second.seed);
    EXPECT_GT(second.epoch, first.epoch);
    EXPECT_EQ(fs::file_size(path()), first.bytes());
}

TEST_F(StoreFileTest, is_known_by_either_copy_of_its_header_alone) {
    auto const made = header();
    for (unsigned copy : {0u, 1u, 0u}) {
        damage_copy(copy);
        EXPECT_EQ(header().id, made.id) << copy;
    }
    damage_copy(0);
    damage_copy(1);
    EXPECT_NE(trouble().find("is not a disk store"), std::string::npos);
}

TEST_F(StoreFileTest, with_one_copy_that_cannot_be_read_is_known_by_the_other) {
    auto const made = header();
    BadPlace bad;
    options.faults = &bad;
    for (unsigned copy : {0u, 1u}) {
        bad.from = copy * header_bytes;
        bad.until = bad.from + 512;
        EXPECT_EQ(header().id, made.id) << copy;
    }
    bad.from = 0;
    bad.until = header_area;
    EXPECT_NE(trouble().find("cannot be read: Input/output error"), std::string::npos);
}

TEST_F(StoreFileTest, never_is_again_what_it_was_before_it_was_made_smaller_or_begun_anew) {
    for (unsigned copy : {0u, 1u}) {
        options.size = 16 * MiB;
        header();
        options.size = 8 * MiB;
        auto const smaller = header();
        damage_copy(copy);
        EXPECT_EQ(header().id, smaller.id) << copy;
        EXPECT_EQ(header().segments, smaller.segments) << copy;
        auto const anew = header(StoreFile::When::later);
        EXPECT_NE(anew.id, smaller.id);
        damage_copy(copy);
        EXPECT_EQ(header().id, anew.id) << copy;
    }
}

TEST_F(StoreFileTest, that_was_left_before_it_had_a_header_is_new) {
    for (auto const bytes : {Bytes{0}, Bytes{1'000}, header_area, 16 * MiB}) {
        begin_with({});
        fs::resize_file(path(), bytes);
        EXPECT_GT(header().segments, 0u) << bytes;
    }
}

TEST_F(StoreFileTest, that_has_lost_its_header_but_not_what_it_holds_is_left_alone) {
    header();
    write(0, std::string(header_area, '\0'));
    write(header_area, "SEGM");
    EXPECT_NE(trouble().find("is not a disk store"), std::string::npos);
}

TEST_F(StoreFileTest, of_somebody_else_is_refused_with_the_same_words_whatever_its_length) {
    for (std::size_t const bytes : {1u, 5u, 4'095u, 4'096u, 20'000u, 65'535u, 65'536u, 200'000u}) {
        begin_with(std::string(bytes, 'x'));
        EXPECT_NE(trouble().find("exists, but is not a disk store; remove it"), std::string::npos) << bytes;
        EXPECT_EQ(fs::file_size(path()), bytes);
    }
}

TEST_F(StoreFileTest, never_follows_a_symbolic_link) {
    auto const victim = fs::path(options.path) / "victim";
    std::ofstream(victim) << "mine";
    fs::create_symlink(victim, path());
    EXPECT_NE(trouble().find("it is a symbolic link"), std::string::npos);
    EXPECT_EQ(fs::file_size(victim), 4u);
}

TEST_F(StoreFileTest, is_for_its_owner_alone_whatever_rights_it_was_given) {
    header();
    fs::permissions(path(), fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
    header();
    EXPECT_EQ(fs::status(path()).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(StoreFileTest, that_belongs_to_another_user_is_refused) {
    header();
    constexpr uid_t other = 12'345;
    if (::chown(path().c_str(), other, static_cast<gid_t>(-1)) != 0)
        GTEST_SKIP() << "the process may not change the owner of a file";
    EXPECT_NE(trouble().find("belongs to another user"), std::string::npos);
}

TEST_F(StoreFileTest, that_is_to_be_as_it_is_keeps_its_size_whatever_is_wanted) {
    auto const made = header();
    for (Bytes size : {4 * MiB, 16 * MiB, 64 * MiB}) {
        options.size = size;
        auto const found = header(StoreFile::When::as_it_is);
        EXPECT_EQ(found.id, made.id);
        EXPECT_EQ(found.segments, made.segments);
        EXPECT_GT(found.epoch, made.epoch);
        EXPECT_EQ(fs::file_size(path()), made.bytes());
    }
}

TEST_F(StoreFileTest, that_is_to_be_as_it_is_and_is_none_is_left_alone_and_named) {
    constexpr auto as_it_is = StoreFile::When::as_it_is;
    EXPECT_FALSE(trouble(as_it_is).empty());
    EXPECT_FALSE(fs::exists(path())) << "no file is created";
    auto const left_alone = [&](std::string const& bytes, char const* why) {
        begin_with(bytes);
        EXPECT_NE(trouble(as_it_is).find(why), std::string::npos) << trouble(as_it_is);
        std::stringstream now;
        now << std::ifstream(path(), std::ios::binary).rdbuf();
        EXPECT_TRUE(now.str() == bytes) << why;
    };
    left_alone("", "nothing was ever written to it");
    left_alone(std::string(MiB, '\0'), "nothing was ever written to it");
    left_alone(std::string(MiB, 'x'), "is not a disk store");
    auto shape = shape_of(16 * MiB);
    auto const whole = encode(shape) + encode(shape);
    left_alone(whole + std::string(MiB, 'x'), "the file was truncated");
    auto other = encode(shape);
    other[16] = static_cast<char>(format_version - 1);
    auto const check = fingerprint(std::string_view(other).substr(16), 0);
    std::memcpy(other.data() + 8, &check, sizeof check);
    left_alone(other + std::string(16 * MiB, 'x'), "was written by another version");
}

TEST_F(StoreFileTest, grows_and_keeps_its_id_and_alignment) {
    auto const made = header();
    options.size = 64 * MiB;
    auto const larger = header();
    EXPECT_EQ(larger.id, made.id);
    EXPECT_EQ(larger.alignment, made.alignment);
    EXPECT_GT(larger.segments, 3 * made.segments);
    EXPECT_EQ(fs::file_size(path()), larger.bytes());
}

TEST_F(StoreFileTest, that_finds_no_room_to_grow_stays_as_it_was) {
    /// Allocating more than `room` bytes fails with ENOSPC.
    struct Full : io::Faults {
        Bytes room = 0;
        Verdict judge(Operation operation, Bytes, std::size_t size) override {
            return {operation == Operation::allocate && size > room ? ENOSPC : 0, SIZE_MAX};
        }
    } full;
    auto const made = header();
    full.room = made.bytes();
    options.faults = &full;
    options.size = 64 * MiB;
    auto const kept = header();
    EXPECT_EQ(kept.id, made.id);
    EXPECT_EQ(kept.segments, made.segments);
    EXPECT_GT(kept.epoch, made.epoch);
    EXPECT_EQ(fs::file_size(path()), made.bytes());
    full.room = 0;
    fs::resize_file(path(), 2 * MiB);
    EXPECT_NE(trouble().find("insufficient space for the"), std::string::npos)
        << "a truncated file is made anew, which needs space";
}

TEST_F(StoreFileTest, that_was_cut_short_is_begun_anew_for_what_was_purged_could_be_back) {
    auto const made = header();
    fs::resize_file(path(), made.bytes() - 1);
    EXPECT_NE(trouble(StoreFile::When::as_it_is).find("the file was truncated; remove it, or start Garner"), std::string::npos);
    auto const anew = header();
    EXPECT_NE(anew.id, made.id);
    EXPECT_EQ(fs::file_size(path()), anew.bytes());
}

TEST_F(StoreFileTest, knows_when_it_was_cut_short_or_removed) {
    auto opened = StoreFile::open(options, StoreFile::When::at_start);
    ASSERT_TRUE(opened.store) << opened.trouble;
    EXPECT_EQ(opened.store->mishap(), "");
    auto const whole = fs::file_size(path());
    fs::resize_file(path(), whole / 2);
    EXPECT_EQ(opened.store->mishap(), "was truncated");
    fs::resize_file(path(), whole);
    EXPECT_EQ(opened.store->mishap(), "");
    fs::remove(path());
    EXPECT_EQ(opened.store->mishap(), "was removed or replaced");
}

TEST_F(StoreFileTest, that_may_not_be_opened_is_named_with_what_would_mend_it) {
    struct Refused : io::Faults {
        Verdict judge(Operation operation, Bytes, std::size_t) override {
            return {operation == Operation::open ? EACCES : 0, SIZE_MAX};
        }
    } refused;
    options.faults = &refused;
    EXPECT_NE(trouble().find("; give the user that runs Garner read and write access"), std::string::npos);
}

}   // namespace
}   // namespace garner::store::disk
