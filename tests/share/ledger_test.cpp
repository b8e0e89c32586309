// The ledger of quotas: its text, its file, and its keeper.
#include "share/ledger.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "share/ledger_file.hpp"
#include "share/quota_keeper.hpp"
#include "share/subject.hpp"

namespace garner::share {
namespace {

namespace fs = std::filesystem;

struct Directory {
    Directory() {
        std::string name = (fs::temp_directory_path() / "ledger-XXXXXX").string();
        path = ::mkdtemp(name.data());
    }
    ~Directory() { fs::remove_all(path); }
    std::string file() const { return path + "/quotas"; }
    std::string path;
};

std::string text_in(std::string const& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

void write_text(std::string const& file, std::string_view text) { std::ofstream(file, std::ios::binary | std::ios::trunc) << text; }

std::vector<LedgerRow> some_rows(std::size_t count) {
    std::vector<LedgerRow> rows;
    for (std::size_t i = 0; i < count; ++i)
        rows.push_back({"guests of floor " + std::to_string(i % 3),
                        i == 0 ? std::string() : std::string("4\x0a\t \0%-\xff", 8) + std::to_string(i),
                        {.begin = 1'700'000'000, .bytes = i * 1'000'003, .requests = 7, .minutes = 3, .last_minute = 28'333'333}});
    return rows;
}

std::string text_of_rows(std::vector<LedgerRow> const& rows) {
    std::string text(ledger_head);
    for (auto const& row : rows) append_row(row, text);
    return text;
}

TEST(Ledger, has_every_row_again) {
    auto const rows = some_rows(50);
    auto const ledger = parse_ledger(text_of_rows(rows));
    EXPECT_TRUE(ledger.is_whole());
    EXPECT_EQ(ledger.rows, rows);
    EXPECT_TRUE(parse_ledger("").is_whole());
}

TEST(Ledger, torn_at_every_byte_loses_only_the_last_row) {
    auto const rows = some_rows(5);
    auto const text = text_of_rows(rows);
    for (std::size_t size = 0; size < text.size(); ++size) {
        auto const ledger = parse_ledger(std::string_view(text).substr(0, size));
        ASSERT_EQ(ledger.damaged, 0u) << size;
        auto const lines =
            static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(size), '\n'));
        ASSERT_EQ(ledger.rows.size(), lines == 0 ? 0 : lines - 1) << size;
        ASSERT_TRUE(std::equal(ledger.rows.begin(), ledger.rows.end(), rows.begin())) << size;
        ASSERT_EQ(ledger.torn_bytes > 0, size > 0 && text[size - 1] != '\n') << size;
    }
}

TEST(Ledger, a_changed_byte_costs_at_most_two_rows) {
    auto const rows = some_rows(5);
    auto const text = text_of_rows(rows);
    for (std::size_t i = 0; i < text.size(); ++i)
        for (int const change : {1, 0x20, 0x80}) {
            auto damaged = text;
            damaged[i] = static_cast<char>(damaged[i] ^ change);
            auto const ledger = parse_ledger(damaged);
            ASSERT_GE(ledger.rows.size(), rows.size() - 2) << i;
            ASSERT_FALSE(ledger.is_whole()) << i;
            for (auto const& row : ledger.rows) ASSERT_NE(std::find(rows.begin(), rows.end(), row), rows.end()) << i;
        }
}

TEST(Ledger, the_last_row_of_a_subject_counts) {
    auto rows = some_rows(4);
    auto later = rows[2];
    later.usage.bytes = 5;
    rows.push_back(later);
    auto const last = last_rows(rows);
    EXPECT_EQ(last.size(), 4u);
    EXPECT_NE(std::find(last.begin(), last.end(), later), last.end());
    rows[1].usage.last_minute = 1;
    EXPECT_EQ(last_rows(rows).front(), rows[1]) << "the longest idle";
}

// ---- the file ----

TEST(LedgerFile, appends_and_rewrites) {
    Directory const directory;
    auto const rows = some_rows(6);
    {
        LedgerFile file(directory.path + "/made");
        ASSERT_TRUE(file.open());
        ASSERT_TRUE(file.append({rows[0], rows[1]}));
        ASSERT_TRUE(file.append({rows[2]}));
    }
    LedgerFile file(directory.path + "/made");
    auto ledger = file.open();
    ASSERT_TRUE(ledger);
    EXPECT_EQ(ledger->rows, (std::vector<LedgerRow>{rows[0], rows[1], rows[2]}));
    ASSERT_TRUE(file.rewrite({rows[3]}));
    ASSERT_TRUE(file.append({rows[4]}));
    EXPECT_EQ(file.rows(), 2u);
    file.close();
    EXPECT_EQ(parse_ledger(text_in(directory.path + "/made/quotas")).rows, (std::vector<LedgerRow>{rows[3], rows[4]}));
}

TEST(LedgerFile, another_process_cannot_open_it) {
    Directory const directory;
    LedgerFile first(directory.path), second(directory.path);
    ASSERT_TRUE(first.open());
    auto const refused = second.open();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.fault().text().find("in use by another process"), std::string::npos);
    first.close();
    EXPECT_TRUE(second.open());
}

// ---- the keeper ----

QuotaRule of_day() {
    QuotaRule rule;
    rule.name = "guests";
    rule.bytes = 1'000'000;
    return rule;
}

Bytes used(Quotas const& quotas, std::string const& name) {
    return quotas.look_up("guests", subject_key(name), wall_now())->usage.bytes;
}

void charge(Quotas& quotas, std::string const& name, Bytes bytes) {
    quotas.find("guests", subject_key(name))->charge(bytes, wall_now());
}

struct Kept {
    explicit Kept(std::string const& directory, io::Faults* faults = nullptr) : keeper(quotas, directory, faults) {
        quotas.configure({of_day()});
        keeper.load();
    }
    LedgerFigures ledger() const { return quotas.figures().ledger; }
    Quotas quotas;
    QuotaKeeper keeper;
};

/// A process has kept 100 bytes of anna and ended.
void keep_100_of_anna(Directory const& directory) {
    Kept kept(directory.path);
    charge(kept.quotas, "anna", 100);
    kept.keeper.write();
}

TEST(QuotaKeeper, restores_what_was_used) {
    Directory const directory;
    {
        Kept kept(directory.path);
        kept.keeper.start();
        charge(kept.quotas, "anna", 300);
        charge(kept.quotas, "bert", 5);
    }   // its end writes
    Kept kept(directory.path);
    EXPECT_EQ(used(kept.quotas, "anna"), 300u);
    EXPECT_EQ(used(kept.quotas, "bert"), 5u);
    charge(kept.quotas, "anna", 100);
    kept.keeper.write();
    EXPECT_EQ(kept.ledger().rows, 1u) << "only what has changed";
    EXPECT_EQ(last_rows(parse_ledger(text_in(directory.file())).rows).size(), 2u);
}

TEST(QuotaKeeper, cuts_a_torn_end_and_goes_on) {
    Directory const directory;
    {
        Kept kept(directory.path);
        charge(kept.quotas, "anna", 300);
        kept.keeper.write();
        charge(kept.quotas, "bert", 300);
        kept.keeper.write();
    }
    auto const whole = text_in(directory.file());
    auto const first_rows = whole.rfind('\n', whole.size() - 2) + 1;
    for (auto size = first_rows + 1; size < whole.size(); ++size) {
        write_text(directory.file(), std::string_view(whole).substr(0, size));
        Kept kept(directory.path);
        ASSERT_EQ(used(kept.quotas, "anna"), 300u) << size;
        ASSERT_EQ(used(kept.quotas, "bert"), 0u) << size;
        ASSERT_EQ(kept.ledger().damaged, 1u) << size;
        kept.keeper.write();
        ASSERT_TRUE(parse_ledger(text_in(directory.file())).is_whole()) << size;
    }
}

TEST(QuotaKeeper, starts_with_any_bytes) {
    Directory const directory;
    std::mt19937 random(3);
    for (int round = 0; round < 200; ++round) {
        std::string bytes(random() % 3'000, '\0');
        for (auto& byte : bytes) byte = static_cast<char>(random());
        write_text(directory.file(), bytes);
        Kept kept(directory.path);
        charge(kept.quotas, "anna", 1);
        kept.keeper.write();
        ASSERT_EQ(kept.ledger().trouble, "");
        auto const ledger = parse_ledger(text_in(directory.file()));
        ASSERT_TRUE(ledger.is_whole());
        ASSERT_EQ(ledger.rows.size(), 1u);
    }
}

TEST(QuotaKeeper, rewrites_a_ledger_of_former_rows) {
    Directory const directory;
    Kept kept(directory.path);
    for (int i = 0; i < 1'200; ++i) {
        charge(kept.quotas, "anna", 1);
        kept.keeper.write();
    }
    EXPECT_EQ(kept.ledger().rewrites, 1u);
    EXPECT_LT(parse_ledger(text_in(directory.file())).rows.size(), 300u);
    EXPECT_EQ(last_rows(parse_ledger(text_in(directory.file())).rows).front().usage.bytes, 1'200u);
}

/// A disk that is full, or fails, while `error` is set.
struct BadDisk : io::Faults {
    Verdict judge(Operation operation, Bytes, std::size_t) override {
        if (error == 0 || (operation != Operation::write && operation != Operation::open)) return {};
        if (operation == Operation::open && !opens) return {.error = reads && ++opened % 2 == 0 ? 0 : error};
        if (operation != Operation::write) return {};
        // Each second write ends in the middle.
        return ++writes % 2 == 1 ? Verdict{.at_most = at_most} : Verdict{.error = error};
    }
    int error = 0, writes = 0, opened = 0;
    bool opens = true, reads = false;   // reads: each second open, which is not for writing, succeeds
    std::size_t at_most = 10;
};

TEST(QuotaKeeper, goes_on_while_the_disk_is_full_and_writes_all_afterwards) {
    Directory const directory;
    BadDisk disk;
    Kept kept(directory.path, &disk);
    charge(kept.quotas, "anna", 1);
    kept.keeper.write();
    disk.error = ENOSPC;
    for (int i = 0; i < 6; ++i) {
        charge(kept.quotas, "bert", 10);
        kept.keeper.write();
    }
    EXPECT_NE(kept.ledger().trouble.find("No space left"), std::string::npos) << kept.ledger().trouble;
    EXPECT_EQ(kept.ledger().failures, 6u);
    EXPECT_EQ(used(kept.quotas, "bert"), 60u);
    disk.error = 0;
    kept.keeper.write();
    EXPECT_EQ(kept.ledger().trouble, "");
    kept.keeper.stop();
    auto const rows = last_rows(parse_ledger(text_in(directory.file())).rows);
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[0].usage.bytes + rows[1].usage.bytes, 61u);
}

TEST(LedgerFile, a_failed_write_leaves_no_rows_behind_a_later_shorter_one) {
    Directory const directory;
    BadDisk disk;
    auto const rows = some_rows(8);
    LedgerFile file(directory.path, &disk);
    ASSERT_TRUE(file.open());
    ASSERT_TRUE(file.append({rows[0]}));
    disk.error = ENOSPC;
    disk.at_most = 400;
    EXPECT_FALSE(file.append({rows[1], rows[2], rows[3], rows[4], rows[5], rows[6]}));
    disk.error = 0;
    ASSERT_TRUE(file.append({rows[7]}));
    auto const ledger = parse_ledger(text_in(directory.file()));
    EXPECT_TRUE(ledger.is_whole());
    EXPECT_EQ(ledger.rows, (std::vector<LedgerRow>{rows[0], rows[7]}));
}

TEST(QuotaKeeper, reads_a_file_that_cannot_be_written_and_writes_it_later) {
    Directory const directory;
    keep_100_of_anna(directory);
    BadDisk disk;
    disk.error = EROFS;
    disk.opens = false;
    disk.reads = true;
    Kept kept(directory.path, &disk);
    EXPECT_NE(kept.ledger().trouble.find("Read-only file system"), std::string::npos) << kept.ledger().trouble;
    EXPECT_EQ(used(kept.quotas, "anna"), 100u);
    charge(kept.quotas, "anna", 11);
    kept.keeper.write();
    disk.error = 0;
    kept.keeper.write();
    EXPECT_EQ(kept.ledger().trouble, "");
    EXPECT_EQ(used(kept.quotas, "anna"), 111u);
    EXPECT_EQ(last_rows(parse_ledger(text_in(directory.file())).rows).front().usage.bytes, 111u);
}

TEST(QuotaKeeper, a_kill_at_any_moment_tears_at_most_the_last_row) {
    Directory const directory;
    std::mt19937 random(5);
    Bytes before = 0;
    for (int round = 0; round < 20; ++round) {
        auto const child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            Kept kept(directory.path);
            for (;;) {
                charge(kept.quotas, "anna", 1);
                kept.keeper.write();
            }
        }
        ::usleep(1'000 + random() % 60'000);
        ::kill(child, SIGKILL);
        ASSERT_EQ(::waitpid(child, nullptr, 0), child);
        auto const ledger = parse_ledger(text_in(directory.file()));
        ASSERT_EQ(ledger.damaged, 0u) << round;
        auto const last = last_rows(ledger.rows);
        auto const now = last.empty() ? 0 : last.front().usage.bytes;
        ASSERT_GE(now, before) << round;
        before = now;
    }
    EXPECT_GT(before, 100u);
}

TEST(QuotaKeeper, a_file_that_opens_late_is_added) {
    Directory const directory;
    keep_100_of_anna(directory);
    BadDisk disk;
    disk.error = EROFS;
    disk.opens = false;
    Kept kept(directory.path, &disk);
    EXPECT_NE(kept.ledger().trouble, "");
    charge(kept.quotas, "anna", 11);
    kept.keeper.write();
    EXPECT_EQ(used(kept.quotas, "anna"), 11u);
    disk.error = 0;
    kept.keeper.write();
    EXPECT_EQ(used(kept.quotas, "anna"), 111u);
    EXPECT_EQ(kept.ledger().trouble, "");
}

TEST(QuotaKeeper, without_a_path_keeps_nothing) {
    Kept kept("");
    kept.keeper.start();
    charge(kept.quotas, "anna", 100);
    kept.keeper.write();
    EXPECT_EQ(kept.ledger().rows, 0u);
    EXPECT_EQ(kept.ledger().path, "");
}

}   // namespace
}   // namespace garner::share
