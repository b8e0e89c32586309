// The compact structures against models that keep whole entries and lists.
#include <gtest/gtest.h>

#include <algorithm>
#include <list>
#include <optional>
#include <random>

#include "catalog/seen_caches.hpp"
#include "crawl/stream.hpp"
#include "papers/chaining.hpp"
#include "papers/scatter.hpp"
#include "papers/slotted.hpp"

namespace garner::papers {
namespace {

using namespace catalog;
using namespace crawl;

/// A scatter table as in section 6 of the paper: slots hold whole fingerprints, chains are lists of slots.
template <class Hand>
class ScatterModel {
public:
    ScatterModel(std::uint64_t entries, unsigned bits, std::uint64_t seed)
        : bits_(bits), places_(entries), chains_(entries), hand_(entries, seed) {}

    bool seen(Fingerprint fingerprint) {
        auto const url = fingerprint >> (64 - bits_);
        auto const home = home_of(url);
        for (auto place : chains_[home])
            if (places_[place]->url == url) return places_[place]->marked = true;
        auto free = free_place(home);
        auto& chain = chains_[home];
        if (!chain.empty()) {
            chain.insert(std::next(chain.begin()), free);
            places_[free] = Item{url};
        } else {
            if (places_[home]) move(home, free);
            chain.push_back(home);
            places_[home] = Item{url};
        }
        return false;
    }

private:
    struct Item {
        std::uint64_t url;
        bool marked = false;
    };

    std::uint64_t home_of(std::uint64_t url) const {
        return places_.size() == 1 ? 0 : url >> (bits_ - CompactShape::log2_of(places_.size()));
    }
    void move(std::uint64_t from, std::uint64_t to) {
        auto& chain = chains_[home_of(places_[from]->url)];
        *std::find(chain.begin(), chain.end(), from) = to;
        places_[to] = places_[from];
        places_[from].reset();
    }
    std::uint64_t free_place(std::uint64_t home) {
        if (!places_[home]) return home;
        for (std::uint64_t i = 0; i < places_.size(); ++i)
            if (!places_[i]) return i;
        auto const victim =
            hand_.victim([&](std::uint64_t i) { return places_[i]->marked; }, [&](std::uint64_t i) { places_[i]->marked = false; });
        auto& chain = chains_[home_of(places_[victim]->url)];
        bool const second_moves_in = chain.front() == victim && chain.size() > 1;
        auto const freed = second_moves_in ? *std::next(chain.begin()) : victim;
        if (second_moves_in) places_[victim] = places_[freed];
        chain.erase(std::find(chain.begin(), chain.end(), freed));
        places_[freed].reset();
        return freed;
    }

    unsigned const bits_;
    std::vector<std::optional<Item>> places_;
    std::vector<std::list<std::uint64_t>> chains_;   // by home slot
    Hand hand_;
};

template <class Hand>
void expect_scatter_is_its_model(unsigned bits) {
    for (unsigned r = 0; r <= 7; ++r) {
        std::uint64_t const entries = 1u << r;
        for (std::uint64_t distinct : {entries / 2 + 1, entries + entries / 4 + 1, entries * 3}) {
            Scatter<Hand> table({.entries = entries, .bits = bits, .seed = r});
            ScatterModel<Hand> model(entries, bits, r);
            for (auto url : test::any_stream(40'000, distinct, r + distinct))
                ASSERT_EQ(table.look(url), model.seen(url)) << entries << " entries, " << distinct << " URLs";
        }
    }
}

TEST(Scatter, with_clock_is_its_model) { expect_scatter_is_its_model<ClockHand>(64); }
TEST(Scatter, with_random_is_its_model) { expect_scatter_is_its_model<RandomHand>(64); }

TEST(Scatter, with_shorter_fingerprints_takes_equal_ones_for_the_same) {
    expect_scatter_is_its_model<ClockHand>(8);
    expect_scatter_is_its_model<RandomHand>(7);
}

template <class Hand>
void expect_chaining_decides_as_the_plain_array() {
    for (unsigned r = 0; r <= 7; ++r) {
        std::uint64_t const entries = 1u << r;
        for (unsigned x = 0; x <= std::min(r, 3u); ++x) {
            for (std::uint64_t distinct : {entries / 2 + 1, entries + entries / 4 + 1, entries * 3}) {
                Chaining<Hand> table({.entries = entries, .x = x, .seed = r});
                Slotted<Hand> plain({.entries = entries, .seed = r});
                for (auto url : test::any_stream(30'000, distinct, r + distinct))
                    ASSERT_EQ(table.look(url), plain.look(url)) << entries << " entries, x " << x;
            }
        }
    }
}

TEST(Chaining, with_clock_decides_as_the_plain_array) { expect_chaining_decides_as_the_plain_array<ClockHand>(); }
TEST(Chaining, with_random_decides_as_the_plain_array) { expect_chaining_decides_as_the_plain_array<RandomHand>(); }

double bits_of(char const* spec) {
    auto const made = make_cache(spec, {.entries = 1 << 16});
    return static_cast<double>((*made)->memory_bits()) / (1 << 16);
}

TEST(Compact, bits_an_entry_are_those_of_the_paper) {
    EXPECT_EQ(bits_of("chaining:policy=random"), 64 + 7);
    EXPECT_EQ(bits_of("chaining"), 64 + 8);
    EXPECT_EQ(bits_of("scatter:policy=random"), 64 + 1);
    EXPECT_EQ(bits_of("scatter"), 64 + 2);
    EXPECT_EQ(bits_of("scatter:bits=40"), 40 + 2);
}

TEST(Compact, sizes_that_are_no_power_of_two_are_refused_with_the_next_ones) {
    EXPECT_EQ(make_cache("scatter", {.entries = 1000}).fault_text(),
              "1000 entries: the number must be a power of two; take 512 or 1024");
    EXPECT_EQ(make_cache("chaining", {.entries = 3}).fault_text(), "3 entries: the number must be a power of two; take 2 or 4");
}

TEST(BitFields, keep_their_neighbours) {
    for (unsigned width : {0u, 1u, 7u, 33u, 64u, 66u, 74u, 120u}) {
        std::vector<BitFields::Field> model(77);
        BitFields fields(model.size(), width);
        std::mt19937_64 random(width);
        for (int i = 0; i < 5'000; ++i) {
            auto const ones = (BitFields::Field{1} << width) - 1;
            auto const at = random() % model.size();
            model[at] = (BitFields::Field{random()} << 64 | random()) & ones;
            fields.set(at, model[at]);
            auto const other = random() % model.size();
            ASSERT_TRUE(fields.get(other) == model[other]);
        }
    }
}

}   // namespace
}   // namespace garner::papers
