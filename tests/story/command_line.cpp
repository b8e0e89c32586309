// The command line for interactive use: help on a terminal, and completion in a shell.
#include <algorithm>
#include <sstream>

#include "story/scene.hpp"
#include "support/programs.hpp"

namespace garner::test {

namespace {

using testing::Contains;
using testing::IsEmpty;

using Words = std::vector<std::string>;

Words lines_of(std::string const& text) {
    Words lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

Finished run_garner(Words words) {
    words.insert(words.begin(), garner_binary());
    return run(words);
}

bool is_command(std::string const& word) {
    return std::ranges::all_of(word, [](char c) { return c >= 'a' && c <= 'z'; });
}

/// The words of every command, as the overview lists them: {"seen", "sim"}.
std::vector<Words> listed_commands() {
    std::vector<Words> commands;
    for (auto const& line : lines_of(run_garner({"help"}).output)) {
        auto const at = line.find(" garner ");
        if (line.starts_with("Usage") || at == line.npos) continue;
        std::istringstream rest(line.substr(at + 8, line.find("  ", at + 8) - at - 8));
        Words words;
        for (std::string word; rest >> word && is_command(word);) words.push_back(word);
        commands.push_back(words);
    }
    return commands;
}

/// Loads the completion script into a bash.
class Bash {
public:
    Bash() : script_(dir_.write("garner.bash", run_garner({"completion", "bash"}).output)) {}

    /// The completions of the last word, sorted. Bash splits words at "=" and ":".
    Words propose(Words const& line) const {
        // clang-format off
        Words command{"bash", "--norc", "--noprofile", "-c",
                      "source \"$1\" && shift && COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) && complete -p garner >/dev/null &&\n"
                      "_garner && ((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"",
                      "bash", script_, "garner"};
        // clang-format on
        command.insert(command.end(), line.begin(), line.end());
        auto const done = run(command);
        EXPECT_EQ(done.errors, "");
        auto proposals = lines_of(done.output);
        std::ranges::sort(proposals);
        return proposals;
    }
    std::string write(std::string const& name) const { return dir_.write(name, ""); }
    std::string path(std::string const& name) const { return dir_.path(name); }

private:
    TempDir dir_;
    std::string script_;
};

/// Loads the completion script into an interactive zsh on a terminal of its own.
class Zsh {
public:
    Zsh() : script_(dir_.write("garner.zsh", run_garner({"completion", "zsh"}).output)) {
        // compadd also writes the matches of the word at the cursor.
        dir_.write(".zshrc", R"(
autoload -U compinit && compinit -u -D
source $ZDOTDIR/garner.zsh
compadd() {
    local -a found
    if [[ -z ${(M)@:#-[OAD]} ]] {
        builtin compadd -O found "$@"
        print -rl -- $found >>$ZDOTDIR/proposals
    }
    builtin compadd "$@"
}
propose() { _main_complete; : >$ZDOTDIR/done }
zle -C propose complete-word propose
bindkey '^X' propose
)");
    }

    /// The proposals for the last word, sorted; only the part that zsh would insert or replace.
    Words propose(std::string const& line) const {
        constexpr auto ask = R"(
export ZDOTDIR=$1
rm -f $1/done $1/proposals
zmodload zsh/zpty
zpty shell 'zsh -d -i'
zpty -w -n shell "$2"$'\x18'
while [[ ! -e $1/done ]] { zpty -r -t shell output; sleep 0.01 }
zpty -d shell
[[ ! -e $1/proposals ]] || sort -u $1/proposals)";
        auto const done = run({"zsh", "-f", "-c", ask, "zsh", dir_.path().string(), line});
        EXPECT_EQ(done.code, 0) << line << ": " << done.errors;
        auto proposals = lines_of(done.output);
        std::erase(proposals, "");
        return proposals;
    }
    std::string const& script() const { return script_; }
    std::string write(std::string const& name) const { return dir_.write(name, ""); }
    std::string path(std::string const& name) const { return dir_.path(name); }

private:
    TempDir dir_;
    std::string script_;
};

}   // namespace

TEST(CommandLine, help_of_every_command_fits_on_a_screen_and_ends_with_two_examples) {
    auto const commands = listed_commands();
    EXPECT_GE(commands.size(), 15u);
    for (auto words : commands) {
        words.push_back("--help");
        auto const help = run_garner(words);
        EXPECT_EQ(help.code, 0);
        auto const lines = lines_of(help.output);
        EXPECT_LE(lines.size(), 45u) << help.output;
        for (auto const& line : lines) EXPECT_LE(line.size(), 100u) << line;
        ASSERT_GE(lines.size(), 3u);
        EXPECT_EQ(lines[lines.size() - 3], "Examples:") << help.output;
    }
    EXPECT_LE(lines_of(run_garner({"help"}).output).size(), 31u);
}

TEST(CommandLine, errors_name_the_nearest_word_and_the_help) {
    EXPECT_EQ(run_garner({"sats"}).errors, "garner: unknown command \"sats\"; did you mean stats?\nTry: garner --help\n");
    EXPECT_EQ(run_garner({"stats", "--waht-if"}).errors,
              "garner: unknown option --waht-if; did you mean --what-if?\nTry: garner stats --help\n");
    EXPECT_EQ(run_garner({"seen", "cannon"}).errors,
              "garner seen: unknown command \"cannon\"; did you mean canon?\nTry: garner seen --help\n");
    EXPECT_EQ(run_garner({"help", "explian"}).errors,
              "garner: help: unknown command \"explian\"; did you mean explain?\nTry: garner help\n");
    for (auto const& words : {Words{"sats"}, Words{"stats", "--waht-if"}, Words{"help", "explian"}})
        EXPECT_EQ(run_garner(words).code, 2);
}

TEST(Completion, bash_proposes_commands) {
    NEEDS("bash");
    Bash const bash;
    EXPECT_THAT(bash.propose({"st"}), ElementsAre("stats"));
    EXPECT_THAT(bash.propose({"cache", ""}), ElementsAre("ls", "purge", "stats", "verify"));
    EXPECT_THAT(bash.propose({"--config", "garner.json", "pu"}), ElementsAre("purge"));
    EXPECT_THAT(bash.propose({"--set", "memory.size", "=", "1GiB", "pu"}), ElementsAre("purge"));
    EXPECT_THAT(bash.propose({"seen", "s"}), ElementsAre("serve", "set", "sim"));
    EXPECT_THAT(bash.propose({"help", "seen", "c"}), ElementsAre("canon"));
    EXPECT_THAT(bash.propose({"help", "po"}), ElementsAre("policies"));
    EXPECT_THAT(bash.propose({"completion", ""}), ElementsAre("bash", "zsh"));
    EXPECT_THAT(bash.propose({"explain", "http", ":", "//ex"}), IsEmpty());
}

TEST(Completion, bash_proposes_every_option_of_a_command) {
    NEEDS("bash");
    Bash const bash;
    EXPECT_THAT(bash.propose({"cache", "verify", "--r"}), ElementsAre("--rate"));
    EXPECT_THAT(bash.propose({"cache", "ls", "--r"}), IsEmpty());
    EXPECT_THAT(bash.propose({"check", "--", "--"}), IsEmpty());
    for (auto const& words : listed_commands()) {
        auto line = words;
        line.push_back("-");
        auto const proposals = bash.propose(line);
        EXPECT_THAT(proposals, Contains("--help"));
        if (!words.empty() && words[0] == "cache") continue;   // its page lists the options of all its subcommands
        line.back() = "--help";
        for (auto const& help : lines_of(run_garner(line).output)) {
            if (!help.starts_with("  -")) continue;
            auto const names = help.substr(2, help.find(' ', 2) - 2);
            EXPECT_THAT(proposals, Contains(names.substr(names.find("--"))));
        }
    }
}

TEST(Completion, bash_proposes_values) {
    NEEDS("bash");
    Bash const bash;
    EXPECT_THAT(bash.propose({"sim", "--format", ""}), ElementsAre("json", "table"));
    EXPECT_THAT(bash.propose({"sim", "--format", "=", "j"}), ElementsAre("json"));
    EXPECT_THAT(bash.propose({"sim", "--format", "="}), ElementsAre("json", "table"));
    EXPECT_THAT(bash.propose({"sim", "--policy", "lru,lf"}), ElementsAre("lru,lfu", "lru,lfuda"));
    EXPECT_THAT(bash.propose({"sim", "--policy", "garner", ":", "ai"}), IsEmpty());
    EXPECT_THAT(bash.propose({"seen", "serve", "--cache", "li"}), ElementsAre("line", "line32"));
    EXPECT_THAT(bash.propose({"seen", "set", "--set", "mer"}), ElementsAre("mercator", "mercator-file"));
    EXPECT_THAT(bash.propose({"--set", "memory.p"}), ElementsAre("memory.policy="));
    EXPECT_THAT(bash.propose({"--set", "memory.policy", "="}), IsEmpty());
}

TEST(Completion, bash_proposes_files_and_directories) {
    NEEDS("bash");
    Bash const bash;
    auto const file = bash.write("trace 1.csv");
    std::filesystem::create_directory(bash.path("traces"));
    auto const start = bash.path("tra");
    Words const both{file, bash.path("traces")};
    std::vector<Words> const places{{"check"}, {"--config"}, {"sim", "--trace"}, {"seen", "set", "--input", "="}};
    for (auto const& before : places) {
        auto line = before;
        line.push_back(start);
        EXPECT_EQ(bash.propose(line), both);
    }
    EXPECT_THAT(bash.propose({"seen", "set", "--path", start}), ElementsAre(bash.path("traces")));
}

TEST(Completion, zsh_accepts_the_script) {
    NEEDS("zsh");
    Zsh const zsh;
    auto const parsed = run({"zsh", "-f", "-n", zsh.script()});
    EXPECT_EQ(parsed.code, 0) << parsed.errors;
}

TEST(Completion, zsh_proposes_commands_and_options) {
    NEEDS("zsh");
    Zsh const zsh;
    EXPECT_THAT(zsh.propose("garner st"), ElementsAre("stats"));
    EXPECT_THAT(zsh.propose("garner cache "), ElementsAre("ls", "purge", "stats", "verify"));
    EXPECT_THAT(zsh.propose("garner --config garner.json pu"), ElementsAre("purge"));
    EXPECT_THAT(zsh.propose("garner help seen c"), ElementsAre("canon"));
    EXPECT_THAT(zsh.propose("garner completion "), ElementsAre("bash", "zsh"));
    EXPECT_THAT(zsh.propose("garner cache verify --r"), ElementsAre("--rate"));
    EXPECT_THAT(zsh.propose("garner check -- --"), IsEmpty());
}

TEST(Completion, zsh_proposes_values_and_files) {
    NEEDS("zsh");
    Zsh const zsh;
    EXPECT_THAT(zsh.propose("garner sim --format "), ElementsAre("json", "table"));
    EXPECT_THAT(zsh.propose("garner sim --format=j"), ElementsAre("json"));
    EXPECT_THAT(zsh.propose("garner sim --policy lru,lf"), ElementsAre("lfu", "lfuda"));
    EXPECT_THAT(zsh.propose("garner --set memory.p"), ElementsAre("memory.policy="));
    zsh.write("trace.csv");
    std::filesystem::create_directory(zsh.path("traces"));
    auto const start = zsh.path("tra");
    EXPECT_THAT(zsh.propose("garner sim --trace " + start), ElementsAre("trace.csv", "traces"));
    EXPECT_THAT(zsh.propose("garner seen set --path " + start), ElementsAre("traces"));
}

}   // namespace garner::test
