// Purges of other programs, passed from Redis to a group by the commands of docs/guides/groups.md.
#include <signal.h>

#include <sstream>
#include <thread>

#include "story/mesh/group_scene.hpp"
#include "support/child.hpp"
#include "support/places.hpp"
#include "support/programs.hpp"
#include "support/redis.hpp"

namespace garner::test {

namespace {

/// The commands of the guide, for these servers.
std::string commands_of_guide(RedisServer const& redis, std::uint16_t admin) {
    auto const guide = read_file(source("docs/guides/groups.md"));
    auto const begin = guide.find("while line=$(redis-cli ");
    if (begin == guide.npos) throw Trouble("docs/guides/groups.md has no commands for Redis");
    auto commands = guide.substr(begin, guide.find("```", begin) - begin);
    auto const replace = [&](std::string const& word, std::string const& by) {
        commands.replace(commands.find(word), word.size(), by);
    };
    replace("redis-cli ", "redis-cli -p " + std::to_string(redis.port()) + " ");
    replace("garner purge --group -", garner_binary() + " purge --group - --set admin.address=127.0.0.1:" + std::to_string(admin));
    return commands;
}

std::vector<std::string> lines_of(std::string const& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

}   // namespace

TEST(GroupRedis, purges_of_a_list_hold_at_all_members) {
    NEEDS("redis-server");
    NEEDS("redis-cli");
    RedisServer redis;
    Lab lab(3, 3);
    auto const url = [&](std::string const& path) { return lab.pages.origin().url(path); };
    std::vector<std::string> const paths{"/a", "/b", "/x/1"};
    for (std::size_t i = 0; i < lab.size(); ++i)
        for (auto const& path : paths) lab.ask(i, path);

    Child pipeline({"sh", "-c", commands_of_guide(redis, lab[1].admin())});
    lab.pages.renew();
    redis.tell({"RPUSH", "purges", url("/a"), "tag b", "prefix " + url("/x/"), "prefix nonsense"});
    EXPECT_TRUE(eventually([&] { return lines_of(pipeline.output()).size() == 4; })) << pipeline.output() << pipeline.errors();
    EXPECT_THAT(lines_of(pipeline.output()),
                ElementsAre(StartsWith("accepted URL " + url("/a") + ": stored by "), StartsWith("accepted tag b: stored by "),
                            StartsWith("accepted prefix " + url("/x/")), StartsWith("refused: ")));
    std::this_thread::sleep_for(2s);   // the lease
    for (std::size_t i = 0; i < lab.size(); ++i)
        for (auto const& path : paths) EXPECT_EQ(lab.ask(i, path), "version 2") << i << path;
    EXPECT_EQ(lines_of(redis.tell({"LRANGE", "purges:sent", "0", "-1"})).size(), 4u);
    EXPECT_EQ(redis.tell({"LLEN", "purges"}), "0");

    redis.child().signal(SIGTERM);
    EXPECT_EQ(pipeline.exit_code(), 2) << "that of garner purge with a wrong line";
}

}   // namespace garner::test
