#include "store/note_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace garner::store::disk {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct NoteFileTest : ::testing::Test {
    NoteFileTest() {
        auto name = std::filesystem::temp_directory_path().string() + "/notes-XXXXXX";
        folder = ::mkdtemp(name.data());
    }
    ~NoteFileTest() override { std::filesystem::remove_all(folder); }
    std::string path() const { return folder + "/invalidations"; }
    std::vector<std::string> read(bool keeps = true) const {
        NoteFile file;
        file.open(path(), keeps, nullptr);
        return file.lines();
    }
    void add(std::vector<std::string> const& lines) const {
        NoteFile file;
        file.open(path(), true, nullptr);
        for (auto const& line : lines) EXPECT_EQ(file.add(line), NoteFile::Added::done);
        EXPECT_TRUE(file.sync());
    }
    std::string folder;
};

TEST_F(NoteFileTest, keeps_lines_of_several_runs_in_order) {
    add({"1 1 a", "2 1 b"});
    add({"3 1 c"});
    EXPECT_THAT(read(), ElementsAre("1 1 a", "2 1 b", "3 1 c"));
    EXPECT_THAT(read(false), IsEmpty());
    EXPECT_THAT(read(), IsEmpty());
}

TEST_F(NoteFileTest, keeps_the_last_of_lines_that_differ_in_number_and_time_only) {
    add({"1 1 a", "2 1 b", "3 9 a"});
    EXPECT_THAT(read(), ElementsAre("2 1 b", "3 9 a"));
}

TEST_F(NoteFileTest, drops_a_torn_last_line) {
    add({"1 1 a"});
    std::ofstream(path(), std::ios::app) << "2 1 b";
    EXPECT_THAT(read(), ElementsAre("1 1 a"));
    add({"3 1 c"});
    EXPECT_THAT(read(), ElementsAre("1 1 a", "3 1 c"));
}

TEST_F(NoteFileTest, says_that_it_cannot_be_read_or_written) {
    std::filesystem::create_directory(path());
    NoteFile file;
    file.open(path(), true, nullptr);
    EXPECT_THAT(file.lines(), ElementsAre("unreadable"));
    EXPECT_EQ(file.add("1 1 a"), NoteFile::Added::failed);
}

TEST_F(NoteFileTest, takes_no_lines_when_it_is_closed) {
    NoteFile file;
    file.open(path(), true, nullptr);
    file.close();
    EXPECT_EQ(file.add("1 1 a"), NoteFile::Added::closed);
}

TEST_F(NoteFileTest, is_full_at_its_limit) {
    EXPECT_FALSE(NoteFile::is_full(path()));
    std::ofstream(path()) << "x";
    EXPECT_FALSE(NoteFile::is_full(path()));
    std::filesystem::resize_file(path(), NoteFile::size_max);
    EXPECT_TRUE(NoteFile::is_full(path()));
}

}   // namespace
}   // namespace garner::store::disk
