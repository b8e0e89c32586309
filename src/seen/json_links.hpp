// Reads a list of URLs in JSON element by element, without keeping the list in memory.
#pragma once
#include "seen/body_forms.hpp"

namespace garner::seen {

/// `["http://a.example/", …]`. An element that is not a string, or has invalid UTF-8, is a refused link. A body that is not a
/// list, or is truncated, is an error. nlohmann::json reads the elements that are not plain strings.
class JsonLinks final : public BodyReader {
public:
    explicit JsonLinks(LinkSorter& to) : to_(to) {}

    bool read(std::string_view piece) override;
    Result<void> finish() override;

private:
    enum class State : std::uint8_t { before_list, before_element, in_element, after_list, broken };

    void step(std::string_view& piece);
    void read_element(std::string_view& piece);
    std::size_t end_of_element(std::string_view piece);
    void keep(std::string_view part);
    void end_element();
    void take_element(std::string_view text);
    void take_any(std::string_view text);
    void break_off(std::string_view why);

    LinkSorter& to_;
    State state_ = State::before_list;
    std::string element_;   // the part read so far
    bool too_long_ = false;
    bool in_string_ = false, escaped_ = false;
    std::uint32_t depth_ = 0;   // nested lists and objects inside an element
    std::uint64_t elements_ = 0;
    std::string fault_;
};

}   // namespace garner::seen
