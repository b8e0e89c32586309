// Prometheus' text format 0.0.4.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "util/counter.hpp"

namespace garner::web {

/// A metric's name without its labels, and "counter" or "gauge".
std::string_view family_of(std::string_view name);
std::string_view type_of(std::string_view name);

/// Adds metrics one after the other; those of one family stand together and have one help text.
///
/// `name` may have labels: "garner_requests_total{answer}", "garner_answers_total{peer,said=\"hit\"}". The first label without
/// a value gets it from the added sample.
class PrometheusText {
public:
    /// An object has a sample for each member, whose name is the value of the label. A text is such a value, of a sample of 1.
    /// Null is NaN.
    void add(std::string_view name, std::string_view help, nlohmann::ordered_json const& value);
    void add_histogram(std::string_view name, std::string_view help, LatencySnapshot const& times);
    std::string take() { return std::move(text_); }

private:
    void begin(std::string_view name, std::string_view type, std::string_view help);
    void sample(std::string const& name, nlohmann::ordered_json const& value);

    std::string text_, family_;
};

}   // namespace garner::web
