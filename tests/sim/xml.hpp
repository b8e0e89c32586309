// As much of an XML reader as the pictures need: it finds what is not well-formed, and gives the elements.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace garner::sim {

struct Element {
    std::string name;
    std::map<std::string, std::string> attributes;   // as written, entities and all
    std::string text;                                // likewise, its own without its children's
};

struct Xml {
    std::vector<Element> elements;   // as they begin
    std::string fault;               // the first, with what stands there
};

namespace xml_detail {

inline bool well_escaped(std::string_view text) {
    for (char c : text)
        if (c == '<' || (static_cast<unsigned char>(c) < ' ' && c != '\n')) return false;
    for (auto amp = text.find('&'); amp != text.npos; amp = text.find('&', amp + 1)) {
        auto entity = text.substr(amp, text.find(';', amp) - amp + 1);
        if (entity != "&amp;" && entity != "&lt;" && entity != "&gt;" && entity != "&quot;") return false;
    }
    return true;
}

/// `tag` is what stands between < and >, or before the / of />.
inline bool read_tag(std::string_view tag, Element& element) {
    auto blank = std::min(tag.find(' '), tag.size());
    element.name = tag.substr(0, blank);
    tag.remove_prefix(blank);
    while (!tag.empty()) {
        if (tag.front() != ' ') return false;
        tag.remove_prefix(1);
        auto equals = tag.find("=\"");
        if (equals == tag.npos || equals == 0) return false;
        auto end = tag.find('"', equals + 2);
        if (end == tag.npos) return false;
        auto value = tag.substr(equals + 2, end - equals - 2);
        bool is_new = element.attributes.emplace(tag.substr(0, equals), value).second;
        if (!is_new || !well_escaped(value)) return false;
        tag.remove_prefix(end + 1);
    }
    return !element.name.empty();
}

}  // namespace xml_detail

inline Xml read_xml(std::string_view text) {
    Xml xml;
    std::vector<std::size_t> open;
    while (!text.empty() && xml.fault.empty()) {
        auto const here = text.substr(0, 60);
        if (text.front() != '<') {
            auto words = text.substr(0, text.find('<'));
            if (!xml_detail::well_escaped(words) || (open.empty() && words != "\n")) xml.fault = here;
            if (!open.empty()) xml.elements[open.back()].text += words;
            text.remove_prefix(words.size());
            continue;
        }
        auto end = text.find('>');
        if (end == text.npos) {
            xml.fault = here;
            break;
        }
        auto tag = text.substr(1, end - 1);
        text.remove_prefix(end + 1);
        if (tag.starts_with('/')) {
            if (open.empty() || xml.elements[open.back()].name != tag.substr(1)) xml.fault = here;
            if (!open.empty()) open.pop_back();
            continue;
        }
        bool const closed = tag.ends_with('/');
        if (closed) tag.remove_suffix(1);
        if (open.empty() && !xml.elements.empty()) xml.fault = here;   // a second root
        if (!xml_detail::read_tag(tag, xml.elements.emplace_back())) xml.fault = here;
        if (!closed) open.push_back(xml.elements.size() - 1);
    }
    if (!open.empty() && xml.fault.empty()) xml.fault = "not closed: " + xml.elements[open.back()].name;
    return xml;
}

}  // namespace garner::sim
