// Measures prose: counts sentences of comments, texts and Markdown that do not begin with their subject or do not name their actor.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace garner::house {

/// A sentence of at least four words.
struct Sentence {
    std::string file;
    std::size_t line = 0;   // line of its first word
    std::string text;
};

struct Word {
    std::string text;
    std::size_t line = 0;
};
/// A paragraph, a table cell, a comment or a literal: no sentence crosses its end.
using Block = std::vector<Word>;

inline bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

inline bool is_word_character(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); }

inline void add_words(std::string_view text, std::size_t line, Block& block) {
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (text[at] == '\n') ++line;
        if (is_blank(text[at])) continue;
        auto end = at;
        while (end < text.size() && !is_blank(text[end])) ++end;
        block.push_back({std::string(text.substr(at, end - at)), line});
        at = end - 1;
    }
}

/// A sentence ends at . ! ? : or ; before white space.
inline void add_sentences(std::string const& file, Block const& block, std::vector<Sentence>& sentences) {
    constexpr std::size_t words_min = 4;
    Sentence sentence{file, 0, {}};
    std::size_t words = 0;
    for (auto const& word : block) {
        if (words++ == 0)
            sentence = {file, word.line, word.text};
        else
            sentence.text += " " + word.text;
        bool const ends = &word == &block.back() || std::string_view(".!?:;").find(word.text.back()) != std::string_view::npos;
        if (!ends) continue;
        if (words >= words_min) sentences.push_back(sentence);
        words = 0;
    }
}

/// Calls `each` with the number and the text of each line.
template <class Each>
void for_each_line(std::string_view text, Each each) {
    for (std::size_t line = 1; !text.empty(); ++line) {
        auto const end = std::min(text.find('\n'), text.size());
        each(line, text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
}

/// The position of a // comment at the beginning of the line or after white space; npos: none.
inline std::size_t comment_in(std::string_view line) {
    auto at = line.find("//");
    while (at != line.npos && at > 0 && !is_blank(line[at - 1])) at = line.find("//", at + 1);
    return at;
}

/// The sentences of // comments. Consecutive lines with only a comment form one block; a comment after code is separate.
inline std::vector<Sentence> sentences_of_comments(std::string const& file, std::string_view text) {
    std::vector<Sentence> sentences;
    Block run;
    auto const end_run = [&] {
        add_sentences(file, run, sentences);
        run.clear();
    };
    for_each_line(text, [&](std::size_t number, std::string_view line) {
        auto const at = comment_in(line);
        if (at == line.npos) return end_run();
        bool const alone = std::ranges::all_of(line.substr(0, at), is_blank);
        if (!alone) end_run();
        auto comment = line.substr(at + 2);
        if (comment.starts_with('/') || comment.starts_with('!')) comment.remove_prefix(1);
        add_words(comment, number, run);
        if (!alone) end_run();
    });
    end_run();
    return sentences;
}

/// The sentences of string literals; each literal is a block.
inline std::vector<Sentence> sentences_of_literals(std::string const& file, std::string_view text) {
    std::vector<Sentence> sentences;
    for_each_line(text, [&](std::size_t number, std::string_view line) {
        for (auto quote = line.find('"'); quote != line.npos; quote = line.find('"', quote)) {
            auto end = quote + 1;
            while (end < line.size() && line[end] != '"') end += line[end] == '\\' ? 2 : 1;
            if (end >= line.size()) {   // does not end on this line
                ++quote;
                continue;
            }
            Block block;
            add_words(line.substr(quote + 1, end - quote - 1), number, block);
            add_sentences(file, block, sentences);
            quote = end + 1;
        }
    });
    return sentences;
}

/// Blanks everything from `open` to `close`, and keeps line ends.
inline void blank_between(std::string& text, std::string_view open, std::string_view close) {
    for (auto from = text.find(open); from != text.npos; from = text.find(open, from)) {
        auto const found = text.find(close, from + open.size());
        if (found == text.npos) return;
        auto const end = found + close.size();
        for (; from < end; ++from)
            if (text[from] != '\n') text[from] = ' ';
    }
}

/// The length of "- ", "* " or "1. " after white space; 0: none.
inline std::size_t item_mark(std::string_view line, bool numbered) {
    auto at = std::min(line.find_first_not_of(" \t"), line.size());
    auto const mark = at;
    while (numbered && at < line.size() && std::isdigit(static_cast<unsigned char>(line[at]))) ++at;
    auto const c = at < line.size() ? line[at] : ' ';
    bool const is_mark = at > mark ? c == '.' : c == '-' || c == '*';
    return is_mark && at + 1 < line.size() && is_blank(line[at + 1]) ? at + 2 : 0;
}

/// The sentences of Markdown: paragraphs, list items and table cells, without headings and code.
inline std::vector<Sentence> sentences_of_markdown(std::string const& file, std::string text) {
    blank_between(text, "```", "```");
    blank_between(text, "<!--", "-->");
    std::vector<Sentence> sentences;
    Block paragraph;
    auto const end_paragraph = [&] {
        add_sentences(file, paragraph, sentences);
        paragraph.clear();
    };
    for_each_line(text, [&](std::size_t number, std::string_view line) {
        if (std::ranges::all_of(line, is_blank)) return end_paragraph();
        if (line.starts_with("    ") || line.starts_with('#')) return;
        if (line.starts_with('|')) {
            for (std::size_t at = 0; at <= line.size();) {
                auto const end = std::min(line.find('|', at), line.size());
                Block cell;
                add_words(line.substr(at, end - at), number, cell);
                add_sentences(file, cell, sentences);
                at = end + 1;
            }
            return;
        }
        if (item_mark(line, false)) end_paragraph();
        add_words(paragraph.empty() ? line.substr(item_mark(line, true)) : line, number, paragraph);
    });
    end_paragraph();
    return sentences;
}

inline std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (auto& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return lower;
}

/// True if the sentence does not begin with its subject.
inline bool begins_turned_round(std::string_view sentence) {
    static constexpr std::array<std::string_view, 13> words{"what",     "who", "whoever", "whatever", "of", "nobody", "somebody",
                                                            "the same", "not", "else",    "anybody",  "as", "where"};
    auto const lower = lower_case(sentence);
    return std::ranges::any_of(words, [&](std::string_view word) {
        return lower.starts_with(word) && (lower.size() == word.size() || !is_word_character(lower[word.size()]));
    });
}

/// True if the sentence does not name its actor.
inline bool names_no_actor(std::string_view sentence) {
    static constexpr std::array<std::string_view, 7> words{"who", "whoever", "whom", "nobody", "somebody", "anybody", "everybody"};
    auto const lower = lower_case(sentence);
    for (std::size_t at = 0; at < lower.size(); ++at) {
        if (!is_word_character(lower[at])) continue;
        auto const begin = at;
        while (at < lower.size() && is_word_character(lower[at])) ++at;
        if (std::ranges::find(words, std::string_view(lower).substr(begin, at - begin)) != words.end()) return true;
    }
    return false;
}

}   // namespace garner::house
