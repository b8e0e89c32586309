// The contents of the operator's page as plain values. page.cpp writes them as HTML, page_changes.cpp as events.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace garner::admin {

/// A value of /stats.json and its text for readers.
struct PageFigure {
    std::string text;
    std::string stat = {};    // its path in /stats.json: "requests.total"; empty: a text without a value there
    std::string value = {};   // the value as there
};

/// The curve of one figure over the last ten minutes, in a box of 120 x 32, or a line of a picture.
struct PageCurve {
    std::string id;   // unique on the page; empty: it does not change
    std::string title;
    std::string path;        // SVG path data
    std::string kind = {};   // its class
};

/// A figure in large print, with others about the same thing in small print.
struct PageTile {
    struct Note {
        std::string title;
        PageFigure figure;
    };
    std::string title;
    PageFigure figure;
    std::vector<Note> notes = {};
    std::vector<PageCurve> curves = {};   // at most one
};

/// A drawing of lines, boxes and texts. A table beside it has all its figures.
struct PagePicture {
    struct Text {
        int x = 0, y = 0;
        PageFigure figure;
        std::string id = {};     // for a text that may change and has no value in /stats.json
        std::string kind = {};   // its class: "end", "middle", "title"
    };
    struct Part {
        std::vector<PageCurve> lines = {};
        std::vector<Text> texts = {};
    };
    std::string title;   // says which table has its figures
    int width = 0, height = 0;
    std::vector<Part> parts = {};
};

/// Named lines with one figure for each column.
struct PageLines {
    struct Line {
        std::string name;
        std::vector<PageFigure> figures;
        bool is_trouble = false;
        std::string why = {};   // its name leads to the explanation of this text
    };
    std::string title;
    std::vector<std::string> columns = {};   // empty: one column without a name
    std::vector<Line> lines = {};
};

/// A list whose number of rows changes.
struct PageTable {
    struct Column {
        std::string title;
        std::string path = {};   // in /stats.json with * for the row's index, "top.hosts.*.name"; empty: no value there
        bool is_number = true;
    };
    struct Cell {
        std::string text;
        std::string value = {};   // the value in /stats.json, if the column has a path; empty: equal to the text
    };
    struct Row {
        std::size_t index = 0;   // in /stats.json
        std::vector<Cell> cells;
        bool is_trouble = false;
    };
    std::string id;      // unique on the page
    std::string title;   // shown above it; empty: the heading of the section
    std::string none;    // shown without rows
    std::vector<Column> columns;
    std::vector<Row> rows = {};
    std::optional<std::size_t> why = std::nullopt;   // each row leads to the explanation of its text in this column
    std::string why_kind = {};                       // stands before that text: "peer "
};

/// A part of the page with a heading. Its members are shown in this order.
struct PageSection {
    std::string id;
    std::string title;
    std::vector<std::string> words = {};   // sentences, in paragraphs
    std::vector<PageTile> tiles = {};
    std::optional<PagePicture> picture = std::nullopt;
    std::vector<PageLines> lines = {};
    std::vector<PageTable> tables = {};
    std::string folded = {};   // if set: the lines are shown on demand, by this name
};

struct PageHealth {
    struct Item {
        std::string state, what, fix;
        std::string section, title;   // its section of the page; no title: none
    };
    std::string state;
    PageFigure sentence;
    std::vector<Item> items = {};   // a single one has no `what`: the sentence has it
};

struct PageModel {
    std::string title;   // "garner 0.1.0, up 2 h 10 min"
    std::string at;      // "12:03:10 UTC"
    PageHealth health;
    std::vector<PageSection> sections = {};
};

}   // namespace garner::admin
