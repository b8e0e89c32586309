// Documents, comments and texts are plain technical English: the subject comes first, and the actor is named.
#include "house/prose.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <sstream>

#include "support/places.hpp"

namespace garner::house {
namespace {

namespace fs = std::filesystem;

using Read = std::vector<Sentence> (*)(std::string const& file, std::string_view text);

std::vector<Sentence> read_markdown(std::string const& file, std::string_view text) {
    return sentences_of_markdown(file, std::string(text));
}

void read_file(std::string const& name, Read read, std::vector<Sentence>& into) {
    std::ostringstream text;
    text << std::ifstream(test::source(name)).rdbuf();
    auto sentences = read(name, text.str());
    std::ranges::move(sentences, std::back_inserter(into));
}

bool is_source(fs::path const& file) { return file.extension() == ".cpp" || file.extension() == ".hpp"; }
bool is_markdown(fs::path const& file) { return file.extension() == ".md"; }

/// Sorted by file name.
std::vector<Sentence> sentences_below(char const* folder, bool (*is_read)(fs::path const&), Read read) {
    std::vector<std::string> files;
    auto const root = fs::path(test::source("docs")).parent_path();
    for (auto const& entry : fs::recursive_directory_iterator(test::source(folder)))
        if (is_read(entry.path())) files.push_back(entry.path().lexically_relative(root).generic_string());
    std::ranges::sort(files);
    std::vector<Sentence> sentences;
    for (auto const& file : files) read_file(file, read, sentences);
    return sentences;
}

struct Measure {
    char const* name;
    char const* rule;
    bool (*is_offence)(std::string_view sentence);
};

constexpr Measure turned_round{"begin with What, Who, Of, Where, As, Not, Else, Nobody or The same",
                               "Put the subject first and the verb second: \"Evicts the least recently used object.\"",
                               begins_turned_round};
constexpr Measure without_actor{"use who, whoever, nobody, somebody, anybody or everybody",
                                "Name the actor: client, origin, peer, worker, request, operator.", names_no_actor};

/// In percent of all sentences of a group.
constexpr double turned_round_max = 1.0, without_actor_max = 0.5;

void expect_within(std::string const& group, std::vector<Sentence> const& sentences, Measure const& measure, double percent_max) {
    constexpr std::size_t listed_max = 10;
    std::size_t found = 0;
    std::ostringstream list;
    for (auto const& sentence : sentences) {
        if (!measure.is_offence(sentence.text)) continue;
        if (++found <= listed_max) list << "\n  " << sentence.file << ":" << sentence.line << ": " << sentence.text;
    }
    auto const percent = 100.0 * static_cast<double>(found) / static_cast<double>(sentences.size());
    EXPECT_LE(percent, percent_max) << group << ": " << found << " of " << sentences.size() << " sentences (" << std::fixed
                                    << std::setprecision(1) << percent << " %, at most " << percent_max << " %) " << measure.name
                                    << ". " << measure.rule << list.str();
}

void expect_plain(std::string const& group, std::vector<Sentence> const& sentences) {
    ASSERT_FALSE(sentences.empty()) << group;
    expect_within(group, sentences, turned_round, turned_round_max);
    expect_within(group, sentences, without_actor, without_actor_max);
}

std::vector<Sentence> sentences_of_documents() {
    auto documents = sentences_below("docs", is_markdown, read_markdown);
    for (auto const* file : {"README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"})
        read_file(file, read_markdown, documents);
    return documents;
}

TEST(Prose, documents_are_plain) { expect_plain("documents", sentences_of_documents()); }

TEST(Prose, sentences_of_documents_are_short) {
    constexpr double mean_max = 18;   // words
    auto const documents = sentences_of_documents();
    std::ptrdiff_t words = 0;
    for (auto const& sentence : documents) words += 1 + std::ranges::count(sentence.text, ' ');
    EXPECT_LE(static_cast<double>(words), mean_max * static_cast<double>(documents.size()));
}

TEST(Prose, comments_of_the_program_are_plain) {
    expect_plain("comments of src", sentences_below("src", is_source, sentences_of_comments));
}

TEST(Prose, comments_of_the_tests_are_plain) {
    expect_plain("comments of tests", sentences_below("tests", is_source, sentences_of_comments));
}

TEST(Prose, texts_of_the_program_are_plain) {
    expect_plain("texts of src", sentences_below("src", is_source, sentences_of_literals));
}

TEST(Prose, texts_of_the_tests_are_plain) {
    expect_plain("texts of tests", sentences_below("tests", is_source, sentences_of_literals));
}

TEST(Prose, tools_are_plain) {
    expect_plain("comments of tools", sentences_below("tools", is_source, sentences_of_comments));
    expect_plain("texts of tools", sentences_below("tools", is_source, sentences_of_literals));
    expect_plain("documents of tools", sentences_below("tools", is_markdown, read_markdown));
}

// ---- the measure ----

std::string joined(std::vector<Sentence> const& sentences) {
    std::string text;
    for (auto const& sentence : sentences) text += std::to_string(sentence.line) + "[" + sentence.text + "]";
    return text;
}

TEST(ProseRules, sentences_have_four_words_and_end_before_white_space) {
    EXPECT_EQ(joined(sentences_of_comments("f", "// One two three four. Too short here. A port is 1.2.3: it is\n// open to all")),
              "1[One two three four.]1[A port is 1.2.3:]1[it is open to all]");
}

TEST(ProseRules, comments_on_consecutive_lines_are_one_and_those_behind_code_are_separate) {
    EXPECT_EQ(joined(sentences_of_comments("f", "/// This comment goes\n  /// on here\nint a;   // this is another one\n"
                                                "int b; // and this a third\nf(\"http://a.example\");")),
              "1[This comment goes on here]3[this is another one]4[and this a third]");
}

TEST(ProseRules, literals_are_read_with_their_escapes) {
    auto const* source = R"(f("three words here");
g("a \"b\" c d", "one two three four");
h('"');)";
    EXPECT_EQ(joined(sentences_of_literals("f", source)), R"(2[a \"b\" c d]2[one two three four])");
}

TEST(ProseRules, markdown_has_paragraphs_items_and_cells_without_headings_and_code) {
    auto const* text = "# A heading of five words\n\nThis is a\nparagraph\n- one item of four\n\n    code is left out here\n"
                       "| a cell of words | b |\n1. the first of several\n\n```\nalso code is left out\n```\nand the last one\n";
    EXPECT_EQ(joined(sentences_of_markdown("f", text)),
              "3[This is a paragraph]5[one item of four]8[a cell of words]9[the first of several]14[and the last one]");
}

TEST(ProseRules, sentences_that_begin_turned_round_are_offences) {
    for (auto const* text : {"What is stored stays.", "Of two the first", "the same holds here", "As-is it goes"})
        EXPECT_TRUE(begins_turned_round(text)) << text;
    for (auto const* text : {"Whatsoever it is called", "Offers a list", "The sameness of all", "Asks what is stored"})
        EXPECT_FALSE(begins_turned_round(text)) << text;
}

TEST(ProseRules, sentences_with_a_pronoun_for_the_actor_are_offences) {
    for (auto const* text : {"a client who asks", "nobody waits", "for (somebody)", "given to Everybody."})
        EXPECT_TRUE(names_no_actor(text)) << text;
    for (auto const* text : {"the whole body", "whose turn it is", "nobody_ is a member", "anybodys"})
        EXPECT_FALSE(names_no_actor(text)) << text;
}

}   // namespace
}   // namespace garner::house
