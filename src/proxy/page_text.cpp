#include "proxy/page_text.hpp"

#include <algorithm>

#include "util/utf8.hpp"

namespace garner::proxy {

namespace {

constexpr std::size_t text_max = 512;

constexpr std::string_view page_begin = R"(<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<style>
:root { color-scheme: light dark; --page: #ffffff; --text: #111827; --soft: #545b68; --line: #d1d5db; }
@media (prefers-color-scheme: dark) { :root { --page: #111827; --text: #f3f4f6; --soft: #9ca3af; --line: #374151; } }
body { background: var(--page); color: var(--text); font: 16px/1.5 system-ui, sans-serif; }
body { margin: 0 auto; max-width: 40rem; padding: 2rem 1rem; }
h1 { font-size: 1.4rem; line-height: 1.25; }
ul { padding-left: 1.2rem; }
dl { border-top: 1px solid var(--line); padding-top: 1rem; }
dt, .status { color: var(--soft); font-size: .85rem; }
dd { margin: 0 0 .6rem; }
h1, dd { overflow-wrap: anywhere; }
</style>
)";

/// Appends with escapes for HTML or JSON.
void append_character(std::string& out, char c, ErrorFormat format) {
    bool const html = format == ErrorFormat::html;
    switch (c) {
    case '&': out += html ? "&amp;" : "&"; break;
    case '<': out += html ? "&lt;" : "<"; break;
    case '>': out += html ? "&gt;" : ">"; break;
    case '"': out += html ? "&quot;" : format == ErrorFormat::json ? "\\\"" : "\""; break;
    case '\\': out += format == ErrorFormat::json ? "\\\\" : "\\"; break;
    default: out += c;
    }
}

/// The texts before the name of a row, between name and value, and after the value.
struct RowFrame {
    std::string_view before, between, after;
};

RowFrame frame_of(ErrorFormat format, bool is_first) {
    switch (format) {
    case ErrorFormat::html: return {"<dt>", "</dt><dd>", "</dd>\n"};
    case ErrorFormat::json: return {is_first ? "\"" : ",\"", "\":\"", "\""};
    case ErrorFormat::text: break;
    }
    return {"", ": ", "\n"};
}

}   // namespace

void append_rows(std::string& out, std::initializer_list<PageRow> rows, ErrorFormat format) {
    for (auto const& row : rows) {
        if (row.value.empty()) continue;
        auto const frame = frame_of(format, out.ends_with('{'));
        out.append(frame.before).append(row.name).append(frame.between);
        row.append(out, row.value, format);
        out.append(frame.after);
    }
}

std::string_view head_of_page() { return page_begin; }

void append_escaped(std::string& out, std::string_view text, ErrorFormat format) {
    for (char c : text.substr(0, text_max)) append_character(out, c < ' ' || c > '~' ? '?' : c, format);
    if (text.size() > text_max) out += "...";
}

void append_own_text(std::string& out, std::string_view text, ErrorFormat format) {
    bool const is_cut = text.size() > text_max;
    text = text.substr(0, text_max);
    while (!text.empty()) {
        auto const length = utf8_length(text);
        if (length > 0)
            out.append(text.substr(0, length));
        else
            append_character(out, text[0] < ' ' || text[0] > '~' ? '?' : text[0], format);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    if (is_cut) out += "...";
}

void append_with_links(std::string& out, std::string_view text, ErrorFormat format) {
    if (format != ErrorFormat::html || text.size() > text_max) return append_own_text(out, text, format);
    while (!text.empty()) {
        auto const begin = std::min(text.find("http://"), text.find("https://"));
        append_own_text(out, text.substr(0, begin), format);
        if (begin == text.npos) return;
        text.remove_prefix(begin);
        auto url = text.substr(0, text.find_first_of(" \t\r\n<>\"'"));
        url = url.substr(0, url.find_last_not_of(".,;:!?)") + 1);   // the end of a sentence
        out += "<a href=\"";
        append_own_text(out, url, format);
        out += "\">";
        append_own_text(out, url, format);
        out += "</a>";
        text.remove_prefix(url.size());
    }
}

}   // namespace garner::proxy
