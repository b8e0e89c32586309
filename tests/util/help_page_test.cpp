#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "util/command_form.hpp"
#include "util/completion.hpp"

namespace garner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// A program with two groups, a topic, and a command that reads its own command line.
CommandDescription keeper() {
    std::string name, format, secret;
    std::vector<std::string> rest;
    bool all = false;
    CommandForm form("keep", "Keeps files.\nIt runs until it is stopped.");
    form.group("run").subcommand_optional().option("--place DIR", "directory of the files", name);
    form.subcommand("show", "Prints a file.", {})
        .group("inspect")
        .operand("FILE", name)
        .option("-f,--format NAME", "text or hex", format)
        .values({"text", "hex"})
        .option("--secret WORD", "", secret)
        .flag("--all", "shows the owner's notes too", all)
        .exit_statuses({{0, "printed"}, {1, "no such file"}})
        .examples({"keep show a", "keep show b --all"});
    form.subcommand("sort", {}, {}, &rest).own_form([](CommandForm::Use const& use) {
        std::string order;
        CommandForm sort("keep sort", "Sorts files.");
        sort.group("inspect")
            .option("--by KEY,...", "name, size", order)
            .values({"name", "size"})
            .topic("orders", "Orders:\n  by name\n");
        use(sort);
    });
    return form.describe();
}

TEST(HelpPage, lines_are_broken_at_spaces) {
    EXPECT_THAT(wrapped("one two three", 9), ElementsAre("one two", "three"));
    EXPECT_THAT(wrapped("one two", 7), ElementsAre("one two"));
    EXPECT_THAT(wrapped("  a\n\nlongerthanaline b", 5), ElementsAre("  a", "", "longerthanaline", "b"));
    EXPECT_THAT(wrapped("", 5), ElementsAre(""));
}

TEST(HelpPage, a_page_ends_with_exit_statuses_and_examples) {
    EXPECT_EQ(help_page(*keeper().find("show")), "Usage: keep show FILE [options]\n"
                                                 "\n"
                                                 "Prints a file.\n"
                                                 "\n"
                                                 "Options:\n"
                                                 "  -f,--format NAME  text or hex\n"
                                                 "  --all             shows the owner's notes too\n"
                                                 "  --place DIR       directory of the files\n"
                                                 "  -h,--help         prints this text\n"
                                                 "\n"
                                                 "Exit status: 0 printed, 1 no such file.\n"
                                                 "\n"
                                                 "Examples:\n"
                                                 "  keep show a\n"
                                                 "  keep show b --all\n");
}

TEST(HelpPage, the_overview_has_a_line_for_each_command) {
    EXPECT_EQ(overview(keeper()), "Usage: keep [COMMAND] [options]\n"
                                  "run      keep            Keeps files.\n"
                                  "inspect  keep show FILE  Prints a file.\n"
                                  "         keep sort       Sorts files.\n"
                                  "keep help COMMAND prints the options of a command and two examples. Topics: orders.\n");
}

TEST(HelpPage, a_command_or_topic_is_found_by_its_name) {
    auto const program = keeper();
    auto const about = [&](std::vector<std::string> const& words) { return help_about(program, words); };
    EXPECT_EQ(about({}).text, overview(program));
    EXPECT_EQ(about({"sort"}).text, help_page(*program.find("sort")));
    EXPECT_EQ(about({"orders"}).text, "Orders:\n  by name\n");
    EXPECT_EQ(about({"sotr"}).fault, "unknown command \"sotr\"; did you mean sort?");
    EXPECT_EQ(about({"sort", "orders"}).fault, "unknown command \"orders\"");
}

TEST(Completion, scripts_have_every_command_option_and_value) {
    auto const bash = bash_completion(keeper());
    EXPECT_THAT(bash, HasSubstr("'keep show -f' | 'keep show --format' | 'keep show --place' | 'keep sort --by') option=$word"));
    EXPECT_THAT(bash, HasSubstr("'keep show' | 'keep sort') command+=\" $word\""));
    EXPECT_THAT(bash, HasSubstr("'keep show') kind=words words='-f --format --all --place -h --help' ;;"));
    EXPECT_THAT(bash, HasSubstr("'keep ') kind=words words='show sort' ;;"));
    EXPECT_THAT(bash, HasSubstr("'keep show ') kind=file ;;"));
    EXPECT_THAT(bash, HasSubstr("'keep --place') kind=directory ;;"));
    EXPECT_THAT(bash, HasSubstr("'keep sort --by') kind=list words='name size' ;;"));
    EXPECT_THAT(bash, Not(HasSubstr("secret")));
    auto const zsh = zsh_completion(keeper());
    EXPECT_THAT(zsh, HasSubstr("('keep ') kind=words; proposals=('show:Prints a file.' 'sort:Sorts files.') ;;"));
    EXPECT_THAT(zsh, HasSubstr("'--all:shows the owner'\\''s notes too'"));
    EXPECT_THAT(zsh, Not(HasSubstr("@NAME@")));
}

}   // namespace
}   // namespace garner
