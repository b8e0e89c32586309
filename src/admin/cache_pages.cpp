#include "admin/cache_pages.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <set>

#include "admin/url_pattern.hpp"
#include "cache/partition.hpp"
#include "cache/parts.hpp"
#include "http/dates.hpp"
#include "store/disk_store.hpp"

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

/// A walk over the segments of the disk tier and then over memory: what comes to memory from a segment, or goes to the
/// disk from memory, while the walk is on its way, is met there.
class Pages {
public:
    Pages(cache::Cache* cache, store::DiskStore* disk, PageQuestion const& question)
        : cache_(cache), disk_(disk), question_(question), pattern_(question.pattern),
          segments_(disk ? disk->stats().segments : 0) {}

    Json page() {
        auto at = question_.at;
        if (at.empty() && question_.what == What::purge && cache_) purged_fetches_ = purge_fetches();
        if (at.empty()) at = segments_ > 0 ? "0" : "memory";
        if (at.starts_with("memory") && question_.what == What::purge && cache_) return purge_memory(at);
        std::uint32_t segment = 0;
        auto const* end = at.data() + at.size();
        auto const [read_to, error] = std::from_chars(at.data(), end, segment);
        if (error != std::errc() || read_to != end || segment >= segments_)
            return {{"fault", disk_ ? "there is no page " + at : std::string("there is no disk tier: disk.path is empty")}};
        if (question_.what == What::list) return list(segment);
        return question_.what == What::verify ? verify(segment) : purge(segment);
    }

private:
    std::uint32_t pages() const { return segments_ + (question_.what == What::purge && cache_ ? 1 : 0); }

    Json begun(std::uint32_t segment) const {
        Json next = nullptr;
        if (segment + 1 < segments_)
            next = std::to_string(segment + 1);
        else if (segment + 1 < pages())
            next = "memory";
        return {{"next", std::move(next)}, {"done", segment + 1}, {"of", pages()}};
    }

    Json list(std::uint32_t segment) const {
        std::vector<store::DiskStore::Listed> objects;
        disk_->list(segment, objects);
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

    Json purge(std::uint32_t segment) const {
        std::vector<store::DiskStore::Listed> objects;
        disk_->list(segment, objects);
        std::uint64_t purged = 0;
        for (auto const& object : objects) {
            auto const url = parts_of_key(object.key).url;
            if (!pattern_.fits(url)) continue;
            if (cache_) cache_->purge_url(url);
            disk_->forget(object.key);
            ++purged;
        }
        return with_purged(begun(segment), purged);
    }

    /// What is being fetched is not kept, wherever it would come to lie. How many URLs.
    std::uint64_t purge_fetches() const {
        std::set<std::string> urls;
        for (auto const& key : cache_->fetches())
            if (auto const url = parts_of_key(key).url; pattern_.fits(url)) urls.emplace(url);
        return static_cast<std::uint64_t>(std::ranges::count_if(urls, [&](auto const& url) { return cache_->purge_url(url); }));
    }

    Json purge_memory(std::string const& at) const {
        cache::Cache::Walk walk;
        char colon = 0;
        if (at != "memory" && std::sscanf(at.c_str(), "memory:%zu:%u%c", &walk.shard, &walk.slot, &colon) != 2)
            return {{"fault", "there is no page " + at}};
        constexpr int steps_max = 256;
        std::vector<store::ObjectPtr> met;
        bool more = true;
        for (int steps = 0; more && steps < steps_max; ++steps) more = cache_->walk(walk, met);
        std::uint64_t purged = 0;
        for (auto const& object : met) {
            auto const url = parts_of_key(object->key()).url;
            if (!pattern_.fits(url)) continue;
            cache_->purge_url(url);
            purged += object->kind() == store::Object::Kind::response;
        }
        Json const next = more ? Json("memory:" + std::to_string(walk.shard) + ":" + std::to_string(walk.slot)) : Json(nullptr);
        return with_purged({{"next", next}, {"done", pages() - (more ? 1 : 0)}, {"of", pages()}}, purged);
    }

    Json with_purged(Json page, std::uint64_t purged) const {
        purged += purged_fetches_;
        page["purged"] = purged;
        page["durable"] = !disk_ || purged == 0 || disk_->wait_until_settled(store::DiskStore::Survives::power);
        page["reinserted_bytes"] = disk_ ? disk_->stats().reinserted_bytes : 0;
        return page;
    }

    cache::Cache* cache_;
    store::DiskStore* disk_;
    PageQuestion const& question_;
    UrlPattern pattern_;
    std::uint32_t segments_;
    std::uint64_t purged_fetches_ = 0;
};

}  // namespace

std::string_view name_of(What what) {
    switch (what) {
    case What::list: return "list";
    case What::verify: return "verify";
    case What::purge: return "purge";
    }
    return "";
}

Json cache_page(cache::Cache* cache, store::DiskStore* disk, PageQuestion const& question) {
    return Pages(cache, disk, question).page();
}

KeyParts parts_of_key(std::string_view key) {
    KeyParts parts;
    if (key.empty()) return parts;
    parts.accelerator = key.front() == static_cast<char>(cache::Partition::accelerator);
    key.remove_prefix(1);
    static auto const mark_of_parts = cache::parts_text({}), mark_of_variant = cache::variant_text({}, {});
    parts.of_parts = key.ends_with(mark_of_parts);
    if (parts.of_parts) key.remove_suffix(mark_of_parts.size());
    auto const mark = key.find(mark_of_variant);
    parts.url = key.substr(0, mark);
    if (mark != key.npos) parts.variant = key.substr(mark + mark_of_variant.size());
    return parts;
}

}  // namespace garner::admin
