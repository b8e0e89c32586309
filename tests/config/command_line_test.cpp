#include "config/command_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "config/check_command.hpp"
#include "support.hpp"

namespace garner::config {
namespace {

using Command = CommandLine::Command;
using testing::HasSubstr;

CommandLine parse(std::vector<char const*> const& arguments) { return parse_command_line(arguments); }

TEST(CommandLine, nothing_starts_the_proxy) {
    auto const line = parse({});
    EXPECT_EQ(line.command, Command::run);
    EXPECT_EQ(line.config_file, "");
}

TEST(CommandLine, options_of_a_start) {
    auto const line = parse({"--config", "a.json", "--set", "workers=2", "--set=log.access=-"});
    EXPECT_EQ(line.command, Command::run);
    EXPECT_EQ(line.config_file, "a.json");
    EXPECT_EQ(line.sets, (std::vector<std::string>{"workers=2", "log.access=-"}));
}

TEST(CommandLine, subcommands) {
    auto const check = parse({"check", "a.json", "--set", "a=b"});
    EXPECT_EQ(check.command, Command::check);
    EXPECT_EQ(check.config_file, "a.json");
    EXPECT_EQ(check.sets.size(), 1u);
    EXPECT_EQ(parse({"check", "--config", "a.json"}).config_file, "a.json");
    auto const purge = parse({"--config", "a.json", "purge", "http://example.com/"});
    EXPECT_EQ(purge.command, Command::purge);
    EXPECT_EQ(purge.url, "http://example.com/");
    EXPECT_EQ(purge.config_file, "a.json");
    EXPECT_EQ(parse({"stats"}).command, Command::stats);
    EXPECT_FALSE(parse({"stats"}).what_if);
    EXPECT_TRUE(parse({"stats", "--what-if"}).what_if);
    EXPECT_EQ(parse({"peers"}).command, Command::peers);
    EXPECT_FALSE(parse({"peers"}).rebuild_digest);
    EXPECT_TRUE(parse({"peers", "--json"}).json);
    EXPECT_TRUE(parse({"--rebuild-digest", "peers"}).rebuild_digest);
    auto const explain = parse({"explain", "http://example.com/", "-H", "Accept: a=b", "-X", "HEAD", "-H", "Range: bytes=0-",
                                "--client=10.0.0.1", "--accelerator", "--json"});
    EXPECT_EQ(explain.command, Command::explain);
    EXPECT_EQ(explain.url, "http://example.com/");
    EXPECT_EQ(explain.fields, (std::vector<std::string>{"Accept: a=b", "Range: bytes=0-"}));
    EXPECT_EQ(explain.method, "HEAD");
    EXPECT_EQ(explain.client, "10.0.0.1");
    EXPECT_TRUE(explain.accelerator);
    EXPECT_TRUE(explain.json);
    EXPECT_EQ(parse({"explain", "https://a/"}).method, "") << "the URL decides";
    EXPECT_EQ(parse({"explain", "example.com:443", "-X", "CONNECT"}).url, "https://example.com:443/");
    EXPECT_EQ(parse({"check", "--", "--help"}).config_file, "--help");
}

TEST(CommandLine, cache_and_what_it_does) {
    using Words = std::vector<std::string>;
    auto const ls = parse({"cache", "ls", "--json", "--config", "a.json"});
    EXPECT_EQ(ls.command, Command::cache);
    EXPECT_EQ(ls.rest, Words{"ls"});
    EXPECT_TRUE(ls.json);
    EXPECT_EQ(ls.config_file, "a.json");
    EXPECT_EQ(parse({"cache", "ls", "*.jpg"}).rest, (Words{"ls", "*.jpg"}));
    EXPECT_EQ(parse({"cache", "--set", "disk.path=/x", "stats"}).rest, Words{"stats"});
    EXPECT_EQ(parse({"cache", "purge", "http://example.com/"}).rest, (Words{"purge", "http://example.com/"}));
    EXPECT_EQ(parse({"cache", "verify"}).rate, 100 * MiB);
    EXPECT_EQ(parse({"cache", "verify", "--rate", "20 MB"}).rate, 20'000'000u);
    EXPECT_EQ(parse({"cache", "verify", "--rate=0"}).rate, 0u);
    EXPECT_THAT(parse({"cache", "--help"}).text, HasSubstr("garner cache ls [PATTERN] | stats | verify | purge PATTERN"));
    EXPECT_THAT(parse({"cache", "purge", "--help"}).text, HasSubstr("PATTERN is a prefix of URLs"));
}

TEST(CommandLine, help_everywhere) {
    EXPECT_THAT(parse({"--help"}).text, HasSubstr("garner check [FILE]"));
    EXPECT_THAT(parse({"explain", "--help"}).text, HasSubstr("Usage: garner explain URL [options]"));
    EXPECT_EQ(parse({"-h"}).command, Command::help);
    EXPECT_EQ(parse({"check", "--help"}).command, Command::help);
    EXPECT_THAT(parse({"purge", "x", "--help"}).text, HasSubstr("Usage: garner purge [URL]"));
    EXPECT_THAT(parse({"--version"}).text, HasSubstr("garner "));
}

TEST(CommandLine, faults_are_clear) {
    struct Row {
        std::vector<char const*> arguments;
        char const* told;
    };
    for (Row const& row :
         {Row{{"chekc"}, "unknown command \"chekc\"; did you mean check?"},
          Row{{"--confg=a"}, "unknown option --confg=a; did you mean --config?"},
          Row{{"--config"}, "--config needs a value"},
          Row{{"explain"}, "explain needs a URL"},
          Row{{"stats", "--json"}, "--json is for garner quota, garner explain, garner peers, garner group, garner cache"},
          Row{{"--json"}, "--json is for garner quota, garner explain"},
          Row{{"stats", "--rebuild-digest"}, "--rebuild-digest is for garner peers"},
          Row{{"peers", "--rebuild-digset"}, "did you mean --rebuild-digest?"},
          Row{{"peers", "campus"}, "peers takes no \"campus\""},
          Row{{"purge", "http://a/", "--what-if"}, "--what-if is for garner stats"},
          Row{{"--what-if"}, "--what-if is for garner stats"},
          Row{{"stats", "--what-if=1"}, "--what-if takes no value"},
          Row{{"explain", "http://a/", "-H"}, "-H needs a value"},
          Row{{"explain", "http://a/", "--json=1"}, "--json takes no value"},
          Row{{"cache"}, "cache needs one of ls, stats, verify and purge"},
          Row{{"cache", "list"}, "cache has no command \"list\"; it takes ls, stats, verify or purge"},
          Row{{"cache", "prge", "x"}, "did you mean purge?"},
          Row{{"cache", "purge"}, "cache purge needs a PATTERN"},
          Row{{"cache", "purge", ""}, "cache purge needs a PATTERN"},
          Row{{"cache", "purge", "a", "b"}, "cache purge takes no \"b\""},
          Row{{"cache", "stats", "all"}, "cache stats takes no \"all\""},
          Row{{"cache", "ls", "--rate", "5MiB"}, "--rate is for garner cache verify"},
          Row{{"cache", "verify", "--rate", "fast"}, "--rate fast: write it like --rate 50MiB"},
          Row{{"cache", "ls", "--what-if"}, "--what-if is for garner stats"},
          Row{{"--config", "a", "--config", "b"}, "given twice"},
          Row{{"--set", "workers"}, "--set workers: write --set KEY=VALUE"},
          Row{{"check"}, "check needs a FILE"},
          Row{{"check", "a", "--config", "b"}, "check takes one FILE, with or without --config"},
          Row{{"check", "a", "b"}, "check takes no \"b\""},
          Row{{"stats", "all"}, "stats takes no \"all\""},
          Row{{"purge", "example"}, "\"example\" is not a URL"},
          Row{{"purge", ""}, "purge takes one of URL, --prefix, --tag, --all and -"}}) {
        auto const line = parse(row.arguments);
        EXPECT_EQ(line.command, Command::wrong);
        EXPECT_THAT(line.text, HasSubstr(row.told));
    }
}

TEST(CheckCommand, a_good_file_says_nothing) {
    for (auto const* file : {"etc/garner.json", "etc/garner-campus.json"}) {
        std::ostringstream out;
        EXPECT_EQ(check_command((repository() / file).string(), {}, out), 0) << file;
        EXPECT_EQ(out.str(), "") << file;
    }
}

TEST(CheckCommand, faults_and_notices_are_lines) {
    std::ostringstream out;
    std::vector<std::string> const sets{"memory.szie=1", "disk.path=/nonexistent/store"};
    EXPECT_EQ(check_command((repository() / "etc/garner.json").string(), sets, out), 1);
    EXPECT_EQ(out.str(), "--set memory.szie: unknown key (did you mean memory.size?)\n"
                         "--set disk.path: notice: \"/nonexistent\" cannot be written: No such file or directory "
                         "(give the user that runs garner write access; until then nothing is stored on disk)\n");
}

}   // namespace
}   // namespace garner::config
