// What has been answered of one URL while fetches of it are in progress: by that it is decided which of them may still be stored.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "store/object.hpp"
#include "util/clock.hpp"

namespace garner::cache {

class Fill;

/// Events are numbered by the counter that also gives the sequence numbers of objects; a fetch has the number of the moment in
/// which its request went out. A fetch may be stored only where nothing that happened after that number forbids it. Pure: no
/// clock, no lock, no I/O. docs/design/consistency.md has the promises.
class UrlHistory {
public:
    using Number = std::uint64_t;

    /// A record of the URL on disk was written or removed.
    void change_on_disk(Number at) { changed_on_disk_ = at; }
    bool is_changed_on_disk_since(Number read) const { return changed_on_disk_ > read; }

    /// The URL's Vary marker left the disk.
    void unmark(Number at) { unmarked_ = at; }
    bool is_unmarked_since(Number asked) const { return unmarked_ > asked; }

    /// A response with the key of its variant and the names of its Vary, as http::to_string. Views.
    struct Response {
        store::Object const& object;
        std::string_view key;
        std::string_view varies_by;
    };
    /// A client gets `response`, which `by` has fetched. Stored objects of the variant with a sequence below `over_below` are older.
    void give(Fill const& by, Response const& response, Number at, Number over_below, WallTime now);
    /// Clients were given something else of the variant since `asked`, other than by the fetch itself: nobody knows which of them
    /// the origin made first. Where Vary has changed meanwhile each variant counts.
    bool contradicts_given(Fill const& of, Number asked, Response const& response, WallTime now) const;
    /// A client has something newer of what the object is, or is a part of. `varies_by`: of the URL's marker.
    bool is_over(store::Object const& object, std::string_view varies_by) const;

    /// A client was told this head as the answer to a HEAD, which `by` has fetched; nullptr: no fetch did. The last one of each
    /// variant counts.
    void tell(Fill const* by, Response const& response, Number at);
    bool has_told() const { return !told_.empty() || heads_forgotten_ > 0; }
    /// A head told since `asked` shows that this is not of the representation the origin has.
    bool contradicts_told(Fill const& of, Number asked, Response const& response) const;

private:
    struct Event {
        store::ObjectPtr head;         // without its body, under the key of its variant
        std::string varies_by;
        Fill const* by = nullptr;      // identity alone; null: several
        Number at = 0;
        Number over_below = 0;         // of what was given
        Number differed_at = 0;        // the last time when what was given differs from `head`
        bool may_be_of(std::string_view key, std::string_view names) const { return head->key() == key || varies_by != names; }
    };
    static Event event(Fill const* by, Response const& response, Number at);
    static void bound(std::vector<Event>& events, Number& forgotten);

    Number changed_on_disk_ = 0;
    Number unmarked_ = 0;
    Number forgotten_ = 0;             // of what was given before, not all is known
    Number heads_forgotten_ = 0;
    std::vector<Event> given_;         // the last of each variant
    std::vector<Event> told_;          // by HEAD, the same
};

}  // namespace garner::cache
