#include "cache/parts.hpp"

#include <algorithm>

#include "cache/cache.hpp"
#include "http/partial.hpp"

namespace garner::cache {

namespace {

/// A stored head, read.
class StoredHead {
public:
    explicit StoredHead(store::Object const& object) : text_(object.head()) {
        text_ += "\r\n";
        std::size_t scanned = 0;
        auto parsed = http::parse_response_head(text_, {.bytes = SIZE_MAX, .fields = SIZE_MAX}, scanned, head_);
        check(parsed.kind == http::HeadParse::Kind::complete);
    }
    StoredHead(StoredHead const&) = delete;
    http::ResponseHead const& operator*() const { return head_; }

private:
    std::string text_;
    http::ResponseHead head_;
};

/// The parts so far with the new ones; nullptr when they do not belong together or would be too many.
store::BodyPtr join(Cache const& cache, store::Body const& fresh, store::Object const& known) {
    if (known.body()->size() != fresh.size()) return nullptr;
    auto joined = store::Body::join(fresh, *known.body());
    return joined && joined->charged() <= cache.object_max() ? joined : nullptr;
}

}  // namespace

std::string parts_text(std::string_view key) {
    std::string text(key);
    text += '\x02';   // in no URI, and in no variant's text
    return text;
}

store::ObjectPtr join_part(Cache& cache, store::Object const& part, Fingerprint primary) {
    StoredHead head(part);
    auto place = http::part_of(*head, part.body()->size());
    if (!place) return nullptr;   // no-cache or private named the field that told
    auto body = part.body()->as_part(place->range.first, place->length);
    auto text = parts_text(part.key());
    auto known = cache.find(text, primary);
    auto joined = known && is_same_representation(part, *known) ? join(cache, *body, *known) : nullptr;
    if (joined)
        body = std::move(joined);
    else
        known = nullptr;

    // Parts may end in another order than they began; what the newest head says holds for all.
    bool late = known && known->sequence() > part.sequence();
    auto const& newer = late ? *known : part;
    std::string whole_head;
    if (known) {
        StoredHead of_known(*known);
        whole_head = late ? http::head_of_whole(*of_known, &*head) : http::head_of_whole(*head, &*of_known);
    } else {
        whole_head = http::head_of_whole(*head, nullptr);
    }
    store::Object::Parts parts;
    parts.key = body->has_gaps() ? std::string_view(text) : part.key();
    parts.head = whole_head;
    parts.body = std::move(body);
    parts.terms = newer.terms();
    parts.sequence = newer.sequence();
    parts.source = newer.source();
    return cache.make_object(parts, primary);
}

bool can_answer(store::Object const& parts, http::RequestHead const& request, WallTime now) {
    StoredHead head(parts);
    auto const& body = *parts.body();
    auto answer = http::answer_range(request, *head, body.size(), now);
    return answer.kind != http::RangeKind::whole &&
           std::ranges::all_of(answer.parts, [&](auto const& range) { return body.has(range.first, range.last); });
}

bool is_incomplete(store::Object const& object) { return object.body() && object.body()->has_gaps(); }

bool is_same_representation(store::Object const& a, store::Object const& b) {
    using Kind = store::Object::Kind;
    if (a.kind() == Kind::vary_marker || b.kind() == Kind::vary_marker) return false;
    StoredHead head_a(a);
    StoredHead head_b(b);
    return http::is_same_representation(*head_a, *head_b, wall_now());
}

}  // namespace garner::cache
