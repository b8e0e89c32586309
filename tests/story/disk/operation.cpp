// Operation: garner cache on a running proxy and on a closed store, and the lock on the store.
#include <algorithm>
#include <fstream>

#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

using Words = std::vector<std::string>;

/// The number of lines; commands print one per item.
std::size_t lines(std::string const& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

class Operation : public DiskScene {
protected:
    /// garner cache on the running proxy.
    Finished cache(Words const& words) { return garner(words, {"--config", proxy().dir().path("garner.json").string()}); }
    /// garner cache on the store of a stopped proxy.
    Finished cache_at_rest(Words const& words) {
        return garner(
            words, {"--set", "disk.path=" + folder().string(), "--set", "admin.address=127.0.0.1:" + std::to_string(free_port())});
    }
    std::string url(std::size_t number) { return origin().url(Library::path(number)); }

private:
    static Finished garner(Words const& words, Words const& where) {
        Words all{garner_binary(), "cache"};
        all.insert(all.end(), words.begin(), words.end());
        all.insert(all.end(), where.begin(), where.end());
        return run(all);
    }
};

}   // namespace

TEST_F(Operation, explain_reads_what_is_on_disk) {
    origin().answer("/film",
                    {.status = 206,
                     .fields = {{"Content-Range", "bytes 100-199/100000"}, {"Cache-Control", "max-age=600"}, {"ETag", "\"1\""}},
                     .body = pattern(100)});
    origin().answer("/language", fresh("hello", 600, {{"Vary", "Accept-Language"}}));
    origin().answer("/old", fresh("old", 0, {{"ETag", "\"1\""}}));
    start();
    ask("/1");
    get(proxy(), origin(), "/language", {{"Accept-Language", "en"}}).body();
    get(proxy(), origin(), "/old").body();
    get(proxy(), origin(), "/film", {{"Range", "bytes=100-199"}}).body();
    wait_until_written(4);
    stop();
    start();
    auto const explained = [&](std::string const& path, Words const& more = {}) {
        Words words{garner_binary(), "explain",  origin().url(path),
                    "--json",        "--config", proxy().dir().path("garner.json").string()};
        words.insert(words.end(), more.begin(), more.end());
        return nlohmann::json::parse(run(words).output);
    };
    auto told = explained("/1");
    EXPECT_EQ(told["outcome"], "hit") << told;
    EXPECT_EQ(told["on_disk"], "yes");
    EXPECT_EQ(told["stored"]["tier"], "disk");
    EXPECT_EQ(told["stored"]["body_bytes"], Library::body("/1", 1).size());
    EXPECT_GT(told["freshness"]["ttl_seconds"], 90'000);
    EXPECT_EQ(explained("/language", {"-H", "Accept-Language: en"})["outcome"], "hit");
    told = explained("/language", {"-H", "Accept-Language: de"});
    EXPECT_EQ(told["outcome"], "miss");
    EXPECT_EQ(told["why"], "no stored variant matches this request");
    EXPECT_EQ(explained("/old")["outcome"], "revalidate");
    EXPECT_EQ(explained("/film", {"-H", "Range: bytes=120-130"})["status"], 206);
    told = explained("/film");
    EXPECT_EQ(told["outcome"], "miss");
    EXPECT_EQ(told["why"], "only parts of the object are stored");
    EXPECT_EQ(told["parts"]["stored_bytes"], 100);
    EXPECT_EQ(explained("/none")["on_disk"], "no");
    EXPECT_EQ(figure("hits"), 0u) << "explain does not count as a use";
    EXPECT_TRUE(get(proxy(), origin(), "/1").hit()) << "as explain said";
    EXPECT_EQ(explained("/1")["stored"]["tier"], "memory");
}

TEST_F(Operation, ls_is_the_same_of_a_proxy_that_runs_and_of_its_store_at_rest) {
    start();
    ask_all(some);
    auto const running = cache({"ls"});
    EXPECT_EQ(running.code, 0) << running.errors;
    EXPECT_EQ(lines(running.output), some) << running.output;
    EXPECT_THAT(running.output, HasSubstr("  200 "));
    for (std::size_t i = 0; i < some; ++i) EXPECT_THAT(running.output, HasSubstr("  " + url(i) + "\n"));
    EXPECT_EQ(lines(cache({"ls", url(1)}).output), 11u) << "/1 and /10 to /19";
    auto const one = nlohmann::json::parse(cache({"ls", "*/12", "--json"}).output);
    EXPECT_EQ(one["url"], url(12));
    EXPECT_EQ(one["body_bytes"], Library::body("/12", 1).size());
    EXPECT_GT(one["disk_bytes"], one["body_bytes"]);
    EXPECT_GT(one["fresh_seconds"], 90'000);
    stop();
    auto const at_rest = cache_at_rest({"ls", "--json"});
    EXPECT_EQ(at_rest.code, 0) << at_rest.errors;
    EXPECT_EQ(lines(at_rest.output), some);
    EXPECT_EQ(at_rest.errors, "");
    EXPECT_THAT(at_rest.output, HasSubstr("\"url\":\"" + url(17) + "\""));
    start();
    EXPECT_EQ(ask_all(some), some) << "listing does not change the store";
}

TEST_F(Operation, purge_by_a_pattern_leaves_neither_tier_and_nothing_comes_back) {
    start();
    ask_all(some);
    auto const purged = cache({"purge", url(1)});
    EXPECT_EQ(purged.code, 0) << purged.errors;
    EXPECT_EQ(purged.output, "purged 11 objects\n");
    kill();
    library().renew_all();
    start();
    for (std::size_t i = 0; i < some; ++i) {
        bool const gone = i == 1 || (i >= 10 && i < 20);
        EXPECT_EQ(ask(Library::path(i)), gone ? 2 : 1) << i;
    }
    EXPECT_EQ(cache({"purge", "http://nowhere.example/"}).code, 1);
}

TEST_F(Operation, purge_at_rest_holds_for_the_proxy_that_starts_then) {
    start();
    ask_all(some);
    stop();
    auto const purged = cache_at_rest({"purge", url(3), "--json"});
    EXPECT_EQ(purged.code, 0) << purged.errors;
    EXPECT_EQ(nlohmann::json::parse(purged.output)["purged"], 3) << "/3, /30, /31";
    library().renew_all();
    start();
    EXPECT_EQ(ask("/3"), 2);
    EXPECT_EQ(ask("/4"), 1);
}

TEST_F(Operation, verify_finds_what_was_damaged_and_ends_with_1) {
    start();
    ask_all(some);
    auto good = cache({"verify", "--rate", "0"});
    EXPECT_EQ(good.code, 0) << good.errors;
    EXPECT_THAT(good.output, HasSubstr("checked: none damaged"));
    stop();
    EXPECT_EQ(cache_at_rest({"verify"}).code, 0);
    // Changes a byte in the middle of a large body.
    auto const body = Library::body("/12", 1);
    auto bytes = read_file(file());
    auto const at = bytes.find(body.substr(body.size() / 2, 100));
    ASSERT_NE(at, bytes.npos);
    bytes[at] = static_cast<char>(bytes[at] ^ 1);
    std::ofstream(file(), std::ios::binary | std::ios::in).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    auto const bad = cache_at_rest({"verify"});
    EXPECT_EQ(bad.code, 1) << bad.output << bad.errors;
    EXPECT_THAT(bad.output, HasSubstr("1 damaged and removed"));
    library().renew_all();
    start();
    EXPECT_EQ(ask("/12"), 2);
    EXPECT_EQ(ask("/11"), 1);
}

TEST_F(Operation, stats_are_of_both_tiers_and_at_rest_of_the_disk) {
    start();
    ask_all(some);
    auto const running = cache({"stats"});
    EXPECT_THAT(running.output, StartsWith("Memory\n"));
    EXPECT_THAT(running.output, HasSubstr("\nDisk\n  state                        working\n"));
    EXPECT_EQ(nlohmann::json::parse(cache({"stats", "--json"}).output)["disk"]["stored"], some);
    stop();
    auto const at_rest = cache_at_rest({"stats"});
    EXPECT_EQ(at_rest.code, 0) << at_rest.errors;
    EXPECT_THAT(at_rest.output, StartsWith("Disk\n  state                        working\n"));
}

TEST_F(Operation, a_store_has_one_process_and_the_second_is_told_so) {
    start();
    ask_all(4);
    auto const second =
        run({garner_binary(), "--set", "disk.path=" + folder().string(), "--set",
             R"(listen=[{"address": "127.0.0.1:)" + std::to_string(free_port()) + R"("}])", "--set", "admin.address="});
    EXPECT_EQ(second.code, 1);
    EXPECT_THAT(second.errors, HasSubstr("not started: "));
    EXPECT_THAT(second.errors, HasSubstr("in use by another process"));
    // The error names the address at which no Garner replied.
    auto const blind = cache_at_rest({"ls"});
    EXPECT_EQ(blind.code, 1);
    EXPECT_THAT(blind.errors, HasSubstr("in use by another process"));
    EXPECT_THAT(blind.errors, HasSubstr("no Garner replies at 127.0.0.1:"));
    EXPECT_EQ(ask_all(4), 4u) << "the running process is not disturbed";
}

TEST_F(Operation, a_store_that_is_not_there_is_not_made_by_looking) {
    auto const nothing = cache_at_rest({"ls"});
    EXPECT_EQ(nothing.code, 1);
    EXPECT_THAT(nothing.errors, HasSubstr("there is no store at " + file().string()));
    EXPECT_FALSE(std::filesystem::exists(folder()));
}

TEST_F(Operation, after_a_kill_all_that_was_written_is_looked_at_and_purged) {
    start();
    ask_all(some);
    wait_until_written(some);
    kill();
    auto const listed = cache_at_rest({"ls"});
    EXPECT_EQ(lines(listed.output), some) << listed.output << listed.errors;
    EXPECT_EQ(cache_at_rest({"verify", "--rate", "0"}).code, 0);
    EXPECT_EQ(cache_at_rest({"purge", url(3)}).output, "purged 3 objects\n") << "/3, /30, /31";
    library().renew_all();
    start();
    EXPECT_EQ(ask("/3"), 2);
    EXPECT_EQ(ask("/4"), 1);
}

TEST_F(Operation, what_is_no_store_is_refused_by_name_and_left_alone) {
    std::filesystem::create_directories(folder());
    std::ofstream(file(), std::ios::binary) << pattern(100'000);
    for (Words const& words : {Words{"ls"}, Words{"verify"}, Words{"purge", "*"}}) {
        auto const refused = cache_at_rest(words);
        EXPECT_EQ(refused.code, 1);
        EXPECT_THAT(refused.errors, HasSubstr(file().string() + " exists, but is not a disk store"));
    }
    EXPECT_EQ(read_file(file()), pattern(100'000));
}

TEST_F(Operation, another_size_on_the_command_line_changes_no_store) {
    start();
    ask_all(some);
    stop();
    auto const size = std::filesystem::file_size(file());
    auto const listed = cache_at_rest({"ls", "--set", "disk.size=16MiB"});
    EXPECT_EQ(lines(listed.output), some) << listed.errors;
    EXPECT_EQ(lines(cache_at_rest({"ls", "--set", "disk.size=1GiB"}).output), some);
    EXPECT_EQ(std::filesystem::file_size(file()), size);
}

}   // namespace garner::test
