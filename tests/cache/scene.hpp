// A cache with requests and responses built from short descriptions.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "cache/cache.hpp"

namespace garner::cache {

/// A request's fields and time.
struct Ask {
    std::vector<std::pair<std::string_view, std::string_view>> fields{};
    WallTime now = wall_now();
    Collapse collapse = Collapse::lead_and_follow;
    http::RequestCacheControl control{};
};

/// A response of an origin.
struct Answer {
    std::string_view body = "body";
    std::uint32_t lifetime = 1'000;       // seconds
    std::uint32_t while_revalidate = 0;   // seconds after the lifetime
    std::string_view vary = {};
    Ask request = {};   // its selecting fields choose the variant
};

struct Scene {
    explicit Scene(Options options = {}) : cache(options) {}

    /// Memory charged for objects, without index, policy and negative entries.
    Bytes used() const {
        auto const stats = cache.memory().stats();
        return stats.used - stats.metadata;
    }

    static http::RequestHead head(Ask const& ask) {
        http::RequestHead head;
        for (auto const& [name, value] : ask.fields) head.fields.add(name, value);
        return head;
    }
    Lookup lookup(std::string_view url, Ask const& ask = {}) {
        return cache.lookup({cache.key(url), head(ask), ask.control, ask.now, ask.collapse});
    }
    Peek peek(std::string_view url, Ask const& ask = {}) {
        return cache.peek({cache.key(url), head(ask), ask.control, ask.now, ask.collapse});
    }
    Lookup::Kind kind(std::string_view url, Ask const& ask = {}) { return lookup(url, ask).kind; }
    /// The stored body, or "-" if there is no fresh one.
    std::string stored(std::string_view url, Ask const& ask = {}) {
        auto found = lookup(url, ask);
        return found.kind == Lookup::Kind::fresh ? std::string(found.object->bytes()) : "-";
    }

    static http::Terms terms(std::uint32_t lifetime, WallTime now = wall_now()) {
        http::Terms terms;
        terms.response_time = now;
        terms.date_value = unix_seconds(now);
        terms.lifetime = lifetime;
        terms.explicit_lifetime = true;
        terms.has_validator = true;
        return terms;
    }
    static std::string variant(Answer const& answer) {
        if (answer.vary.empty()) return {};
        return http::variant_key(http::parse_vary(answer.vary), head(answer.request).fields);
    }
    store::ObjectPtr object(std::string_view url, Answer const& answer = {}) {
        std::string text(url);
        if (!answer.vary.empty()) text = variant_text(url, variant(answer));
        store::Object::Parts parts;
        parts.key = text;
        parts.head = "HTTP/1.1 200 OK\r\n";
        parts.bytes = answer.body;
        parts.terms = terms(answer.lifetime, answer.request.now);
        parts.terms.stale_while_revalidate = answer.while_revalidate;
        parts.sequence = next();
        return cache.memory().make_object(parts, cache.key(url).fingerprint);
    }
    void complete(FillLease& lead, std::string_view url, Answer const& answer = {}) {
        lead.complete(object(url, answer), http::parse_vary(answer.vary), variant(answer));
    }
    void store(std::string_view url, Answer const& answer = {}) {
        auto lead = cache.lease(cache.key(url), nullptr);
        complete(lead, url, answer);
    }
    /// The variant for requests with this field value.
    void set_disk(store::DiskStore* disk) { cache.set_disk({std::shared_ptr<void>(), disk}); }

    static Answer varying(std::string_view body, std::string_view name, std::string_view value) {
        Answer answer;
        answer.body = body;
        answer.vary = name;
        answer.request.fields = {{name, value}};
        return answer;
    }

    /// The sequence number of a response received now.
    std::uint64_t next() { return cache.numbers.next(); }
    /// A client received `newer` from the fetch `by`: see Supersession.
    bool give(Fill& by, store::Object const& newer, http::VaryNames const& vary, store::ObjectPtr const& known_parts) {
        return supersession().give(by, newer.parts(), vary, known_parts);
    }
    void give_unstored(Fill& by, store::Object const& newer, http::VaryNames const& vary) {
        supersession().give_unstored(by, newer, vary);
    }
    Supersession& supersession() { return cache.fetches_.supersession(); }

    Cache cache;
};

inline Ask with(std::string_view name, std::string_view value) {
    Ask ask;
    ask.fields = {{name, value}};
    return ask;
}

inline Ask at(WallTime now) {
    Ask ask;
    ask.now = now;
    return ask;
}

}   // namespace garner::cache
