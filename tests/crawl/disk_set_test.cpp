#include "crawl/disk_set.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cmath>
#include <fstream>
#include <iterator>
#include <vector>

#include "crawl/folder.hpp"
#include "papers/mercator_file.hpp"

namespace garner::crawl {
namespace {

using namespace papers;

namespace fs = std::filesystem;

constexpr std::uint64_t batch_urls = 60;

/// A batch in which a third of the URLs occurred earlier.
std::vector<Fingerprint> batch_of(std::uint64_t number) {
    std::vector<Fingerprint> urls;
    for (std::uint64_t i = 0; i < batch_urls; ++i) {
        auto const url = number * batch_urls + i;
        urls.push_back((i % 3 == 2 ? url / 2 : url) * 0x9e3779b97f4a7c15);
    }
    return urls;
}

struct Answer {
    std::vector<std::uint8_t> is_new = std::vector<std::uint8_t>(batch_urls);
    UrlSet::Added added;
};
Answer add_number(UrlSet& set, std::uint64_t number) {
    Answer answer;
    answer.added = set.add(batch_of(number), answer.is_new);
    return answer;
}

/// Answers of a set without errors.
std::vector<Answer> right_answers(std::uint64_t batches) {
    LineSet model({});
    std::vector<Answer> answers;
    for (std::uint64_t i = 0; i < batches; ++i) answers.push_back(add_number(model, i));
    return answers;
}

Result<std::unique_ptr<DiskSet>> open(fs::path const& directory, io::Faults* faults = nullptr) {
    return DiskSet::open({.directory = directory, .memory = 1 * MiB, .latest_least = 150, .faults = faults});
}

std::string bytes_of(fs::path const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}
void write(fs::path const& file, std::string const& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

/// Fails the operation with this number; reads are not counted.
class OneFault : public io::Faults {
public:
    explicit OneFault(int at) : left_(at) {}
    Verdict judge(Operation operation, Bytes, std::size_t size) override {
        if (operation == Operation::read || left_ == 0 || --left_ > 0) return {};
        return happens(operation, size);
    }
    bool happened() const { return left_ == 0; }

protected:
    virtual Verdict happens(Operation, std::size_t size) = 0;

private:
    int left_;
};

class Kill : public OneFault {
public:
    using OneFault::OneFault;
    Verdict happens(Operation, std::size_t) override {
        ::kill(::getpid(), SIGKILL);
        return {};
    }
};

class Refuse : public OneFault {
public:
    using OneFault::OneFault;
    Verdict happens(Operation operation, std::size_t size) override {
        if (operation == Operation::write) return {.error = ENOSPC, .at_most = size / 2};
        return {.error = EIO};
    }
};

constexpr std::uint64_t many = 16;

/// A child process adds batches until it dies at that operation. Returns the number of acknowledged batches, and if it survived.
struct Died {
    std::uint64_t acknowledged = 0;
    bool finished = false;
};
Died die_at(int operation, fs::path const& directory) {
    int pipe[2];
    EXPECT_EQ(::pipe(pipe), 0);
    auto const child = ::fork();
    if (child == 0) {
        Kill kill(operation);
        auto opened = open(directory, &kill);
        for (std::uint64_t i = 0; opened && i < many; ++i)
            if (!add_number(**opened, i).added.fault.empty() || ::write(pipe[1], "a", 1) != 1) ::_exit(2);
        ::_exit(opened ? 0 : 3);
    }
    ::close(pipe[1]);
    Died died;
    char byte;
    while (::read(pipe[0], &byte, 1) == 1) ++died.acknowledged;
    ::close(pipe[0]);
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << status;
    died.finished = WIFEXITED(status);
    return died;
}

TEST(DiskSet, a_kill_at_any_write_loses_nothing_acknowledged_and_takes_no_batch_in_half) {
    auto const right = right_answers(many);
    int operation = 1;
    for (Died died; !died.finished; ++operation) {
        ASSERT_LT(operation, 1'000);
        Folder folder;
        died = die_at(operation, folder.path("set"));
        auto opened = open(folder.path("set"));
        ASSERT_TRUE(opened) << operation << ": " << opened.fault_text();
        for (std::uint64_t i = 0; i < died.acknowledged; ++i)
            ASSERT_EQ(add_number(**opened, i).added.fresh, 0u) << operation << ", batch " << i;
        if (died.acknowledged == many) continue;
        // The batch in progress at the crash.
        auto const again = add_number(**opened, died.acknowledged);
        if (again.added.fresh > 0) ASSERT_EQ(again.is_new, right[died.acknowledged].is_new) << operation;
        for (auto i = died.acknowledged + 1; i < many; ++i)
            ASSERT_EQ(add_number(**opened, i).is_new, right[i].is_new) << operation << ", batch " << i;
    }
    EXPECT_GT(operation, 60);   // there were many operations
}

TEST(DiskSet, what_cannot_be_written_is_refused_whole_and_can_be_added_again) {
    auto const right = right_answers(many);
    for (int operation = 1;; ++operation) {
        ASSERT_LT(operation, 1'000);
        Folder folder;
        Refuse refuse(operation);
        auto opened = open(folder.path("set"), &refuse);
        if (!opened) {
            EXPECT_NE(opened.fault_text(), "");
            opened = open(folder.path("set"));
        }
        ASSERT_TRUE(opened) << opened.fault_text();
        for (std::uint64_t i = 0; i < many; ++i) {
            auto answer = add_number(**opened, i);
            if (!answer.added.fault.empty()) {
                EXPECT_TRUE(refuse.happened());
                answer = add_number(**opened, i);
            }
            if (!answer.added.fault.empty()) {   // the set has failed for good: a newly opened one has all acknowledged URLs
                (*opened).reset();
                opened = open(folder.path("set"));
                ASSERT_TRUE(opened) << opened.fault_text();
                answer = add_number(**opened, i);
            }
            ASSERT_EQ(answer.added.fault, "");
            ASSERT_EQ(answer.is_new, right[i].is_new) << operation << ", batch " << i;
        }
        if (!refuse.happened()) return;
    }
}

TEST(DiskSet, is_the_same_when_opened_again) {
    Folder folder;
    auto const right = right_answers(40);
    for (std::uint64_t i = 0; i < 40; ++i) {
        auto opened = open(folder.path("set"));
        ASSERT_TRUE(opened) << opened.fault_text();
        ASSERT_EQ(add_number(**opened, i).is_new, right[i].is_new) << i;
        if (i % 7 == 0) EXPECT_EQ((*opened)->sync(), "");
        if (i % 10 == 9) EXPECT_EQ((*opened)->merge(), "");
    }
}

TEST(DiskSet, has_one_owner_at_a_time) {
    Folder folder;
    auto first = open(folder.path("set"));
    ASSERT_TRUE(first);
    auto second = open(folder.path("set"));
    EXPECT_FALSE(second);
    EXPECT_NE(second.fault_text().find("in use"), std::string::npos) << second.fault_text();
    (*first).reset();
    EXPECT_TRUE(open(folder.path("set")));
}

class CountSyncs : public io::Faults {
public:
    Verdict judge(Operation operation, Bytes, std::size_t) override {
        count += operation == Operation::sync;
        return {};
    }
    int count = 0;
};

TEST(DiskSet, syncs_what_a_process_before_it_has_left_to_the_system) {
    Folder folder;
    add_number(**open(folder.path("set")), 1);   // answered without a sync
    CountSyncs syncs;
    auto const again = open(folder.path("set"), &syncs);
    auto const before = syncs.count;
    EXPECT_GE(before, 1) << "the directory";
    EXPECT_EQ((*again)->sync(), "");
    EXPECT_EQ(syncs.count, before + 1) << "the log";
    EXPECT_EQ((*again)->sync(), "");
    EXPECT_EQ(syncs.count, before + 1) << "once";
}

TEST(MercatorFile, syncs_its_directory_after_a_batch_and_after_a_restart) {
    Folder folder;
    CountSyncs syncs;
    for (int start = 0; start < 2; ++start) {
        auto const opened = MercatorFile::open({.directory = folder.path("set"), .faults = &syncs});
        ASSERT_TRUE(opened) << opened.fault_text();
        auto const before = syncs.count;
        EXPECT_EQ((*opened)->sync(), "");
        EXPECT_EQ(syncs.count, before + 1);
        EXPECT_EQ((*opened)->sync(), "");
        EXPECT_EQ(syncs.count, before + 1);
        add_number(**opened, static_cast<std::uint64_t>(start));
        EXPECT_EQ((*opened)->sync(), "");
        EXPECT_EQ(syncs.count, before + 3) << "the file, then its name";
    }
}

TEST(DiskSet, a_log_that_ends_in_the_middle_of_its_last_record_lacks_that_one_only) {
    Folder folder;
    Bytes whole = 0;
    {
        auto opened = open(folder.path("set"));
        add_number(**opened, 0);
        whole = fs::file_size(folder.path("set/log.1"));
        add_number(**opened, 1);
    }
    auto const right = right_answers(2);
    auto const bytes = bytes_of(folder.path("set/log.1"));
    for (auto size = whole; size < bytes.size(); size += size < whole + 24 ? 1 : 37) {
        for (bool zeros : {false, true}) {
            auto cut = bytes.substr(0, size);
            if (zeros) cut = bytes.substr(0, whole) + std::string(size - whole, '\0');
            write(folder.path("set/log.1"), cut);
            auto opened = open(folder.path("set"));
            ASSERT_TRUE(opened) << size << ": " << opened.fault_text();
            EXPECT_EQ(add_number(**opened, 0).added.fresh, 0u) << size;
            EXPECT_EQ(add_number(**opened, 1).is_new, right[1].is_new) << size;
        }
    }
}

TEST(DiskSet, a_log_with_a_hole_is_refused_and_whole_again_where_the_fault_says_to_cut_it) {
    Folder folder;
    Bytes whole = 0;
    auto const log = folder.path("set/log.1");
    {
        auto opened = open(folder.path("set"));
        add_number(**opened, 0);
        whole = fs::file_size(log);
        add_number(**opened, 1);
    }
    auto const right = right_answers(2);
    auto holed = bytes_of(log);
    holed.replace(whole + 40, 80, std::string(80, '\0'));
    write(log, holed);
    auto const fault = open(folder.path("set")).fault_text();
    EXPECT_NE(fault.find("truncate -s " + std::to_string(whole) + " " + log.string()), std::string::npos) << fault;
    fs::resize_file(log, whole);
    auto opened = open(folder.path("set"));
    ASSERT_TRUE(opened) << opened.fault_text();
    EXPECT_EQ(add_number(**opened, 0).added.fresh, 0u);
    EXPECT_EQ(add_number(**opened, 1).is_new, right[1].is_new);
}

TEST(DiskSet, every_damaged_byte_is_named_or_does_not_matter) {
    Folder folder;
    {
        auto opened = open(folder.path("good"));
        for (std::uint64_t i = 0; i < 6; ++i) add_number(**opened, i);
        ASSERT_EQ((*opened)->merge(), "");
        add_number(**opened, 6), add_number(**opened, 7);
    }
    auto const right = right_answers(9);
    for (auto const& entry : fs::directory_iterator(folder.path("good"))) {
        auto const name = entry.path().filename().string();
        if (name == "lock") continue;
        auto const bytes = bytes_of(entry.path());
        // Every byte of the heads, and a sample of the rest.
        for (std::size_t at = 0; at < bytes.size(); at += at < 100 ? 1 : 41) {
            fs::remove_all(folder.path("bad"));
            fs::copy(folder.path("good"), folder.path("bad"));
            auto damaged = bytes;
            damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
            write(folder.path("bad") / name, damaged);
            auto opened = open(folder.path("bad"));
            std::string fault = opened.fault_text();
            for (std::uint64_t i = 0; opened && fault.empty() && i < 8; ++i) {
                auto const answer = add_number(**opened, i);
                fault = answer.added.fault;
                if (fault.empty()) ASSERT_EQ(answer.added.fresh, 0u) << name << " at byte " << at;
            }
            if (fault.empty())
                ADD_FAILURE() << name << " at byte " << at << " was damaged without an error";
            else
                EXPECT_NE(fault.find(name), std::string::npos) << fault;
        }
    }
}

TEST(DiskSet, a_missing_file_is_named) {
    for (std::string const name : {"manifest", "run.1", "log.2"}) {
        Folder folder;
        {
            auto opened = open(folder.path("set"));
            add_number(**opened, 0);
            ASSERT_EQ((*opened)->merge(), "");
            add_number(**opened, 1);
        }
        ASSERT_TRUE(fs::remove(folder.path("set") / name)) << name;
        auto const opened = open(folder.path("set"));
        EXPECT_FALSE(opened) << name;
        EXPECT_NE(opened.fault_text().find(name), std::string::npos) << opened.fault_text();
    }
}

TEST(DiskSet, takes_hardly_more_than_it_must_when_merged) {
    Folder folder;
    auto opened = DiskSet::open({.directory = folder.path("set")});
    ASSERT_TRUE(opened) << opened.fault_text();
    constexpr std::uint64_t entries = 300'000;
    std::vector<Fingerprint> urls;
    for (std::uint64_t i = 0; i < entries; ++i) urls.push_back((i + 1) * 0xd1342543de82ef95);
    for (std::uint64_t i = 0; i < 2 * entries; ++i) urls.push_back(urls[i / 2]);   // two thirds of the batch are repeats
    std::vector<std::uint8_t> is_new(urls.size());
    EXPECT_EQ((*opened)->add(urls, is_new).fresh, entries);
    ASSERT_EQ((*opened)->merge(), "");
    EXPECT_EQ((*opened)->add(urls, is_new).fresh, 0u);
    // log2 C(2^64, n) / n
    auto const bound = 64 - std::log2(static_cast<double>(entries)) + 1 / std::log(2.0);
    EXPECT_LT((*opened)->bits_per_entry(), bound * 1.015);
}

}   // namespace
}   // namespace garner::crawl
