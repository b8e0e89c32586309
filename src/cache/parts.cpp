#include "cache/parts.hpp"

#include <algorithm>
#include <optional>

#include "cache/memory_tier.hpp"
#include "http/partial.hpp"
#include "http/range.hpp"

namespace garner::cache {

namespace {

/// A parsed stored head.
class StoredHead {
public:
    explicit StoredHead(store::Object const& object) : StoredHead(object.head()) {}
    explicit StoredHead(std::string_view head) : text_(head) {
        text_ += "\r\n";
        http::read_stored_head(text_, head_);
    }
    StoredHead(StoredHead const&) = delete;
    http::ResponseHead const& operator*() const { return head_; }

private:
    std::string text_;
    http::ResponseHead head_;
};

/// True if both are of one representation and from one address: access rules for stored objects depend on the address.
bool belong_together(store::Object const& part, store::Object const& known) {
    return part.source() == known.source() && is_same_representation(part, known, part.terms().response_time);
}

/// The terms given by the combined head of all parts. A stored head no longer has its response time and initial age,
/// so these come from the newest part's terms.
http::Terms terms_of_whole(std::string_view head, http::Terms const& newest, http::FreshnessOptions const& freshness) {
    StoredHead whole(head);
    auto terms = http::terms_of(*whole, newest.response_time, newest.response_time, freshness);
    terms.initial_age = newest.initial_age;
    terms.age_value = newest.age_value;
    terms.passed = newest.passed;
    return terms;
}

/// The union of stored and new parts; nullptr when they do not belong together or would be too many.
store::BodyPtr join(MemoryTier const& memory, store::Body const& fresh, store::Object const& known) {
    if (known.body()->size() != fresh.size()) return nullptr;
    auto joined = store::Body::join(fresh, *known.body());
    if (!joined || joined->charged() <= memory.object_max()) return joined;
    if (!joined->is_on_source()) return nullptr;
    return store::BodyPtr(new store::Body(joined->size(), joined->present(), joined->source()));
}

}   // namespace

store::ObjectPtr join_part(MemoryTier& memory, store::Object const& part, store::ObjectPtr const& on_disk, Fingerprint primary,
                           http::FreshnessOptions const& freshness) {
    StoredHead head(part);
    auto place = http::part_of(*head, part.body()->size());
    if (!place) return nullptr;   // no-cache or private named the field with its position
    auto body = part.body()->as_part(place->range.first, place->length);
    auto text = parts_text(part.key());
    auto known = memory.find(text, primary);
    if (!known) known = on_disk;
    if (known && memory.invalidations.judge(*known).is_hard()) known = nullptr;
    auto joined = known && belong_together(part, *known) ? join(memory, *body, *known) : nullptr;
    if (joined)
        body = std::move(joined);
    else
        known = nullptr;

    // Parts may end in another order than they began; the newest part's metadata applies to all.
    bool late = known && known->sequence() > part.sequence();
    auto parts = late ? known->parts() : part.parts();
    std::string whole_head;
    if (!late) {
        std::optional<StoredHead> of_known;
        if (known) of_known.emplace(*known);
        whole_head = http::head_of_whole(*head, of_known ? &**of_known : nullptr, freshness.targeted);
        parts.head = whole_head;
        parts.terms = terms_of_whole(whole_head, part.terms(), freshness);
        parts.status = 200;
    }
    parts.key = body->has_gaps() ? std::string_view(text) : part.key();
    bool const on_disk_alone = !body->is_resident();
    parts.body = std::move(body);
    return on_disk_alone ? store::Object::make(parts, nullptr) : memory.make_object(parts, primary);
}

store::ObjectPtr outline(store::Object::Parts parts) {
    parts.bytes = {};
    parts.body = nullptr;
    if (parts.status == 206) {
        StoredHead const head(parts.head);
        auto const place = http::parse_content_range((*head).fields.first(http::Name::content_range));
        std::vector<store::Body::Span> there;
        if (place && place->range) there.push_back({place->range->first, place->range->last});
        if (!there.empty() && place->length)
            parts.body = store::BodyPtr(new store::Body(*place->length, std::move(there), nullptr));
    }
    return store::Object::make(parts, nullptr);
}

bool can_answer(store::Object const& parts, http::RequestHead const& request, WallTime now) {
    StoredHead head(parts);
    auto const& body = *parts.body();
    auto answer = http::answer_range(request, *head, body.size(), now);
    return answer.kind != http::RangeKind::whole &&
           std::ranges::all_of(answer.parts, [&](auto const& range) { return body.has(range.first, range.last); });
}

http::Terms terms_of_parts(store::Object const& parts) {
    auto terms = parts.terms();
    terms.stale_while_revalidate = 0;
    return terms;
}

bool is_incomplete(store::Object const& object) { return object.body() && object.body()->has_gaps(); }

bool is_same_representation(store::Object const& a, store::Object const& b, WallTime now) {
    if (is_marker(&a) || is_marker(&b)) return false;
    StoredHead head_a(a);
    StoredHead head_b(b);
    return http::is_same_representation(*head_a, *head_b, now);
}

store::Object::Parts outdated(store::Object const& object) {
    auto parts = object.parts();
    parts.terms.lifetime = 0;
    parts.terms.stale_while_revalidate = 0;
    return parts;
}

bool contradict(store::Object const& a, store::Object const& b) {
    StoredHead head_a(a);
    StoredHead head_b(b);
    return http::contradict(*head_a, *head_b);
}

bool outranks_parts(store::Object const& whole, store::Object const& parts, WallTime now) {
    if (is_marker(&whole)) return false;
    if (is_same_representation(whole, parts, now)) return true;
    bool fresh = http::may_reuse(whole.terms(), {}, now).reuse == http::Reuse::fresh;
    if (!fresh || whole.length() != parts.length()) return false;
    StoredHead of_whole(whole);
    StoredHead of_parts(parts);
    return !http::contradict(*of_whole, *of_parts);
}

}   // namespace garner::cache
