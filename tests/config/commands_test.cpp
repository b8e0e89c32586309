#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "config/command_line.hpp"
#include "config/seen_command.hpp"
#include "describe_commands.hpp"
#include "sim/sim_options.hpp"
#include "support.hpp"
#include "support/child.hpp"
#include "util/version.hpp"

namespace garner::config {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr std::size_t lines_max = 46, overview_lines_max = 31;

CommandDescription const& program() {
    static auto const description = describe_commands();
    return description;
}

/// Commands that have a page of their own.
void collect_pages(CommandDescription const& command, std::vector<CommandDescription>& pages) {
    if (!command.is_part) pages.push_back(command);
    for (auto const& below : command.subcommands) collect_pages(below, pages);
}

std::vector<CommandDescription> pages() {
    std::vector<CommandDescription> found;
    collect_pages(program(), found);
    return found;
}

void expect_fits(std::string const& text, std::size_t lines, std::string const& what) {
    auto const all = wrapped(text.substr(0, text.rfind('\n')), 10'000);
    EXPECT_LE(all.size(), lines) << what << ":\n" << text;
    for (auto const& line : all) EXPECT_LE(line.size(), help_columns) << what << ": " << line;
}

std::string parsed(std::vector<char const*> const& words) { return parse_command_line(words).text; }

TEST(Commands, the_reference_page_is_made_from_the_forms) {
    expect_made("docs/reference/command-line.md", command_line_text(program()), "Commands.*");
}

TEST(Commands, every_help_fits_on_a_screen_and_ends_with_two_examples) {
    EXPECT_GE(pages().size(), 15u);
    for (auto const& page : pages()) {
        auto const text = help_page(page);
        expect_fits(text, lines_max, page.name);
        ASSERT_EQ(page.examples.size(), 2u) << page.name;
        EXPECT_TRUE(text.ends_with("Examples:\n  " + page.examples[0] + "\n  " + page.examples[1] + "\n")) << page.name;
        EXPECT_THAT(text, HasSubstr("\nExit status: 0 ")) << page.name;
        EXPECT_NE(page.summary(), "") << page.name;
    }
    for (auto const& topic : topics_of(program())) expect_fits(parsed({"help", topic.name.c_str()}), lines_max, topic.name);
}

TEST(Commands, the_overview_fits_on_a_small_screen_and_names_every_command) {
    auto const text = parsed({"help"});
    expect_fits(text, overview_lines_max, "overview");
    for (auto const& page : pages())
        if (page.subcommands.empty()) EXPECT_THAT(text, HasSubstr(page.name)) << page.name;
    for (auto const* group : {"run ", "inspect ", "change ", "simulate ", "crawl ", "help "})
        EXPECT_THAT(text, ContainsRegex("\n" + std::string(group))) << group;
}

TEST(Commands, help_prints_the_page_of_a_command) {
    EXPECT_EQ(parsed({"help", "explain"}), parsed({"explain", "--help"}));
    EXPECT_EQ(parsed({"help", "cache", "purge"}), parsed({"cache", "purge", "--help"}));
    EXPECT_EQ(parsed({"help", "--help"}), parsed({"help", "help"}));
    EXPECT_THAT(parsed({"help", "seen", "sim"}), HasSubstr("Usage: garner seen sim --stream FILE [options]"));
    EXPECT_THAT(parsed({"help", "policies"}), HasSubstr("\n  wtinylfu"));
    EXPECT_EQ(parsed({"help", "chekc"}), "garner: help: unknown command \"chekc\"; did you mean check?\nTry: garner help\n");
    EXPECT_EQ(parsed({"help", "seen", "cannon"}),
              "garner: help: unknown command \"cannon\"; did you mean canon?\nTry: garner help\n");
    std::vector<char const*> const words{"help", "chekc"};
    EXPECT_EQ(parse_command_line(words).command, CommandLine::Command::wrong);
}

TEST(Commands, the_version_is_that_of_the_build_and_names_libraries) {
    auto const text = parsed({"version"});
    EXPECT_EQ(parsed({"--version"}), text);
    EXPECT_THAT(text, ContainsRegex("^garner [0-9.]+\ncompiler: .+ [0-9.]+\nlibraries: OpenSSL [0-9.]+, c-ares [0-9.]+, Boost "
                                    "[0-9.]+\n$"));
    EXPECT_THAT(contents(repository() / "CMakeLists.txt"), HasSubstr(std::string("project(garner VERSION ") + version + " "));
}

TEST(Commands, completion_is_for_two_shells) {
    EXPECT_THAT(parsed({"completion", "bash"}), HasSubstr("complete -F _garner garner"));
    EXPECT_THAT(parsed({"completion", "zsh"}), HasSubstr("compdef _garner garner"));
    EXPECT_EQ(parsed({"completion", "fish"}), "garner: SHELL: \"fish\" is neither bash nor zsh\nTry: garner completion --help\n");
}

using Words = std::vector<std::string>;

/// The words of each call of garner in a command line, split like a shell. Nothing is executed.
std::vector<Words> calls_in(std::string const& example) {
    test::TempDir const dir;   // other tests do this at the same time
    auto const script = dir.path("example.sh").string();
    // The parts of a pipeline run at the same time: each has a file of its own.
    std::ofstream(script) << "exec </dev/null; cd $(mktemp -d) && touch urls.txt && trap 'rm -r \"$PWD\"' EXIT\n"
                          << "garner() { printf '%s\\n' call \"$@\" >>" << dir.path("calls").string()
                          << ".$BASHPID; cat >/dev/null; }\n"
                          << "zstd() { :; }\n"
                          << example << "\nwait\n";
    EXPECT_EQ(std::system(("bash --norc " + script).c_str()), 0) << example;
    std::vector<Words> found;
    for (auto const& file : std::filesystem::directory_iterator(dir.path())) {
        if (file.path().filename().string().starts_with("example")) continue;
        std::ifstream calls(file.path());
        for (std::string line; std::getline(calls, line);) {
            if (line == "call")
                found.emplace_back();
            else
                found.back().push_back(line);
        }
    }
    return found;
}

/// The error of a command line, or empty; the command is not run.
std::string fault_of(Words const& words) {
    std::vector<char const*> arguments;
    for (auto const& word : words) arguments.push_back(word.c_str());
    auto const line = parse_command_line(arguments);
    if (line.command == CommandLine::Command::wrong) return line.text;
    if (line.command == CommandLine::Command::sim) return sim::read_sim_options(line.rest).fault;
    if (line.command != CommandLine::Command::seen) return {};
    std::string fault = "no such command";
    for (auto const& row : seen_command_table())
        if (row.name == line.rest.at(0))
            row.use_form([&](CommandForm const& form) { fault = form.read(std::span(line.rest).subspan(1)).fault; });
    return fault;
}

TEST(Commands, every_example_is_accepted) {
    for (auto const& page : pages())
        for (auto const& example : page.examples) {
            auto const calls = calls_in(example);
            EXPECT_GE(calls.size(), 1u) << example;
            for (auto const& words : calls) EXPECT_EQ(fault_of(words), "") << example;
        }
}

/// The commands of garner in the fenced and indented blocks of a document, one a line, without redirections, pipes and comments.
std::string commands_of(std::filesystem::path const& document) {
    std::string commands;
    std::ifstream file(document);
    bool is_open = false, continues = false;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with("```")) is_open = line == "```sh" || line == "```text";
        auto const begin = line.find("garner ");
        auto const before = line.substr(0, begin);
        bool const begins = begin != line.npos && (is_open ? before.empty() || before == "build/release/" : before == "    ");
        if ((!begins && !continues) || line.ends_with("…")) continue;   // "garner …" is output
        if (begins) line.erase(0, begin);
        for (auto const* end : {" >", " <", " |", " 2>", " #"}) line.resize(std::min(line.find(end), line.size()));
        continues = line.ends_with('\\');
        if (continues) line.pop_back();
        commands.append(line).append(continues ? " " : "\n");
    }
    return commands;
}

TEST(Commands, every_command_of_a_guide_is_accepted) {
    std::vector<std::filesystem::path> documents{repository() / "README.md", repository() / "docs/getting-started.md"};
    for (auto const& entry : std::filesystem::directory_iterator(repository() / "docs/guides"))
        if (entry.path().extension() == ".md") documents.push_back(entry.path());
    std::size_t count = 0;
    for (auto const& document : documents) {
        auto const commands = commands_of(document);
        auto const calls = calls_in(commands);
        EXPECT_EQ(calls.size(), static_cast<std::size_t>(std::ranges::count(commands, '\n'))) << document << "\n" << commands;
        for (auto const& words : calls) EXPECT_EQ(fault_of(words), "") << document << "\n" << commands;
        count += calls.size();
    }
    EXPECT_GT(count, 35u);
}

TEST(Commands, a_wrong_example_would_be_noticed) {
    EXPECT_NE(fault_of({"sim", "--trace", "a", "--policy", "lfx"}), "");
    EXPECT_NE(fault_of({"seen", "set", "--inptu", "a"}), "");
    auto const calls = calls_in("garner a 'b c' | garner d");
    ASSERT_EQ(calls.size(), 2u);
}

}   // namespace
}   // namespace garner::config
