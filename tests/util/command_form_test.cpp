#include "util/command_form.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace garner {
namespace {

using testing::HasSubstr;
using testing::Not;

/// A command with one option of each kind.
struct Sort {
    std::string input, order;
    std::uint32_t threads = 1;
    double share = 1;
    Bytes memory = 0;
    bool unique = false;

    CommandForm::Reading read(std::vector<std::string> const& words) {
        CommandForm form("tool sort", "Sorts lines.\nNeeds memory for all of them.");
        form.required("--input FILE", "the lines", input)
            .option("-o,--order NAME", "up or down", order)
            .option("--threads N", "default: 1", number_into(threads, 1u, 8u))
            .option("--share P", "of the lines", number_into(share, -1.0, 1.0))
            .option("--memory SIZE", "default: none", size_into(memory, 1 * KiB))
            .flag("--unique", "drops repeated lines", unique)
            .check([&] { return unique && order == "down" ? "--unique needs --order up" : ""; });
        return form.read(words);
    }
};

TEST(CommandForm, takes_values_in_every_form) {
    Sort sort;
    EXPECT_EQ(sort.read({"--input=-", "-o", "up", "--threads", "8", "--share", "-0.5", "--memory=2 KiB", "--unique"}).fault, "");
    EXPECT_EQ(sort.input, "-");
    EXPECT_EQ(sort.order, "up");
    EXPECT_EQ(sort.threads, 8u);
    EXPECT_EQ(sort.share, -0.5);
    EXPECT_EQ(sort.memory, 2 * KiB);
    EXPECT_TRUE(sort.unique);
    EXPECT_EQ(sort.read({"--input=a", "--input=[b,c]"}).fault, "");
    EXPECT_EQ(sort.input, "[b,c]") << "the last value counts and is not split";
}

TEST(CommandForm, names_the_error_and_a_fix) {
    Sort sort;
    auto const fault = [&](std::vector<std::string> const& words) { return sort.read(words).fault; };
    EXPECT_EQ(fault({}), "no input; give one with --input FILE");
    EXPECT_EQ(fault({"lines"}), "\"lines\" is no option; the input is given with --input FILE");
    EXPECT_EQ(fault({"--thread=2"}), "unknown option --thread=2; did you mean --threads?");
    EXPECT_EQ(fault({"--input=x", "--threads=9"}), "--threads: \"9\" is not a number from 1 to 8");
    EXPECT_EQ(fault({"--input=x", "--share=nan"}), "--share: \"nan\" is not a number from -1 to 1");
    EXPECT_EQ(fault({"--input=x", "--memory=1"}), "--memory: \"1\" is too little; at least 1 KiB");
    EXPECT_EQ(fault({"--input", "x", "-o"}), "-o needs a value");
    EXPECT_EQ(fault({"--input", ""}), "--input needs a value");
    EXPECT_EQ(fault({"--input=", "--unique"}), "--input needs a value") << "an empty variable of a shell takes no option";
    EXPECT_EQ(fault({"--unique=yes", "--input=x"}), "--unique takes no value");
    EXPECT_EQ(fault({"--input=x", "--unique", "--order=down"}), "--unique needs --order up");
}

TEST(CommandForm, prints_help_and_errors) {
    Sort sort;
    std::ostringstream out, err;
    EXPECT_EQ(sort.read({"--input=x", "--threads=0", "-h"}).print(out, err), 0);
    EXPECT_THAT(out.str(), HasSubstr("Usage: tool sort --input FILE [options]\n\nSorts lines.\n"));
    EXPECT_THAT(out.str(), HasSubstr("\n  -o,--order NAME  up or down\n  --threads N      default: 1\n"));
    EXPECT_EQ(err.str(), "");
    EXPECT_EQ(sort.read({"--input=x", "--threads=0"}).print(out, err), 2);
    EXPECT_EQ(err.str(), "tool sort: --threads: \"0\" is not a number from 1 to 8\nTry: tool sort --help\n");
    EXPECT_EQ(sort.read({"--input=x"}).print(out, err), std::nullopt);
}

/// A program with a command that has subcommands, and one that reads its own command line.
struct Tool {
    std::string chosen, name;
    std::vector<std::string> rest;
    bool all = false, quiet = false;

    CommandForm::Reading read(std::vector<std::string> const& words) {
        CommandForm form("tool", "Keeps files.");
        auto const is = [this](char const* word) { return [this, word] { chosen = word; }; };
        form.flag("--quiet", "prints nothing", quiet);
        auto& box = form.subcommand("box", "Opens a box.", {});
        box.subcommand("show", "prints it", is("show")).operand("[NAME]", name).flag("--all", "shows all", all);
        box.subcommand("drop", "removes it", is("drop")).operand("NAME", name);
        form.subcommand("sort", "Sorts lines.", is("sort"), &rest);
        return form.read(words);
    }
};

TEST(CommandForm, subcommands_take_the_options_above_them) {
    Tool tool;
    EXPECT_EQ(tool.read({"--all", "box", "show", "--quiet", "--", "--x"}).fault, "");
    EXPECT_EQ(tool.chosen, "show");
    EXPECT_EQ(tool.name, "--x");
    EXPECT_TRUE(tool.all);
    EXPECT_TRUE(tool.quiet);
    EXPECT_EQ(tool.read({"box", "drop", "show"}).fault, "");
    EXPECT_EQ(tool.name, "show") << "an operand may have the name of a subcommand";
    EXPECT_EQ(tool.read({"sort", "--quiet=1", "box", "--help"}).fault, "");
    EXPECT_EQ(tool.rest, (std::vector<std::string>{"--quiet=1", "box", "--help"}));
}

TEST(CommandForm, names_errors_of_subcommands) {
    Tool tool;
    auto const fault = [&](std::vector<std::string> const& words) { return tool.read(words).fault; };
    EXPECT_EQ(fault({}), "needs one of box and sort");
    EXPECT_EQ(fault({"bx"}), "unknown command \"bx\"; did you mean box?");
    EXPECT_EQ(fault({"box"}), "box needs one of show and drop");
    EXPECT_EQ(fault({"box", "open"}), "box has no command \"open\"; it takes show or drop");
    EXPECT_EQ(fault({"box", "drop"}), "box drop needs a NAME");
    EXPECT_EQ(fault({"box", "drop", "a", "b"}), "box drop takes no \"b\"; box drop takes one NAME");
    EXPECT_EQ(fault({"box", "drop", "a", "--all"}), "--all is for tool box show");
    EXPECT_EQ(tool.read({"box", "drop"}).text, "tool: box drop needs a NAME\nTry: tool box --help\n");
    auto const help = tool.read({"box", "drop", "--help"}).text;
    EXPECT_THAT(help, HasSubstr("Usage: tool box show [NAME] | drop NAME [options]"));
    EXPECT_THAT(help, HasSubstr("--all"));
    EXPECT_THAT(tool.read({"--help"}).text, Not(HasSubstr("--all")));
}

TEST(CommandForm, takes_a_second_operand_that_may_be_missing) {
    std::vector<std::string> taken;
    auto const fault = [&](std::vector<std::string> const& words) {
        taken.clear();
        CommandForm form("tool", "Keeps files.");
        form.subcommand("copy", "Copies a file.", {})
            .operand("FROM", [&](auto, auto value) { return taken.emplace_back(value), std::string(); })
            .and_operand("[TO]");
        return form.read(words).fault;
    };
    EXPECT_EQ(fault({"copy", "a"}), "");
    EXPECT_EQ(taken, (std::vector<std::string>{"a"}));
    EXPECT_EQ(fault({"copy", "a", "b"}), "");
    EXPECT_EQ(taken, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(fault({"copy", "a", "b", "c"}), "copy takes no \"c\"; copy takes one FROM and one [TO]");
    EXPECT_EQ(fault({"copy", "a", ""}), "copy takes no empty operand") << "it is not as if it were missing";
    EXPECT_EQ(fault({"copy"}), "copy needs a FROM");
}

}   // namespace
}   // namespace garner
