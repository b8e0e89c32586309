#include "crawl/line_cache.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "crawl/line_ops.hpp"
#include "crawl/lru.hpp"

namespace garner::crawl {
namespace {

#define GARNER_INLINE __attribute__((always_inline)) inline

constexpr std::uint64_t line_bits = 512;

/// Lines, chosen by the first bits of the fingerprint.
struct FirstBits {
    std::uint64_t lines;
    std::uint64_t line_of(Fingerprint url) const {
        return static_cast<std::uint64_t>((static_cast<unsigned __int128>(url) * lines) >> 64);
    }
};

/// Which of a line's slots is given up for the front one: the key's own, else the last.
GARNER_INLINE unsigned slot_given_up(unsigned match, unsigned ways) {
    return static_cast<unsigned>(std::countr_zero(match | 1u << (ways - 1)));
}

/// A shape has a Line, its ways, and touch<Ops>(): true when the line holds the fingerprint. Either way it is at
/// `place(held)` from now on, and when it was not held the last one has left.
struct WholeFingerprints {
    static constexpr unsigned ways = 8;
    struct alignas(64) Line {
        std::uint64_t urls[ways];
    };

    explicit WholeFingerprints(std::uint64_t lines) : home{lines} {}

    // An empty place holds a fingerprint of another line.
    Line empty(std::uint64_t line) const {
        Line all{};
        if (line == 0)
            for (auto& url : all.urls) url = UINT64_MAX;
        return all;
    }
    GARNER_INLINE std::uint64_t line_of(Fingerprint url) const { return home.line_of(url); }

    template <class Ops, class Place>
    GARNER_INLINE bool touch(Line& line, Fingerprint url, Place place) const {
        auto const match = Ops::match64(line.urls, url);
        auto const from = slot_given_up(match, ways), to = place(match != 0);
        Ops::move64(line.urls, to, from, url);
        return match != 0;
    }

    FirstBits home;
};

struct Tags {
    static constexpr unsigned ways = 16;
    struct alignas(64) Line {
        std::uint32_t tags[ways];
    };

    explicit Tags(std::uint64_t lines) : home{lines} {}

    Line empty(std::uint64_t) const { return {}; }
    GARNER_INLINE std::uint64_t line_of(Fingerprint url) const { return home.line_of(url); }

    template <class Ops, class Place>
    GARNER_INLINE bool touch(Line& line, Fingerprint url, Place place) const {
        auto const low = static_cast<std::uint32_t>(url);
        auto const tag = low + (low == 0);   // 0 is an empty place
        auto const match = Ops::match32(line.tags, tag);
        auto const from = slot_given_up(match, ways), to = place(match != 0);
        Ops::move32(line.tags, to, from, tag);
        return match != 0;
    }

    FirstBits home;
};

struct Quotients {
    static constexpr unsigned ways = 10;
    static constexpr unsigned key_bits = 51;
    static constexpr std::uint64_t least_lines = (std::uint64_t{1} << (64 - key_bits)) + 1;
    struct alignas(64) Line {
        std::uint32_t low[ways];    // 32 bits of each key,
        std::uint16_t middle[ways];  // 16,
        std::uint32_t high;         // and 3
    };
    static_assert(sizeof(Line) * 8 == line_bits);

    explicit Quotients(std::uint64_t lines) : lines_(lines), reciprocal_(UINT64_MAX / lines) {}

    // All ones are above any quotient by that many lines.
    Line empty(std::uint64_t) const {
        Line all;
        for (auto& low : all.low) low = UINT32_MAX;
        for (auto& middle : all.middle) middle = UINT16_MAX;
        all.high = UINT32_MAX;
        return all;
    }
    GARNER_INLINE std::uint64_t line_of(Fingerprint url) const { return divided(url).line; }

    template <class Ops, class Place>
    GARNER_INLINE bool touch(Line& line, Fingerprint url, Place place) const {
        auto const key = divided(url).quotient;
        auto const low = static_cast<std::uint32_t>(key);
        auto const middle = static_cast<std::uint16_t>(key >> 32);
        auto const high = static_cast<std::uint32_t>(key >> 48);
        unsigned match = Ops::match32(line.low, low) & ((1u << ways) - 1);
        for (; match; match &= match - 1) {
            auto const at = static_cast<unsigned>(std::countr_zero(match));
            if (line.middle[at] == middle && ((line.high >> (3 * at)) & 7) == high) break;
        }
        auto const from = slot_given_up(match, ways), to = place(match != 0);
        Plain::move(line.low, to, from, low);
        Plain::move(line.middle, to, from, middle);
        auto const moved = ((std::uint32_t{8} << (3 * from)) - 1) & ~((std::uint32_t{1} << (3 * to)) - 1);
        auto const up = (line.high << 3 & moved) & ~(std::uint32_t{7} << (3 * to));
        line.high = (line.high & ~moved) | up | high << (3 * to);
        return match != 0;
    }

private:
    using Plain = line_ops::Plain;
    struct Divided {
        std::uint64_t quotient, line;
    };
    // The estimate is at most one too small.
    GARNER_INLINE Divided divided(Fingerprint url) const {
        auto quotient = static_cast<std::uint64_t>((static_cast<unsigned __int128>(url) * reciprocal_) >> 64);
        auto line = url - quotient * lines_;
        bool const one_more = line >= lines_;
        return {quotient + one_more, one_more ? line - lines_ : line};
    }

    std::uint64_t lines_, reciprocal_;
};

template <class Shape>
class LineCache final : public SeenCache {
public:
    LineCache(std::uint64_t lines, Insertion::Way way, Isa isa)
        : shape_(lines), insertion_(way, lines, Shape::ways), isa_(isa) {
        lines_.reserve(lines);
        for (std::uint64_t i = 0; i < lines; ++i) lines_.push_back(shape_.empty(i));
    }

    bool seen(Fingerprint url) override {
        std::uint8_t answer = 0;
        seen_each({&url, 1}, {&answer, 1});
        return answer != 0;
    }

    void seen_each(std::span<Fingerprint const> urls, std::span<std::uint8_t> answers) override {
        switch (isa_) {
#if defined(__x86_64__)
        case Isa::sse2: return each<line_ops::Sse2>(urls, answers);
        case Isa::avx2: return each_avx2(urls, answers);
        case Isa::avx512: return each_avx512(urls, answers);
#endif
        default: return each<line_ops::Plain>(urls, answers);
        }
    }

    std::uint64_t entries() const override { return lines_.size() * Shape::ways; }
    std::uint64_t memory_bits() const override { return lines_.size() * line_bits; }

private:
    // How many lines memory can have under way at once, and some more.
    static constexpr std::size_t prefetched = 24;

    // Inlined where the instructions may be used: into the functions below.
    template <class Ops>
    GARNER_INLINE void each(std::span<Fingerprint const> urls, std::span<std::uint8_t> answers) {
        auto const ahead = std::min(urls.size(), prefetched);
        for (std::size_t i = 0; i < ahead; ++i) __builtin_prefetch(&lines_[shape_.line_of(urls[i])]);
        for (std::size_t i = 0; i < urls.size(); ++i) {
            if (i + ahead < urls.size()) __builtin_prefetch(&lines_[shape_.line_of(urls[i + ahead])]);
            auto const at = shape_.line_of(urls[i]);
            answers[i] = shape_.template touch<Ops>(lines_[at], urls[i], [&](bool held) { return insertion_.place_for(at, held); });
        }
    }
#if defined(__x86_64__)
    __attribute__((target("avx2"))) void each_avx2(std::span<Fingerprint const> urls, std::span<std::uint8_t> answers) {
        each<line_ops::Avx2>(urls, answers);
    }
    __attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))) void each_avx512(std::span<Fingerprint const> urls,
                                                                                  std::span<std::uint8_t> answers) {
        each<line_ops::Avx512>(urls, answers);
    }
#endif

    Shape const shape_;
    Insertion insertion_;
    Isa const isa_;
    std::vector<typename Shape::Line> lines_;
};

template <class Shape>
MadeCache make_lines(CacheOptions const& options) {
    auto const chosen = static_cast<std::size_t>(options.value(LineSettings::settings, 1));
    auto const isa = chosen == 0 ? best_isa() : static_cast<Isa>(chosen - 1);
    if (!has(isa)) return {nullptr, "this machine has no " + std::string(LineSettings::isas[chosen]) + "; take isa=best"};
    auto const way = static_cast<Insertion::Way>(options.value(LineSettings::settings, 0));
    auto const lines = (options.entries + Shape::ways - 1) / Shape::ways;
    return {std::make_unique<LineCache<Shape>>(lines, way, isa), {}};
}

/// One line is LRU, which has its own file; two lines and more tell a place that is empty from one that is not.
template <class Shape>
MadeCache make_lines_or_lru(CacheOptions const& options) {
    if (options.entries <= Shape::ways) return {std::make_unique<Lru>(options), {}};
    return make_lines<Shape>(options);
}

}  // namespace

MadeCache LineRow::make(CacheOptions const& options) { return make_lines_or_lru<WholeFingerprints>(options); }
MadeCache TagLineRow::make(CacheOptions const& options) { return make_lines_or_lru<Tags>(options); }

MadeCache QuotientLineRow::make(CacheOptions const& options) {
    constexpr auto least = Quotients::least_lines * Quotients::ways;
    if (options.entries <= least - Quotients::ways)
        return {nullptr, std::to_string(options.entries) + " entries: their quotients have more than 51 bits; take " +
                             std::to_string(least) + " or more, or the cache line"};
    return make_lines<Quotients>(options);
}

}  // namespace garner::crawl
