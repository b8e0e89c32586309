// The cache of a simulated node: the rules of group/gate over a few URLs, each with the number of a version as its body.
#pragma once
#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cache/invalidation.hpp"
#include "group/gate.hpp"

namespace garner::group::simulated {

inline constexpr unsigned tags = 4;   // URL u has the tag u % tags

inline cache::Invalidation invalidation_of(cache::Invalidation::Kind kind, unsigned number, bool soft) {
    return {.kind = kind, .soft = soft, .origin = {}, .text = std::to_string(number)};
}

inline bool covers(cache::Invalidation const& what, unsigned url) {
    if (what.kind == cache::Invalidation::Kind::all) return true;
    unsigned number = 0;
    std::from_chars(what.text.data(), what.text.data() + what.text.size(), number);
    return what.kind == cache::Invalidation::Kind::url ? number == url : number == url % tags;
}

class StoredResponses {
public:
    using Number = std::uint64_t;
    struct Response {
        unsigned version = 0;
        Number number = 0;   // of its request
        Time fresh_until = never;
        Time passed = never;   // see group::Held
    };
    explicit StoredResponses(unsigned urls) : urls_(urls) {}

    Number next() { return ++number_; }
    void apply(cache::Invalidation const& what, Time now) {
        auto const number = next();
        for (unsigned url = 0; url < urls_.size(); ++url) {
            if (!covers(what, url)) continue;
            (what.soft ? urls_[url].soft : urls_[url].hard) = number;
            urls_[url].matched = now;
        }
    }
    void raise_watermark(Time now) {
        watermark_ = next();
        raised_ = now;
    }
    Outdated outdated(unsigned url, Number number) const {
        auto const& one = urls_[url];
        if (one.hard > number) return Outdated::hard;
        if (watermark_ > number) return Outdated::watermark;
        return one.soft > number ? Outdated::soft : Outdated::no;
    }
    bool must_pass(unsigned url, bool is_current, Times const& times, Time now) const {
        return must_pass_caches(urls_[url].matched, raised_, is_current, times, now);
    }

    std::optional<Response>& at(unsigned url) { return urls_[url].response; }
    Held stored(unsigned url, Time now) const {
        auto const& response = *urls_[url].response;
        return {.outdated = outdated(url, response.number), .is_fresh = now <= response.fresh_until, .passed = response.passed};
    }
    /// A response to a request with this number; false if it is not stored.
    bool store(unsigned url, Response const& response) {
        auto& old = urls_[url].response;
        bool const is_outdated = outdated(url, response.number) != Outdated::no && !is_mutant(Mutant::no_fill_guard);
        if (is_outdated || (old && old->number > response.number)) return false;
        old = response;
        if (is_mutant(Mutant::no_fill_guard)) old->number = next();
        return true;
    }
    void clear() {
        for (auto& one : urls_) one.response.reset();
    }
    /// A process that restarts with a disk forgets all but the responses.
    void forget_invalidations() {
        for (auto& one : urls_) one.hard = one.soft = 0;
        for (auto& one : urls_) one.matched = never;
        watermark_ = 0;
        raised_ = never;
    }

private:
    struct Url {
        std::optional<Response> response;
        Number hard = 0, soft = 0;
        Time matched = never;
    };
    std::vector<Url> urls_;
    Number number_ = 0;
    Number watermark_ = 0;
    Time raised_ = never;
};

}   // namespace garner::group::simulated
