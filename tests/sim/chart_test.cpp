// Axes, and charts as XML: what a reader sees, without looking at it.
#include "sim/chart.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <set>

#include "sim/axis.hpp"
#include "sim/xml.hpp"

namespace garner::sim {
namespace {

std::string labels(Axis const& axis) {
    std::string all;
    for (auto const& tick : axis.ticks) all += (all.empty() ? "" : " | ") + tick.label;
    return all;
}

TEST(Axis, a_round_one_begins_and_ends_with_a_tick) {
    EXPECT_EQ(labels(round_axis(3, 97)), "0 | 20 | 40 | 60 | 80 | 100");
    EXPECT_EQ(labels(round_axis(43, 52)), "42 | 44 | 46 | 48 | 50 | 52");
    EXPECT_EQ(labels(round_axis(0.101, 0.1029)), "0.1010 | 0.1015 | 0.1020 | 0.1025 | 0.1030");
    EXPECT_EQ(labels(round_axis(-1, 1)), "-1.0 | -0.5 | 0.0 | 0.5 | 1.0");
}

TEST(Axis, one_value_alone_has_room) {
    for (double value : {0.0, 7.0, -3.0, 1e12, 1e-12})
        for (auto const& axis : {round_axis(value, value), open_axis(Scale::linear, value, value)}) {
            EXPECT_LE(axis.low, value);
            EXPECT_GE(axis.high, value);
            EXPECT_LT(axis.low, axis.high);
            EXPECT_GE(axis.ticks.size(), 2u) << value;
        }
    EXPECT_EQ(labels(open_axis(Scale::bytes, 1 << 20, 1 << 20)), "256 KiB | 512 KiB | 1 MiB | 2 MiB | 4 MiB");
}

TEST(Axis, sizes_have_ticks_in_their_units) {
    EXPECT_EQ(labels(open_axis(Scale::bytes, 54588, 5458803)),
              "64 KiB | 128 KiB | 256 KiB | 512 KiB | 1 MiB | 2 MiB | 4 MiB");
    EXPECT_EQ(labels(open_axis(Scale::bytes, 1 << 20, 0x1p40)), "1 MiB | 32 MiB | 1 GiB | 32 GiB | 1 TiB");
    EXPECT_EQ(labels(open_axis(Scale::bytes, 1, 0x1p63)), "1 B | 1 KiB | 1 MiB | 1 GiB | 1 TiB | 1 PiB | 1 EiB");
    EXPECT_EQ(labels(open_axis(Scale::log, 1, 1e5)), "1 | 10 | 100 | 1000 | 10000 | 100000");
}

TEST(Axis, places_are_even_in_the_scale) {
    auto axis = open_axis(Scale::bytes, 1 << 10, 1 << 20);
    EXPECT_NEAR(axis.place(1 << 15), 0.5, 1e-9);
    EXPECT_DOUBLE_EQ(axis.place(axis.low), 0);
    EXPECT_DOUBLE_EQ(axis.place(axis.high), 1);
    EXPECT_DOUBLE_EQ(round_axis(0, 10).place(2.5), 0.25);
}

TEST(Axis, there_are_never_many_ticks) {
    for (double low = 1; low < 1e15; low *= 3)
        for (double high = low; high < 1e16; high *= 1.7)
            for (auto const& axis : {round_axis(low, high), open_axis(Scale::linear, low, high),
                                     open_axis(Scale::log, low, high), open_axis(Scale::bytes, low, high)}) {
                EXPECT_GE(axis.ticks.size(), 2u) << low << " to " << high;
                EXPECT_LE(axis.ticks.size(), 12u) << low << " to " << high;
                EXPECT_LE(axis.low, low);
                EXPECT_GE(axis.high, high);
            }
}

Xml picture(Chart const& chart) {
    auto xml = read_xml(svg(chart));
    EXPECT_EQ(xml.fault, "");
    return xml;
}

double number(Element const& element, char const* attribute) {
    return std::strtod(element.attributes.at(attribute).c_str(), nullptr);
}

/// The names at the lines' ends, by their texts.
std::map<std::string, Element> names(Xml const& xml, Chart const& chart) {
    std::map<std::string, Element> found;
    for (auto const& element : xml.elements)
        for (auto const& series : chart.series)
            if (element.name == "text" && element.text == series.name) found[series.name] = element;
    return found;
}

Chart crowded(std::size_t lines, double apart) {
    Chart chart{"crowd", "size", "misses", Scale::bytes, {}};
    for (std::size_t i = 0; i < lines; ++i) {
        auto end = 50 + apart * static_cast<double>(i);
        chart.series.push_back({"policy" + std::to_string(i), {{1e6, 90}, {1e9, end}}, false});
    }
    return chart;
}

TEST(Chart, the_xml_is_well_formed_whatever_the_texts_hold) {
    std::string const wicked = "</text><script>\"&'\x01\xff\xc3\xa9\xed\xa0\x80\xef\xbf\xbf]]>";
    Chart chart{wicked, wicked, wicked, Scale::linear, {{wicked, {{1, 2}, {2, 3}}, false}, {wicked, {{1, 1}}, true}}};
    auto xml = picture(chart);
    for (auto const& element : xml.elements) EXPECT_NE(element.name, "script");
    EXPECT_EQ(xml.elements[1].name, "title");
    EXPECT_EQ(xml.elements[1].text, "&lt;/text&gt;&lt;script&gt;&quot;&amp;'\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9"
                                    "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd]]&gt;");
}

TEST(Chart, the_reader_of_the_tests_finds_faults) {
    for (auto text : {"<a>", "<a></b>", "<a><b></a></b>", "<a/><b/>", "<a b='c'/>", "<a b=\"<\"/>", "<a>&x;</a>", "x"})
        EXPECT_NE(read_xml(text).fault, "") << text;
    EXPECT_EQ(read_xml("<a b=\"c &lt; d\">e<f/></a>\n").fault, "");
}

TEST(Chart, names_stand_at_the_lines_ends_in_their_colours_and_never_on_each_other) {
    for (double apart : {0.0, 0.2, 3.0}) {
        auto chart = crowded(14, apart);
        auto found = names(picture(chart), chart);
        ASSERT_EQ(found.size(), chart.series.size());
        std::set<double> places;
        for (auto const& [name, element] : found) places.insert(number(element, "y"));
        ASSERT_EQ(places.size(), chart.series.size());
        double before = 0;
        for (double place : places) {
            EXPECT_GE(place - before, 16.9) << apart;
            before = place;
        }
        EXPECT_LE(before, 560);
    }
}

TEST(Chart, lines_beyond_the_palette_are_dashed) {
    auto xml = picture(crowded(20, 2));
    std::set<std::string> looks;
    for (auto const& element : xml.elements)
        if (element.name == "path" && element.attributes.contains("stroke-width") &&
            element.attributes.at("stroke-width") == "2.0") {
            auto dash = element.attributes.find("stroke-dasharray");
            looks.insert(element.attributes.at("stroke") + (dash == element.attributes.end() ? "" : dash->second));
        }
    EXPECT_EQ(looks.size(), 20u);
}

TEST(Chart, references_are_grey_and_dashed_and_have_no_colour_of_the_others) {
    Chart chart{"t", "x", "y", Scale::linear, {{"bound", {{1, 1}, {2, 1}}, true}, {"lru", {{1, 3}, {2, 2}}, false}}};
    auto xml = picture(chart);
    auto found = names(xml, chart);
    auto grey = found.at("bound").attributes.at("fill");
    EXPECT_EQ(grey.substr(1, 2), grey.substr(3, 2));
    EXPECT_NE(found.at("lru").attributes.at("fill"), grey);
    bool dashed = false;
    for (auto const& element : xml.elements)
        dashed |= element.name == "path" && element.attributes.at("d").starts_with("M") &&
                  element.attributes.contains("stroke-dasharray") && element.attributes.at("stroke-width") == "1.5";
    EXPECT_TRUE(dashed);
}

/// Relative luminance (WCAG 2.1).
double luminance(std::string const& colour) {
    double const weights[] = {0.2126, 0.7152, 0.0722};
    double sum = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        double part = static_cast<double>(std::stoi(colour.substr(1 + 2 * i, 2), nullptr, 16)) / 255;
        sum += weights[i] * (part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
    }
    return sum;
}

TEST(Chart, every_colour_is_seen_on_white_and_on_black) {
    auto chart = crowded(8, 2);
    chart.series.push_back({"bound", {{1e6, 3}, {1e9, 2}}, true});
    std::set<std::string> colours;
    for (auto const& element : picture(chart).elements)
        for (auto attribute : {"fill", "stroke"})
            if (auto found = element.attributes.find(attribute); found != element.attributes.end())
                if (found->second != "none") colours.insert(found->second);
    EXPECT_EQ(colours.size(), 9u);
    for (auto const& colour : colours) {
        EXPECT_GE(1.05 / (luminance(colour) + 0.05), 3) << colour;
        EXPECT_GE((luminance(colour) + 0.05) / 0.05, 3) << colour;
    }
}

TEST(Chart, a_point_alone_is_a_dot_and_what_has_no_place_is_left_out) {
    Chart chart{"t", "x", "y", Scale::bytes, {{"one", {{1e6, 5}}, false}, {"bound", {{1e6, 1}}, true},
                                              {"nowhere", {{0, 5}, {-1, 5}, {NAN, 1}, {1, INFINITY}}, false}}};
    auto xml = picture(chart);
    int dots = 0;
    for (auto const& element : xml.elements) dots += element.name == "path" && element.attributes.contains("transform");
    EXPECT_EQ(dots, 3);   // and one beside its name
    EXPECT_EQ(names(xml, chart).count("nowhere"), 0u);
    for (auto const& element : xml.elements)
        for (auto const& [name, value] : element.attributes) EXPECT_EQ(value.find("nan"), value.npos) << value;
}

TEST(Chart, nothing_to_draw_is_still_a_picture) {
    for (Scale scale : {Scale::linear, Scale::log, Scale::bytes}) picture({"t", "x", "y", scale, {}});
}

TEST(Chart, all_points_lie_inside_the_frame) {
    auto chart = crowded(3, 20);
    auto text = svg(chart);
    for (auto const& element : read_xml(text).elements)
        if (element.name == "path" && element.attributes.contains("transform")) {
            double x = 0, y = 0;
            ASSERT_EQ(std::sscanf(element.attributes.at("transform").c_str(), "translate(%lf,%lf)", &x, &y), 2);
            EXPECT_GT(x, 84);
            EXPECT_LT(x, 820);   // the frame, and the pieces beside the names
            EXPECT_GE(y, 58);
            EXPECT_LE(y, 528);
        }
}

}  // namespace
}  // namespace garner::sim
