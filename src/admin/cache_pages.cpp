#include "admin/cache_pages.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <set>

#include "admin/url_pattern.hpp"
#include "cache/key.hpp"
#include "cache/parts.hpp"
#include "cache/restoration.hpp"
#include "http/dates.hpp"
#include "store/disk_store.hpp"
#include "util/option_words.hpp"

namespace garner::admin {

using Json = nlohmann::ordered_json;
using What = PageQuestion::What;

namespace {

Json object_json(store::DiskStore::Listed const& listed) {
    auto const key = parts_of_key(listed.key);
    return {{"url", key.url},
            {"partition", key.accelerator ? "accelerator" : "forward"},
            {"variant", key.variant.empty() ? Json(nullptr) : Json(key.variant)},
            {"whole", listed.whole},
            {"status", listed.status},
            {"body_bytes", listed.length},
            {"disk_bytes", listed.bytes},
            {"stored", http::format_http_date(unix_seconds(listed.stored))},
            {"fresh_seconds", listed.fresh_for}};
}

/// A list or a verification reads the segments in file order. A purge reads them in the order of their creation, then
/// memory, then the segments created since. So it later meets an object that moves meanwhile, between segments or to or
/// from memory.
class Pages {
public:
    Pages(cache::Cache* cache, store::DiskStore* disk, PageQuestion const& question)
        : cache_(cache), disk_(disk), question_(question), pattern_(question.pattern),
          segments_(disk ? disk->stats().segments : 0) {}

    Result<Json> page() {
        auto const& at = question_.at;
        if (question_.what == What::purge) return purge(at);
        std::uint32_t segment = 0;
        if (!disk_) return Fault{"there is no disk tier: disk.path is empty"};
        if ((!at.empty() && !read_whole_number(at, segment)) || segment >= segments_) return Fault{"there is no page " + at};
        return question_.what == What::list ? list(segment) : verify(segment);
    }

private:
    Json begun(std::uint32_t segment) const {
        Json const next = segment + 1 < segments_ ? Json(std::to_string(segment + 1)) : Json(nullptr);
        return {{"next", next}, {"done", segment + 1}, {"of", segments_}};
    }

    Json list(std::uint32_t segment) const {
        std::vector<store::DiskStore::Listed> objects;
        disk_->list(segment, objects);
        if (segment + 1 == segments_) disk_->list_waiting(objects);
        auto page = begun(segment);
        auto& all = page["objects"] = Json::array();
        for (auto const& object : objects)
            if (pattern_.fits(parts_of_key(object.key).url)) all.push_back(object_json(object));
        return page;
    }

    Json verify(std::uint32_t segment) const {
        store::DiskStore::Verified sum;
        disk_->verify(segment, sum);
        auto page = begun(segment);
        page.update({{"records", sum.records}, {"damaged", sum.damaged}, {"bytes", sum.bytes}});
        return page;
    }

    Result<Json> purge(std::string const& at) const {
        std::uint64_t generation = 0;
        cache::MemoryTier::Walk walk;
        char more = 0;
        if (at.empty()) {
            if (cache_) cache::Restoration::end_all(cache_->memory());   // no object of a former process is added to those removed
            return purge_segment(0, cache_ ? purge_fetches() : 0, true);
        }
        if (std::sscanf(at.c_str(), "segments:%" SCNu64 "%c", &generation, &more) == 1) return purge_segment(generation, 0, true);
        if (std::sscanf(at.c_str(), "rest:%" SCNu64 "%c", &generation, &more) == 1) return purge_segment(generation, 0, false);
        int const read = std::sscanf(at.c_str(), "memory:%" SCNu64 ":%zu:%u%c", &generation, &walk.shard, &walk.slot, &more);
        if (read == 3 && cache_) return purge_memory(generation, walk);
        return Fault{"there is no page " + at};
    }

    static std::string in_memory(std::uint64_t generation, cache::MemoryTier::Walk const& walk) {
        return "memory:" + std::to_string(generation) + ":" + std::to_string(walk.shard) + ":" + std::to_string(walk.slot);
    }

    /// `first`: memory has not been read yet.
    Json purge_segment(std::uint64_t from, std::uint64_t purged, bool first) const {
        auto const here = disk_ ? disk_->segment_from(from) : std::nullopt;
        std::vector<store::DiskStore::Listed> objects;
        if (disk_) disk_->list_waiting(objects);
        if (here) disk_->list(here->segment, objects);
        for (auto const& object : objects) {
            auto const url = parts_of_key(object.key).url;
            if (!pattern_.fits(url)) continue;
            if (cache_) cache_->purge(url);
            disk_->forget(object.key);
            ++purged;
        }
        auto const last = here ? here->generation : from;
        auto const next = disk_ ? disk_->segment_from(last + 1) : std::nullopt;
        bool const to_memory = !next && first && cache_;
        Json at = nullptr;
        if (next) at = (first ? "segments:" : "rest:") + std::to_string(next->generation);
        if (to_memory) at = in_memory(last, {});   // the newest segment still grows, and is read again
        return with_purged({{"next", at}, {"done", done(last)}, {"of", segments_ + 1}}, purged);
    }

    /// Estimates how many of `segments_` are done; an estimate, because their number grows meanwhile.
    std::uint64_t done(std::uint64_t generation) const {
        auto const oldest = disk_ ? disk_->segment_from(0) : std::nullopt;
        return oldest ? std::min<std::uint64_t>(generation - std::min(generation, oldest->generation) + 1, segments_) : 0;
    }

    /// Marks fetches in progress, so that their objects are not stored. Returns the number of URLs.
    std::uint64_t purge_fetches() const {
        std::set<std::string> urls;
        for (auto const& key : cache_->memory().fetches())
            if (auto const url = parts_of_key(key).url; pattern_.fits(url)) urls.emplace(url);
        return static_cast<std::uint64_t>(std::ranges::count_if(urls, [&](auto const& url) { return cache_->purge(url); }));
    }

    Json purge_memory(std::uint64_t generation, cache::MemoryTier::Walk walk) const {
        constexpr int steps_max = 256;
        std::vector<store::ObjectPtr> met;
        bool more = true;
        for (int steps = 0; more && steps < steps_max; ++steps) more = cache_->memory().walk(walk, met);
        std::uint64_t purged = 0;
        for (auto const& object : met) {
            auto const url = parts_of_key(object->key()).url;
            if (!pattern_.fits(url)) continue;
            cache_->purge(url);
            purged += object->kind() == store::Object::Kind::response;
        }
        Json next = nullptr;
        if (disk_) next = "rest:" + std::to_string(generation);
        if (more) next = in_memory(generation, walk);
        return with_purged({{"next", next}, {"done", segments_ + (more ? 0 : 1)}, {"of", segments_ + 1}}, purged);
    }

    Json with_purged(Json page, std::uint64_t purged) const {
        page["purged"] = purged;
        page["durable"] = purged == 0 || is_durable();
        return page;
    }

    /// A reload may have exchanged the disk since the page began: removals wait for the one that is in use now.
    bool is_durable() const {
        auto const in_use = cache_ ? cache_->disk().store() : nullptr;
        auto* const disk = in_use ? in_use.get() : disk_;
        return !disk || disk->wait_until_settled(store::Survives::power);
    }

    cache::Cache* cache_;
    store::DiskStore* disk_;
    PageQuestion const& question_;
    UrlPattern pattern_;
    std::uint32_t segments_;
};

}   // namespace

std::string_view name_of(What what) {
    constexpr std::array<std::string_view, 3> names{"list", "verify", "purge"};   // in the order of PageQuestion::What
    return names[static_cast<std::size_t>(what)];
}

Result<Json> cache_page(cache::Cache* cache, store::DiskStore* disk, PageQuestion const& question) {
    return Pages(cache, disk, question).page();
}

KeyParts parts_of_key(std::string_view key) {
    KeyParts parts;
    if (key.empty()) return parts;
    parts.accelerator = key.front() != static_cast<char>(cache::Partition::forward);
    key.remove_prefix(1);
    static auto const mark_of_parts = cache::parts_text({}), mark_of_variant = cache::variant_text({}, {});
    parts.of_parts = key.ends_with(mark_of_parts);
    if (parts.of_parts) key.remove_suffix(mark_of_parts.size());
    auto const mark = key.find(mark_of_variant);
    parts.url = key.substr(0, mark);
    if (mark != key.npos) parts.variant = key.substr(mark + mark_of_variant.size());
    return parts;
}

}   // namespace garner::admin
