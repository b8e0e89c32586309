// Files: complete reads and writes or an error, locking between processes, and injected faults.
#include "io/file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/magic.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <thread>
#include <vector>

#include "io/pages.hpp"
#include "support/small_disk.hpp"

namespace garner::io {
namespace {

using Operation = Faults::Operation;

struct Files : ::testing::Test {
    Files() {
        auto name = (std::filesystem::temp_directory_path() / "garner-io-XXXXXX").string();
        EXPECT_TRUE(::mkdtemp(name.data()));
        folder = name;
    }
    ~Files() override { std::filesystem::remove_all(folder); }

    std::string path(std::string const& name = "file") const { return folder / name; }
    File make(std::string const& bytes = "", Faults* faults = nullptr) const {
        std::ofstream(path(), std::ios::binary) << bytes;
        return open(File::Mode::create, faults);
    }
    File open(File::Mode mode, Faults* faults = nullptr) const {
        auto opened = File::open(path(), mode, faults);
        EXPECT_EQ(opened.error, 0) << text_of_error(opened.error);
        return std::move(opened.file);
    }

    std::filesystem::path folder;
};

std::string bytes_of(std::size_t count) {
    std::string bytes(count, '\0');
    for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>((i * 2654435761u) >> 11);
    return bytes;
}

Done read(File const& file, Bytes offset, std::string& into) { return file.read_at(offset, {into.data(), into.size()}); }

/// Fails the operations given in `verdicts`, and records all calls.
struct Scripted : Faults {
    Verdict judge(Operation operation, Bytes offset, std::size_t size) override {
        ++asked[operation];
        last_offset = offset;
        last_size = size;
        auto const found = verdicts.find(operation);
        return found == verdicts.end() ? Verdict{} : found->second;
    }
    std::map<Operation, Verdict> verdicts;
    std::map<Operation, int> asked;
    Bytes last_offset = 0;
    std::size_t last_size = 0;
};

/// Runs `work` in another process and returns its exit code, 0 to 99.
int in_another_process(std::function<int()> const& work) {
    auto const child = ::fork();
    if (child == 0) ::_exit(work());
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

// ---- opening ----

TEST_F(Files, are_made_for_their_owner_alone) {
    ::umask(0);
    auto const file = File::open(path(), File::Mode::create);
    ASSERT_TRUE(file.file);
    struct stat about {};
    ASSERT_EQ(::stat(path().c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600u);
}

TEST_F(Files, that_are_not_there_are_only_made_when_that_is_asked_for) {
    for (auto mode : {File::Mode::read, File::Mode::write}) {
        auto const opened = File::open(path(), mode);
        EXPECT_FALSE(opened.file);
        EXPECT_EQ(opened.error, ENOENT);
        EXPECT_EQ(text_of_error(opened.error), "No such file or directory");
    }
    EXPECT_EQ(File::open(path("none/file"), File::Mode::create).error, ENOENT);
    EXPECT_EQ(File::open(folder, File::Mode::create).error, EISDIR);
}

TEST_F(Files, keep_what_they_had_when_they_are_opened_again) {
    make("something");
    auto const file = open(File::Mode::create);
    EXPECT_EQ(file.size(), 9u);
}

TEST_F(Files, opened_for_reading_cannot_be_written) {
    make("something");
    EXPECT_EQ(open(File::Mode::read).write_at(0, "x").error, EBADF);
}

TEST_F(Files, are_not_inherited_by_programs_that_are_started) {
    auto const before = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
    auto const file = make();
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}), before + 1);
    for (auto const& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        std::error_code gone;
        if (std::filesystem::read_symlink(entry, gone) != path()) continue;
        EXPECT_TRUE(::fcntl(std::stoi(entry.path().filename()), F_GETFD) & FD_CLOEXEC);
    }
}

TEST_F(Files, move_and_close_without_losing_or_doubling_a_descriptor) {
    auto first = make("first");
    File second = std::move(first);
    EXPECT_FALSE(first);   // NOLINT: the test is about the state after the move
    EXPECT_TRUE(second);
    File third;
    third = std::move(second);
    auto& same = third;
    third = std::move(same);
    std::string bytes(5, '\0');
    EXPECT_EQ(read(third, 0, bytes).error, 0);
    EXPECT_EQ(bytes, "first");
    third.close();
    third.close();
    EXPECT_FALSE(third);
    EXPECT_EQ(read(third, 0, bytes).error, EBADF);
}

// ---- reading and writing ----

TEST_F(Files, give_back_what_was_written_at_any_place) {
    auto const file = make();
    auto const bytes = bytes_of(300'000);
    for (Bytes offset : {Bytes{0}, Bytes{1}, Bytes{4095}, Bytes{1'000'000}, Bytes{5} * GiB}) {
        auto const written = file.write_at(offset, bytes);
        EXPECT_EQ(written.error, 0);
        EXPECT_EQ(written.bytes, bytes.size());
        std::string back(bytes.size(), '\0');
        auto const done = read(file, offset, back);
        EXPECT_EQ(done.error, 0);
        EXPECT_EQ(done.bytes, bytes.size());
        EXPECT_TRUE(back == bytes) << offset;
    }
    EXPECT_EQ(file.size(), 5 * GiB + bytes.size());
    EXPECT_EQ(file.sync(), 0);
}

TEST_F(Files, that_end_before_what_is_read_say_how_much_there_was) {
    auto const file = make("twelve bytes");
    std::string into(20, '#');
    auto const some = read(file, 7, into);
    EXPECT_EQ(some.bytes, 5u);
    EXPECT_EQ(some.error, EIO);
    EXPECT_EQ(into.substr(0, 6), "bytes#");
    auto const none = read(file, 12, into);
    EXPECT_EQ(none.bytes, 0u);
    EXPECT_EQ(none.error, EIO);
    std::string nothing;
    EXPECT_EQ(read(file, 12, nothing).error, 0);
    EXPECT_EQ(file.write_at(0, "").error, 0);
}

TEST_F(Files, of_several_threads_do_not_mix_what_they_read_and_write) {
    auto const file = make();
    constexpr std::size_t size = 10'000;
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
            std::string const mine(size, static_cast<char>('a' + t));
            std::string back(size, '\0');
            for (int i = 0; i < 100; ++i) {
                wrong += file.write_at(t * size, mine).error != 0;
                wrong += read(file, t * size, back).error != 0 || back != mine;
            }
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(wrong, 0);
}

// ---- past the page cache ----

/// The file's pages in the page cache, one flag per page.
std::vector<unsigned char> cached_pages(std::string const& name, Bytes size) {
    int const descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
    void* const mapped = ::mmap(nullptr, size, PROT_READ, MAP_SHARED, descriptor, 0);
    std::vector<unsigned char> pages((size + page_bytes - 1) / page_bytes);
    EXPECT_EQ(::mincore(mapped, size, pages.data()), 0);
    ::munmap(mapped, size);
    ::close(descriptor);
    for (auto& page : pages) page &= 1;
    return pages;
}

/// Bytes whose alignment in memory equals that of `offset` in the file.
struct Aligned {
    Aligned(Bytes offset, std::string const& bytes)
        : pages(make_pages(bytes.size() + page_bytes)), at(pages.get() + offset % page_bytes) {
        std::copy(bytes.begin(), bytes.end(), at);
        view = {at, bytes.size()};
    }
    Pages pages;
    char* at;
    std::string_view view;
};

struct Past : Files {
    /// tmpfs keeps files in the page cache and cannot bypass it.
    File past(Faults* faults = nullptr) {
        auto file = make(std::string(16 * page_bytes, '#'), faults);
        struct statfs about {};
        is_past = file.allow_past_cache() && ::statfs(path().c_str(), &about) == 0 && about.f_type != TMPFS_MAGIC;
        file.sync();
        return file;
    }
    bool is_past = false;
};

TEST_F(Past, the_page_cache_files_are_written_at_any_place) {
    for (std::size_t const size : {std::size_t{1}, page_bytes - 1, page_bytes, 3 * page_bytes, 5 * page_bytes + 77})
        for (Bytes const offset : {Bytes{0}, Bytes{1}, Bytes{page_bytes - 1}, Bytes{3 * page_bytes}, Bytes{3 * page_bytes + 513}}) {
            SCOPED_TRACE(std::to_string(size) + " at " + std::to_string(offset));
            auto const file = past();
            Aligned const bytes(offset, bytes_of(size));
            auto const written = file.write_past_cache_at(offset, bytes.view);
            EXPECT_EQ(written.error, 0);
            EXPECT_EQ(written.bytes, size);
            std::string expected(16 * page_bytes, '#'), there(expected.size(), '\0');
            expected.replace(offset, size, bytes.view);
            EXPECT_EQ(read(file, 0, there).error, 0);
            EXPECT_TRUE(there == expected);
        }
}

TEST_F(Past, the_page_cache_nothing_is_left_in_it) {
    auto const file = past();
    if (!is_past) GTEST_SKIP() << "this file system does not support O_DIRECT";
    Bytes const offset = 2 * page_bytes - 100;
    Aligned const bytes(offset, bytes_of(4 * page_bytes + 200));
    ASSERT_EQ(file.write_past_cache_at(offset, bytes.view).error, 0);
    auto const cached = cached_pages(path(), 16 * page_bytes);
    EXPECT_EQ(std::count(cached.begin() + 2, cached.begin() + 6, 1), 0) << "whole pages";
}

TEST_F(Past, the_page_cache_and_through_it_by_turns_files_keep_every_byte) {
    auto const file = past();
    std::string expected(16 * page_bytes, '#');
    Pages const memory = make_pages(expected.size());
    std::copy(expected.begin(), expected.end(), memory.get());
    Bytes at = 0;
    for (unsigned turn = 0; at < expected.size(); ++turn) {
        auto const size = std::min<Bytes>(expected.size() - at, turn % 3 ? 3'001 : 9'973);
        auto const bytes = bytes_of(size);
        std::copy(bytes.begin(), bytes.end(), memory.get() + at);
        expected.replace(at, size, bytes);
        std::string_view const view(memory.get() + at, size);
        EXPECT_EQ((turn % 2 ? file.write_at(at, view) : file.write_past_cache_at(at, view)).error, 0);
        std::string there(expected.size(), '\0');
        EXPECT_EQ(read(file, 0, there).error, 0);
        ASSERT_TRUE(there == expected) << at;
        at += size;
    }
    EXPECT_EQ(file.sync(), 0);
}

TEST_F(Past, the_page_cache_memory_that_lies_otherwise_is_written_through_it) {
    auto const file = past();
    Aligned const bytes(1, bytes_of(5 * page_bytes));
    EXPECT_EQ(file.write_past_cache_at(0, bytes.view).error, 0);
    std::string there(bytes.view.size(), '\0');
    EXPECT_EQ(read(file, 0, there).error, 0);
    EXPECT_TRUE(there == bytes.view);
}

TEST_F(Files, opened_again_are_the_same_ones_whatever_has_their_name_by_now) {
    auto const file = make("twelve bytes");
    std::filesystem::rename(path(), path("moved"));
    std::ofstream(path()) << "another one";
    auto const same = file.again();
    ASSERT_TRUE(same);
    EXPECT_TRUE(same.is_at(path("moved")));
    EXPECT_EQ(same.write_at(0, "T").error, 0);
    EXPECT_EQ(same.sync(), 0);
    std::string bytes(12, '\0');
    EXPECT_EQ(read(file, 0, bytes).error, 0);
    EXPECT_EQ(bytes, "Twelve bytes");
}

TEST_F(Past, the_page_cache_what_fails_is_told_with_how_far_it_came) {
    Scripted faults;
    auto const file = past(&faults);
    Aligned const bytes(100, bytes_of(4 * page_bytes));
    faults.verdicts[Operation::write] = {ENOSPC, SIZE_MAX};
    EXPECT_EQ(file.write_past_cache_at(100, bytes.view).error, ENOSPC);
    faults.verdicts[Operation::write] = {0, page_bytes + 7};   // a rest shorter than a page goes through the page cache
    auto const cut = file.write_past_cache_at(100, bytes.view);
    EXPECT_EQ(cut.error, EIO);
    EXPECT_GE(cut.bytes, page_bytes + 7);
    std::string there(cut.bytes, '\0');
    EXPECT_EQ(read(file, 100, there).error, 0);
    EXPECT_TRUE(there == bytes.view.substr(0, cut.bytes));
}

// ---- reading at once ----

TEST_F(Files, that_are_in_memory_can_be_read_at_once_where_the_system_can_tell) {
    auto const file = make(bytes_of(100'000));
    std::string into(100'000, '\0');
    ASSERT_EQ(read(file, 0, into).error, 0);
    auto const done = file.read_now(0, {into.data(), into.size()});
    if (done.error == EOPNOTSUPP) GTEST_SKIP() << "this file system cannot tell";
    EXPECT_EQ(done.error, 0);
    EXPECT_EQ(done.bytes, into.size());
    EXPECT_EQ(into, bytes_of(100'000));
}

TEST_F(Files, whose_pages_were_dropped_are_never_read_at_once_with_anything_but_what_they_hold) {
    constexpr std::size_t size = 4 * MiB;
    auto const file = make(bytes_of(size));
    ASSERT_EQ(file.sync(), 0);
    int const other = ::open(path().c_str(), O_RDONLY | O_CLOEXEC);
    ::posix_fadvise(other, 0, 0, POSIX_FADV_DONTNEED);
    auto const whole = bytes_of(size);
    int waits = 0;
    for (std::size_t at = 0; at < size; at += 100'000) {
        std::string into(std::min<std::size_t>(100'000, size - at), '#');
        auto const done = file.read_now(at, {into.data(), into.size()});
        EXPECT_TRUE(done.error == 0 || done.error == EAGAIN) << done.error;
        EXPECT_EQ(done.error == 0, done.bytes == into.size());
        EXPECT_EQ(into.compare(0, done.bytes, whole, at, done.bytes), 0) << at;
        waits += done.error == EAGAIN;
        ASSERT_EQ(read(file, at, into).error, 0);
        EXPECT_EQ(into.compare(0, into.size(), whole, at, into.size()), 0) << at;
    }
    ::close(other);
    RecordProperty("reads_that_would_have_waited", waits);
}

TEST_F(Files, that_end_before_what_is_read_at_once_leave_the_word_to_a_read_that_may_wait) {
    auto const file = make("short");
    std::string into(20, '#');
    for (Bytes offset : {0, 5, 5'000}) {
        EXPECT_EQ(file.read_now(offset, {into.data(), into.size()}).error, EAGAIN);
        EXPECT_EQ(read(file, offset, into).error, EIO);
    }
}

// ---- one owner ----

TEST_F(Files, are_locked_by_one_process_at_a_time) {
    auto file = make();
    auto const try_to_lock = [&] {
        auto const opened = File::open(path(), File::Mode::write);
        return opened.file ? opened.file.lock() : 98;
    };
    EXPECT_EQ(in_another_process(try_to_lock), 0);   // released when its process ended
    EXPECT_EQ(file.lock(), 0);
    EXPECT_EQ(file.lock(), 0) << "the process already holds the lock";
    EXPECT_EQ(in_another_process(try_to_lock), EWOULDBLOCK);
    EXPECT_EQ(try_to_lock(), EWOULDBLOCK) << "one process cannot lock a file twice";
    File moved = std::move(file);
    EXPECT_EQ(in_another_process(try_to_lock), EWOULDBLOCK);
    moved.close();
    EXPECT_EQ(in_another_process(try_to_lock), 0);
}

TEST_F(Files, are_free_again_when_the_process_that_locked_them_was_killed) {
    auto const file = make();
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    auto const child = ::fork();
    if (child == 0) {
        auto const opened = File::open(path(), File::Mode::write);
        char const result = opened.file.lock() == 0 ? 'y' : 'n';
        if (::write(ready[1], &result, 1) != 1) ::_exit(1);
        ::pause();
        ::_exit(0);
    }
    char result = 0;
    ASSERT_EQ(::read(ready[0], &result, 1), 1);
    EXPECT_EQ(result, 'y');
    EXPECT_EQ(file.lock(), EWOULDBLOCK);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(file.lock(), 0);
    ::close(ready[0]);
    ::close(ready[1]);
}

// ---- its place ----

TEST_F(Files, know_whether_they_are_where_they_were) {
    auto const file = make("ours");
    EXPECT_TRUE(file.is_at(path()));
    EXPECT_FALSE(file.is_at(path("other")));

    std::filesystem::rename(path(), path("other"));
    EXPECT_FALSE(file.is_at(path()));
    EXPECT_TRUE(file.is_at(path("other")));

    std::ofstream(path()) << "not ours";
    EXPECT_FALSE(file.is_at(path()));

    std::filesystem::remove(path("other"));
    EXPECT_FALSE(file.is_at(path("other")));
    std::string bytes(4, '\0');
    EXPECT_EQ(read(file, 0, bytes).error, 0) << "a removed file can still be read";
    EXPECT_EQ(bytes, "ours");

    std::filesystem::create_symlink(path(), path("link"));
    EXPECT_TRUE(open(File::Mode::read).is_at(path("link")));
    std::filesystem::remove_all(folder);
    EXPECT_FALSE(file.is_at(path()));
}

// ---- room ----

TEST_F(Files, have_their_room_before_they_are_written) {
    auto const file = make();
    ASSERT_EQ(file.allocate(8 * MiB), 0);
    EXPECT_EQ(file.size(), 8 * MiB);
    EXPECT_EQ(file.allocate(1 * MiB), 0) << "the smaller size is already allocated";
    EXPECT_EQ(file.size(), 8 * MiB);
    std::string back(100, '#');
    EXPECT_EQ(read(file, 5 * MiB, back).error, 0);
    EXPECT_EQ(back, std::string(100, '\0'));
}

TEST_F(Files, beyond_what_a_process_may_write_are_an_error_and_no_signals_death) {
    make("before");
    EXPECT_EQ(in_another_process([&] {
                  ::signal(SIGXFSZ, SIG_IGN);
                  rlimit limit{1 * MiB, 1 * MiB};
                  ::setrlimit(RLIMIT_FSIZE, &limit);
                  auto const file = std::move(File::open(path(), File::Mode::write).file);
                  if (file.allocate(2 * MiB) != EFBIG) return 1;
                  auto const some = file.write_at(MiB - 1000, bytes_of(5000));
                  if (some.bytes != 1000 || some.error != EFBIG) return 2;
                  if (file.write_at(2 * MiB, "x").error != EFBIG) return 3;
                  std::string back(6, '\0');
                  return read(file, 0, back).error == 0 && back == "before" ? 0 : 4;
              }),
              0);
}

TEST_F(Files, on_a_full_disk_say_so_and_go_on_reading) {
    auto const why_not = test::on_a_small_disk(MiB, [](std::string const& disk) {
        auto const file = std::move(File::open(disk + "/file", File::Mode::create).file);
        EXPECT_EQ(file.allocate(2 * MiB), ENOSPC);
        EXPECT_EQ(text_of_error(ENOSPC), "No space left on device");
        auto const bytes = bytes_of(2 * MiB);
        auto const written = file.write_at(0, bytes);
        EXPECT_EQ(written.error, ENOSPC);
        EXPECT_GT(written.bytes, MiB / 2);
        EXPECT_LE(written.bytes, MiB);
        std::string back(written.bytes, '\0');
        EXPECT_EQ(read(file, 0, back).error, 0);
        EXPECT_TRUE(back == bytes.substr(0, written.bytes));

        std::filesystem::remove(disk + "/file");
        auto const half = std::move(File::open(disk + "/half", File::Mode::create).file);
        EXPECT_EQ(half.allocate(MiB / 2), ENOSPC) << "the space is in use until the last descriptor is closed";
    });
    if (!why_not.empty()) GTEST_SKIP() << why_not;
}

TEST_F(Files, that_have_their_room_are_written_on_a_disk_that_is_full) {
    auto const why_not = test::on_a_small_disk(MiB, [](std::string const& disk) {
        auto const file = std::move(File::open(disk + "/file", File::Mode::create).file);
        ASSERT_EQ(file.allocate(MiB / 2), 0);
        auto const other = std::move(File::open(disk + "/other", File::Mode::create).file);
        EXPECT_EQ(other.write_at(0, bytes_of(MiB)).error, ENOSPC);
        EXPECT_EQ(file.write_at(0, bytes_of(MiB / 2)).error, 0);
        EXPECT_EQ(file.sync(), 0);
    });
    if (!why_not.empty()) GTEST_SKIP() << why_not;
}

// ---- faults ----

TEST_F(Files, fail_where_a_test_lets_them_and_touch_nothing_then) {
    Scripted faults;
    auto const file = make("untouched", &faults);
    faults.verdicts = {{Operation::read, {.error = EIO}},
                       {Operation::write, {.error = ENOSPC}},
                       {Operation::sync, {.error = EROFS}},
                       {Operation::allocate, {.error = EDQUOT}},
                       {Operation::open, {.error = EACCES}}};
    std::string into(9, '#');
    EXPECT_EQ(read(file, 0, into).error, EIO);
    EXPECT_EQ(file.read_now(0, {into.data(), into.size()}).error, EIO);
    EXPECT_EQ(into, "#########");
    auto const written = file.write_at(4, "xyz");
    EXPECT_EQ(written.error, ENOSPC);
    EXPECT_EQ(written.bytes, 0u);
    EXPECT_EQ(faults.last_offset, 4u);
    EXPECT_EQ(faults.last_size, 3u);
    EXPECT_EQ(file.sync(), EROFS);
    EXPECT_EQ(file.allocate(MiB), EDQUOT);
    auto const again = File::open(path(), File::Mode::create, &faults);
    EXPECT_EQ(again.error, EACCES);
    EXPECT_FALSE(again.file);
    EXPECT_EQ(faults.asked[Operation::open], 2);
    EXPECT_EQ(faults.asked[Operation::read], 2);

    faults.verdicts.clear();
    EXPECT_EQ(read(file, 0, into).error, 0);
    EXPECT_EQ(into, "untouched");
}

TEST_F(Files, are_read_and_written_short_where_a_test_lets_them) {
    Scripted faults;
    auto const file = make("0123456789", &faults);
    faults.verdicts = {{Operation::read, {.at_most = 4}}, {Operation::write, {.at_most = 3}}};
    std::string into(10, '#');
    auto const got = read(file, 0, into);
    EXPECT_EQ(got.bytes, 4u);
    EXPECT_EQ(got.error, EIO);
    EXPECT_EQ(into, "0123######");
    EXPECT_EQ(file.read_now(0, {into.data(), into.size()}).error, EAGAIN);
    auto const put = file.write_at(0, "abcdef");
    EXPECT_EQ(put.bytes, 3u);
    EXPECT_EQ(put.error, EIO);
    faults.verdicts = {{Operation::write, {.error = ENOSPC, .at_most = 3}}};
    EXPECT_EQ(file.write_at(3, "xyz").bytes, 0u) << "the write only returns an error";
    faults.verdicts.clear();
    EXPECT_EQ(read(file, 0, into).error, 0);
    EXPECT_EQ(into, "abc3456789");
}

TEST_F(Files, keep_their_faults_when_they_are_moved) {
    Scripted faults;
    auto file = make("", &faults);
    File moved = std::move(file);
    faults.verdicts = {{Operation::sync, {.error = EIO}}};
    EXPECT_EQ(moved.sync(), EIO);
}

}   // namespace
}   // namespace garner::io
