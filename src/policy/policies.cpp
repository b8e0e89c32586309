#include "policy/policies.hpp"

#include <algorithm>
#include <array>

#include "policy/garner.hpp"
#include "policy/gdsf.hpp"
#include "policy/lru.hpp"

namespace garner::policy {
namespace {

template <class Policy>
std::unique_ptr<ReplacementPolicy> make_one(Options const& options) {
    return std::make_unique<Policy>(options);
}

// A policy with settings of its own declares them as its member `settings`, the last item of its row.

constexpr std::array rows{
    Row{"lru", "the least recently used leaves", make_one<Lru>},
    Row{"gdsf", "the large and seldom used leave; best object hit ratio", make_one<Gdsf>},
    Row{"garner", "Garner's own: fewest misses, of objects or of bytes", make_one<Garner>, Garner::settings},
};

}  // namespace

std::span<Row const> all() { return rows; }

Spec read_spec(std::string_view text) {
    Spec spec;
    auto name = text.substr(0, text.find(':'));
    auto settings = text.substr(std::min(text.size(), name.size() + 1));
    for (Row const& row : rows)
        if (row.name == name) spec.row = &row;
    if (!spec.row) {
        spec.fault = "no policy \"" + std::string(name) + "\"; there are";
        for (Row const& row : rows) (spec.fault += &row == rows.data() ? " " : ", ") += row.name;
        return spec;
    }
    auto read = read_settings(settings, spec.row->settings);
    if (!read.fault.empty()) {
        spec.fault = std::string(name) + ": " + read.fault;
        spec.row = nullptr;
    }
    spec.values = std::move(read.values);
    return spec;
}

std::unique_ptr<ReplacementPolicy> make(std::string_view text, Options options) {
    auto spec = read_spec(text);
    if (!spec.row) return nullptr;
    options.values = std::move(spec.values);
    return spec.row->make(options);
}

}  // namespace garner::policy
