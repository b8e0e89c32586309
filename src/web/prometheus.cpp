#include "web/prometheus.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "util/utf8.hpp"

namespace garner::web {

using Json = nlohmann::ordered_json;

namespace {

constexpr std::array bucket_limits{// µs
                                   100u,       250u,       500u,       1'000u,      2'500u,     5'000u,
                                   10'000u,    25'000u,    50'000u,    100'000u,    250'000u,   500'000u,
                                   1'000'000u, 2'500'000u, 5'000'000u, 10'000'000u, 30'000'000u};

std::string text_of(Json const& value) {
    if (value.is_null()) return "NaN";
    if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
    if (!value.is_number_float()) return value.dump();
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.15g", value.get<double>());
    return digits;
}

/// Other processes and the operator choose names: they may contain any byte. Prometheus rejects all metrics if one label is not
/// UTF-8.
std::string escaped_label(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        char const c = text.front();
        bool const is_ascii = static_cast<unsigned char>(c) < 0x80;
        std::size_t const length = is_ascii ? 1 : static_cast<std::size_t>(utf8_length(text));
        if (c == '\\' || c == '"') out += '\\';
        out += length == 0 ? "?" : c == '\n' ? "\\n" : text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return out;
}

std::string labelled(std::string_view name, std::string_view value) {
    std::string out(name);
    return out.insert(out.find_first_of(",}"), "=\"" + escaped_label(value) + "\"");
}

}   // namespace

std::string_view family_of(std::string_view name) { return name.substr(0, name.find('{')); }

std::string_view type_of(std::string_view name) { return family_of(name).ends_with("_total") ? "counter" : "gauge"; }

void PrometheusText::begin(std::string_view name, std::string_view type, std::string_view help) {
    if (family_of(name) == family_) return;
    family_ = family_of(name);
    text_ += "# HELP " + family_ + " " + std::string(help) + "\n# TYPE " + family_ + " " + std::string(type) + "\n";
}

void PrometheusText::sample(std::string const& name, Json const& value) { text_ += name + " " + text_of(value) + "\n"; }

void PrometheusText::add(std::string_view name, std::string_view help, Json const& value) {
    begin(name, type_of(name), help);
    if (value.is_string()) return sample(labelled(name, value.get<std::string>()), 1);
    if (!value.is_object()) return sample(std::string(name), value);
    for (auto const& [label, number] : value.items()) sample(labelled(name, label), number);
}

void PrometheusText::add_histogram(std::string_view name, std::string_view help, LatencySnapshot const& times) {
    begin(name, "histogram", help);
    std::string const family(name);
    std::uint64_t seen = 0;
    std::size_t bucket = 0;
    for (auto limit : bucket_limits) {
        // A finer bucket that contains the limit counts above it, so a value is at most 1/16 too high.
        while (bucket < times.buckets.size() && LatencyBuckets::most(bucket) <= limit) seen += times.buckets[bucket++];
        sample(labelled(family + "_bucket{le}", text_of(limit / 1e6)), seen);
    }
    sample(family + "_bucket{le=\"+Inf\"}", times.total);
    sample(family + "_sum", static_cast<double>(times.sum_micros) / 1e6);
    sample(family + "_count", times.total);
}

}   // namespace garner::web
