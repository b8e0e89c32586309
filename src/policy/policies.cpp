#include "policy/policies.hpp"

#include <algorithm>
#include <array>

#include "policy/clock_policy.hpp"
#include "policy/cpbad.hpp"
#include "policy/fifo.hpp"
#include "policy/garner.hpp"
#include "policy/gdsf.hpp"
#include "policy/lfu.hpp"
#include "policy/lfuda.hpp"
#include "policy/lru.hpp"
#include "policy/random.hpp"
#include "policy/s3fifo.hpp"
#include "policy/sieve.hpp"
#include "policy/slru.hpp"
#include "policy/wtinylfu.hpp"

namespace garner::policy {
namespace {

template <class Policy>
std::unique_ptr<ReplacementPolicy> make_one(Options const& options) {
    return std::make_unique<Policy>(options);
}

// A policy with settings declares them as its member `settings`, the last item of its row.

constexpr std::array rows{
    Row{"lru", "evicts the least recently used object", make_one<Lru>},
    Row{"gdsf", "evicts large and rarely used objects; best object hit ratio", make_one<Gdsf>},
    Row{"lfu", "evicts the least frequently used object", make_one<Lfu>},
    Row{"lfuda", "evicts the least frequently used object; use loses weight with time", make_one<Lfuda>},
    Row{"fifo", "evicts the oldest object", make_one<Fifo>},
    Row{"clock", "evicts the oldest object; objects used since insertion get a second chance", make_one<Clock>, Clock::settings},
    Row{"random", "evicts an object at random", make_one<Random>},
    Row{"sieve", "evicts the oldest object without a use since the hand passed it", make_one<Sieve>},
    Row{"s3fifo", "FIFO queues; a small one filters out objects that are used once", make_one<S3Fifo>, S3Fifo::settings},
    Row{"wtinylfu", "admits an object if it is requested more often than its victims", make_one<WTinyLfu>, WTinyLfu::settings},
    Row{"slru", "evicts the least recently used object; protects objects used again", make_one<Slru>, Slru::settings},
    Row{"cpbad", "evicts objects that are requested at increasing intervals", make_one<Cpbad>, Cpbad::settings},
    Row{"garner", "Garner's own: fewest misses, of objects or of bytes", make_one<Garner>, Garner::settings},
};

}   // namespace

std::span<Row const> all() { return rows; }

Result<Spec> read_spec(std::string_view text) {
    auto const name = text.substr(0, text.find(':'));
    auto const row = std::ranges::find(rows, name, &Row::name);
    if (row == rows.end()) {
        std::string names = "valid policies:";
        for (Row const& one : rows) (names += &one == rows.data() ? " " : ", ") += one.name;
        return Fault{"no policy \"" + std::string(name) + "\"", names};
    }
    auto values = read_settings(text.substr(std::min(text.size(), name.size() + 1)), row->settings);
    if (!values) return values.fault().at(std::string(name));
    return Spec{&*row, *std::move(values)};
}

std::unique_ptr<ReplacementPolicy> make(std::string_view text, Options options) {
    auto spec = read_spec(text);
    if (!spec) return nullptr;
    options.values = std::move(spec->values);
    return spec->row->make(options);
}

}   // namespace garner::policy
