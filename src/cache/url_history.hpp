// The responses sent for one URL while fetches of it are in progress. They decide which fetches may still be stored.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/object.hpp"
#include "util/clock.hpp"

namespace garner::cache {

class Fill;

/// Events are numbered by the counter that also gives objects their sequence; a fetch has the number at which its
/// request was sent. A fetch may be stored only if no event after that number forbids it. Pure: no clock, no lock, no
/// I/O. The guarantees are in docs/design/consistency.md.
class UrlHistory {
public:
    using Number = std::uint64_t;

    /// A record of the URL on disk was written or removed.
    void change_on_disk(Number at) { changed_on_disk_ = at; }
    bool is_changed_on_disk_since(Number read) const { return changed_on_disk_ > read; }

    /// The URL's Vary marker was removed from the disk.
    void unmark(Number at) { unmarked_ = at; }
    bool is_unmarked_since(Number asked) const { return unmarked_ > asked; }

    /// A response with the key of its variant and the names of its Vary, as http::to_string. All are views.
    struct Response {
        store::Object const& object;
        std::string_view key;
        std::string_view varies_by;
    };
    /// A client is sent `response`, fetched by `by`. Stored objects of the variant with a sequence below `superseded_below`
    /// are older.
    void give(Fill const& by, Response const& response, Number at, Number superseded_below, WallTime now);
    /// True when clients were sent a different response of the variant since `asked`, other than by the fetch itself:
    /// the order at the origin is unknown. If Vary changed meanwhile, every variant counts.
    bool contradicts_given(Fill const& of, Number asked, Response const& response, WallTime now) const;
    /// True when a client was sent a newer response of the representation that the object, or its part, belongs to.
    /// `varies_by`: from the URL's marker.
    bool is_superseded(store::Object const& object, std::string_view varies_by) const;

    /// A client was sent this HEAD response, fetched by `by`; nullptr: by no fetch. Only the last one of each variant
    /// is kept.
    void tell(Fill const* by, Response const& response, Number at);
    bool has_told() const { return !told_.empty() || heads_forgotten_ > 0; }
    /// True when a HEAD response sent since `asked` contradicts this representation.
    bool contradicts_told(Fill const& of, Number asked, Response const& response) const;

private:
    struct Event {
        store::ObjectPtr head;   // without body, under the key of its variant
        std::string varies_by;
        Fill const* by = nullptr;   // identity only; null: several
        Number at = 0;
        Number superseded_below = 0;   // for given responses: see give()
        Number differed_at = 0;        // the last event at which a response sent differs from `head`
        bool may_be_of(std::string_view key, std::string_view names) const { return head->key() == key || varies_by != names; }
    };
    static Event event(Fill const* by, Response const& response, Number at);
    /// Returns the `superseded_below` of the event that it drops; 0 if it drops none.
    static Number bound(std::vector<Event>& events, Number& forgotten);

    Number changed_on_disk_ = 0;
    Number unmarked_ = 0;
    Number forgotten_ = 0;                    // events up to this number may have been dropped from given_
    Number forgotten_superseded_below_ = 0;   // the highest `superseded_below` of them
    Number heads_forgotten_ = 0;
    std::vector<Event> given_;   // the last of each variant
    std::vector<Event> told_;    // HEAD responses, the last of each variant
};

}   // namespace garner::cache
