#include "admin/query_commands.hpp"

#include <unistd.h>

#include <sstream>

#include "admin/admin_client.hpp"
#include "admin/house.hpp"

namespace garner::admin {
namespace {

using testing::HasSubstr;

struct CommandOutcome {
    int code;
    std::string out;
    std::string err;
};

CommandOutcome run_command(Command const& command) {
    std::ostringstream out, err;
    int const code = run_command(command, out, err);
    return {code, out.str(), err.str()};
}

TEST(Commands, stats_prints_a_page_of_figures) {
    House house;
    auto const outcome = run_command({.port = house.port()});
    EXPECT_EQ(outcome.code, 0);
    EXPECT_EQ(outcome.err, "");
    EXPECT_THAT(outcome.out, HasSubstr("\nRequests\n  all                                0\n"));
    EXPECT_THAT(outcome.out, HasSubstr("\n  budget                      8.00 MiB\n"));
}

TEST(Commands, purge_removes_and_says_so) {
    test::Origin origin;
    origin.answer("/page?a=1&b=%20+", test::fresh("hello"));
    House house;
    auto const url = origin.url("/page?a=1&b=%20+");
    house.fetch(url).body();
    Command const command{.kind = Command::Kind::purge, .url = url, .port = house.port()};
    auto outcome = run_command(command);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "purged " + url + "\n");
    EXPECT_FALSE(house.fetch("http://" + origin.authority() + "/page?a=1&b=%20+").hit());
    run_command(command);
    outcome = run_command(command);
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "nothing is cached for " + url + "\n");
}

TEST(Commands, peers_tells_that_there_are_none_and_has_the_digest_built_anew) {
    House house;
    Command command{.kind = Command::Kind::peers, .port = house.port()};
    auto outcome = run_command(command);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "no peers: none are configured, or DNS has named no server for them\n");
    command.json = true;
    EXPECT_EQ(run_command(command).out, "[]\n");
    house.server().mesh().take_digest_wanted();
    command.rebuild_digest = true;
    outcome = run_command(command);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out, "the cache digest is being rebuilt\n");
}

TEST(Commands, an_unspecified_address_is_this_machine) {
    House house({.address = "0.0.0.0"});
    EXPECT_EQ(run_command({.address = "0.0.0.0", .port = house.port()}).code, 0);
}

TEST(Commands, nobody_there_is_said_with_a_mend) {
    auto const port = test::free_port();
    auto const outcome = run_command({.port = port});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "garner: no Garner replies at 127.0.0.1:" + std::to_string(port) +
                               ": connection refused; start it, or pass the --config FILE of the running proxy\n");
}

TEST(Commands, a_process_that_does_not_reply_is_not_advised_to_start) {
    auto const silent = test::listen_on("127.0.0.1");   // the kernel accepts, as for a stopped process
    auto const place = *place_at("127.0.0.1", silent.port);
    auto const answer = ask({.place = place, .method = "GET", .target = "/stats.json", .patience = milliseconds{200}}, "stats");
    ::close(silent.fd);
    ASSERT_FALSE(answer);
    EXPECT_THAT(answer.fault().text(), HasSubstr("no Garner replies at 127.0.0.1:" + std::to_string(silent.port) + " in time"));
    EXPECT_THAT(answer.fault().text(), HasSubstr("stopped or overloaded"));
    EXPECT_THAT(answer.fault().text(), Not(HasSubstr("; start it")));
}

TEST(Commands, somebody_else_there_is_noticed) {
    test::Origin other;
    other.answer("/stats.json", test::fresh("hello"));
    auto outcome = run_command({.port = other.port()});
    EXPECT_EQ(outcome.code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("is not Garner"));
    other.answer("/stats.json", {.status = 500, .body = "out of order"});
    EXPECT_THAT(run_command({.port = other.port()}).err, HasSubstr("replied 500: out of order\n"));
    other.raw("/stats.json", "220 mail.example ESMTP\r\n");
    EXPECT_THAT(run_command({.port = other.port()}).err, HasSubstr("no Garner replies at"));
    other.answer("/stats.json", test::fresh("{}"));
    EXPECT_THAT(run_command({.port = other.port()}).err, HasSubstr("is not Garner"));
}

TEST(Commands, what_is_no_URL_or_address_is_a_wrong_command) {
    EXPECT_EQ(run_command({.kind = Command::Kind::purge, .url = "page"}).code, 2);
    EXPECT_EQ(run_command({.address = "localhost"}).code, 2);
}

}   // namespace
}   // namespace garner::admin
