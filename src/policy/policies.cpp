#include "policy/policies.hpp"

#include <array>

#include "policy/gdsf.hpp"
#include "policy/lru.hpp"

namespace garner::policy {
namespace {

template <class Policy>
std::unique_ptr<ReplacementPolicy> make_one(Options const& options) {
    return std::make_unique<Policy>(options);
}

constexpr std::array rows{
    Row{"lru", "the least recently used leaves", make_one<Lru>},
    Row{"gdsf", "the large and seldom used leave; best object hit ratio", make_one<Gdsf>},
};

}  // namespace

std::span<Row const> all() { return rows; }

std::unique_ptr<ReplacementPolicy> make(std::string_view name, Options const& options) {
    for (Row const& row : rows)
        if (row.name == name) return row.make(options);
    return nullptr;
}

}  // namespace garner::policy
