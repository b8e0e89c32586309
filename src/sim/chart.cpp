#include "sim/chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <string_view>

#include "util/numbers.hpp"
#include "util/utf8.hpp"

namespace garner::sim {
namespace {

constexpr double width = 900, height = 600;
constexpr double left = 84, top = 58, bottom = height - 72;
constexpr double character = 8.2;        // a wide guess of what one takes, at 14 px
constexpr std::size_t longest_name = 36;
constexpr double line_height = 17;

// Each has a contrast of at least 3:1 on white and on black; neighbours in the list differ in lightness or in blue,
// which the colour-blind see (after Okabe and Ito's palette, darkened for white).
constexpr std::array<std::string_view, 8> colours{"#0072b2", "#d55e00", "#009e73", "#c4649b",
                                                  "#a37800", "#7b5ce0", "#1a9bd0", "#99553a"};
constexpr std::string_view grey = "#7d7d7d";   // of references, axes and texts
constexpr double sample_width = 36;   // of the line beside its name, with the gap after it
constexpr std::array<std::string_view, 4> dashes{"", "9 4", "9 3 2 3", "4 3"};
constexpr std::array<std::string_view, 4> reference_dashes{"6 4", "2 4", "10 4 2 4", "14 6"};
// A dot, a square, a diamond, a triangle: around 0,0.
constexpr std::array<std::string_view, 4> marks{"M-3.8,0a3.8,3.8 0 1,0 7.6,0a3.8,3.8 0 1,0 -7.6,0z",
                                                "M-3.4,-3.4h6.8v6.8h-6.8z", "M0,-4.8L4.8,0L0,4.8L-4.8,0z",
                                                "M0,-4.6L4.4,3.4H-4.4z"};

std::string fixed(double value) { return with_decimals(value, 1); }

std::string at(double x, double y) { return fixed(x) + "," + fixed(y); }

/// Appends the first character of `text` as XML 1.0 allows it in texts and in quoted attributes (sections 2.2 and 2.4).
/// Returns the bytes it took.
std::size_t escape_one(std::string_view text, std::string& out) {
    switch (char const c = text.front()) {
    case '&': out += "&amp;"; return 1;
    case '<': out += "&lt;"; return 1;
    case '>': out += "&gt;"; return 1;
    case '"': out += "&quot;"; return 1;
    default:
        if (c < ' ' || c > '~') break;
        out += c;
        return 1;
    }
    auto const length = utf8_length(text);
    bool const no_character = text.starts_with("\xef\xbf\xbe") || text.starts_with("\xef\xbf\xbf");
    if (length == 0 || no_character)
        out += "\xef\xbf\xbd";
    else
        out += text.substr(0, length);
    return std::max<std::size_t>(length, 1);
}

std::string escaped(std::string_view text) {
    std::string out;
    while (!text.empty()) text.remove_prefix(escape_one(text, out));
    return out;
}

/// The name as it fits beside the chart: names that differ only at their ends still do.
std::string shortened(std::string const& name) {
    if (name.size() <= longest_name) return name;
    return name.substr(0, longest_name / 2 - 1) + "…" + name.substr(name.size() - longest_name / 2 + 2);
}

/// Places near the wanted ones, which rise, at least `gap` apart and within low and high as far as they can: those that
/// would meet share out the distance.
std::vector<double> spread(std::vector<double> const& wanted, double gap, double low, double high) {
    struct Group {
        double sum;         // of what each member wants of the first
        double members;
        double first() const { return sum / members; }
    };
    if (wanted.size() > 1) gap = std::min(gap, (high - low) / static_cast<double>(wanted.size() - 1));
    std::vector<Group> groups;
    auto clamped = [&](Group const& group) {
        return std::max(low, std::min(group.first(), high - gap * (group.members - 1)));
    };
    for (double place : wanted) {
        groups.push_back({place, 1});
        while (groups.size() > 1) {
            Group const& last = groups.back();
            Group& before = groups[groups.size() - 2];
            if (clamped(before) + gap * before.members <= clamped(last)) break;
            before = {before.sum + last.sum - gap * before.members * last.members, before.members + last.members};
            groups.pop_back();
        }
    }
    std::vector<double> places;
    for (auto const& group : groups)
        for (double i = 0; i < group.members; ++i) places.push_back(clamped(group) + i * gap);
    return places;
}

struct Style {
    std::string_view colour, dash, mark;
};

struct Line {
    Series const* series;
    std::vector<Point> points;   // those that can be drawn, by x
    Style style;
};

class Picture {
public:
    explicit Picture(Chart const& chart) : chart_(chart) {
        choose_lines();
        fit_axes();
    }

    std::string draw() {
        begin();
        draw_axes();
        for (bool references : {true, false})   // the policies above them
            for (auto const& line : lines_)
                if (line.series->reference == references) draw_line(line);
        draw_names();
        return std::move(out_) + "</svg>\n";
    }

private:
    void choose_lines() {
        std::size_t compared = 0, references = 0;
        for (auto const& series : chart_.series) {
            Line line{&series, {}, {}};
            for (auto point : series.points)
                if (std::isfinite(point.x) && std::isfinite(point.y) &&
                    (chart_.x_scale == Scale::linear || point.x > 0))
                    line.points.push_back(point);
            std::stable_sort(line.points.begin(), line.points.end(), [](Point a, Point b) { return a.x < b.x; });
            line.style = series.reference ? reference_style(references++) : style(compared++);
            if (!line.points.empty()) lines_.push_back(std::move(line));
        }
    }

    static Style style(std::size_t i) {
        return {colours[i % colours.size()], dashes[i / colours.size() % dashes.size()], marks[i % marks.size()]};
    }
    static Style reference_style(std::size_t i) { return {grey, reference_dashes[i % reference_dashes.size()], {}}; }

    void fit_axes() {
        double low_x = INFINITY, high_x = -INFINITY, low_y = INFINITY, high_y = -INFINITY;
        std::size_t longest = 0;
        for (auto const& line : lines_) {
            longest = std::max(longest, std::min(line.series->name.size(), longest_name));
            for (auto point : line.points) {
                low_x = std::min(low_x, point.x), high_x = std::max(high_x, point.x);
                low_y = std::min(low_y, point.y), high_y = std::max(high_y, point.y);
            }
        }
        if (lines_.empty()) low_x = high_x = 1, low_y = 0, high_y = 1;
        x_ = open_axis(chart_.x_scale, low_x, high_x);
        y_ = round_axis(low_y, high_y);
        right_ = width - 46 - sample_width - character * static_cast<double>(longest);
    }

    double x(double value) const { return left + (right_ - left) * x_.place(value); }
    double y(double value) const { return bottom + (top - bottom) * y_.place(value); }

    void begin() {
        out_ = R"(<svg xmlns="http://www.w3.org/2000/svg" width="900" height="600" viewBox="0 0 900 600" role="img")"
               R"( font-family="system-ui, 'DejaVu Sans', Helvetica, Arial, sans-serif" font-size="14" fill="none">)"
               "\n";
        element("title", {}, chart_.title);
        element("text", {{"x", fixed(left)}, {"y", "32"}, {"fill", grey}, {"font-size", "18"}, {"font-weight", "600"}},
                chart_.title);
    }

    void draw_axes() {
        for (auto const& tick : y_.ticks) {
            rule(at(left, y(tick.value)), at(right_, y(tick.value)));
            text(left - 10, y(tick.value) + 5, "end", grey, tick.label);
        }
        for (auto const& tick : x_.ticks) {
            rule(at(x(tick.value), top), at(x(tick.value), bottom));
            text(x(tick.value), bottom + 22, "middle", grey, tick.label);
        }
        path("M" + at(left, top) + "L" + at(left, bottom) + "L" + at(right_, bottom), grey, 1, "");
        text((left + right_) / 2, height - 20, "middle", grey, chart_.x_title);
        auto const upwards = "translate(24," + fixed((top + bottom) / 2) + ") rotate(-90)";
        element("text", {{"transform", upwards}, {"text-anchor", "middle"}, {"fill", grey}}, chart_.y_title);
    }

    void draw_line(Line const& line) {
        std::string way;
        for (auto point : line.points) way += (way.empty() ? "M" : "L") + at(x(point.x), y(point.y));
        path(way, line.style.colour, line.series->reference ? 1.5 : 2, line.style.dash);
        // One point alone makes no line.
        auto mark = line.style.mark.empty() && line.points.size() == 1 ? marks[0] : line.style.mark;
        if (mark.empty()) return;
        for (auto point : line.points)
            element("path", {{"transform", "translate(" + at(x(point.x), y(point.y)) + ")"},
                             {"fill", line.style.colour},
                             {"d", mark}});
    }

    void draw_names() {
        auto ends = [&](Line const& line) { return y(line.points.back().y); };
        std::vector<Line const*> order;
        for (auto const& line : lines_) order.push_back(&line);
        std::stable_sort(order.begin(), order.end(), [&](auto* a, auto* b) { return ends(*a) < ends(*b); });
        std::vector<double> wanted;
        for (auto* line : order) wanted.push_back(ends(*line));
        auto places = spread(wanted, line_height, top, bottom);
        for (std::size_t i = 0; i < order.size(); ++i) {
            auto const& colour = order[i]->style.colour;
            double const end = x(order[i]->points.back().x);
            auto const way = at(end + 7, wanted[i]) + "L" + at(right_ + 4, wanted[i]) + "L" + at(right_ + 24, places[i]);
            path("M" + way, colour, 1, "1 3");
            draw_sample(*order[i], right_ + 28, places[i]);
            text(right_ + 28 + sample_width, places[i] + 5, "start", colour, shortened(order[i]->series->name));
        }
    }

    /// A piece of the line: more lines than colours differ by their dashes.
    void draw_sample(Line const& line, double from, double height) {
        auto const to = from + sample_width - 6;
        path("M" + at(from, height) + "L" + at(to, height), line.style.colour, line.series->reference ? 1.5 : 2, line.style.dash);
        if (line.style.mark.empty()) return;
        element("path", {{"transform", "translate(" + at((from + to) / 2, height) + ")"},
                         {"fill", line.style.colour},
                         {"d", line.style.mark}});
    }

    void rule(std::string const& from, std::string const& to) { path("M" + from + "L" + to, grey, 1, "", 0.25); }

    void path(std::string const& way, std::string_view colour, double wide, std::string_view dash, double opacity = 1) {
        element("path", {{"d", way},
                         {"stroke", colour},
                         {"stroke-width", fixed(wide)},
                         {"stroke-dasharray", dash},
                         {"stroke-opacity", opacity < 1 ? with_decimals(opacity, 2) : ""}});
    }

    void text(double x, double y, std::string_view anchor, std::string_view colour, std::string_view words) {
        element("text", {{"x", fixed(x)}, {"y", fixed(y)}, {"text-anchor", anchor}, {"fill", colour}}, words);
    }

    struct Attribute {
        template <class Text>
        Attribute(std::string_view name, Text const& value) : name(name), value(value) {}
        std::string_view name;
        std::string value;   // empty: the attribute is left out
    };

    void element(std::string const& name, std::initializer_list<Attribute> attributes, std::string_view words = {}) {
        out_ += "<" + name;
        for (auto const& [attribute, value] : attributes)
            if (!value.empty()) out_ += " " + std::string(attribute) + "=\"" + escaped(value) + "\"";
        out_ += words.empty() ? "/>\n" : ">" + escaped(words) + "</" + name + ">\n";
    }

    Chart const& chart_;
    std::vector<Line> lines_;
    Axis x_, y_;
    double right_ = width;   // of the plot; what is beyond belongs to the names
    std::string out_;
};

}  // namespace

std::string svg(Chart const& chart) { return Picture(chart).draw(); }

}  // namespace garner::sim
