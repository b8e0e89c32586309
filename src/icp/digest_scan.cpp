#include "icp/digest_scan.hpp"

#include <algorithm>

#include "cache/key.hpp"
#include "cache/parts.hpp"

namespace garner::icp {

namespace {

/// The stored objects, plus a margin for those stored meanwhile.
std::uint64_t expected_entries(cache::Cache const& cache) {
    auto const disk = cache.disk().store();
    auto const on_disk = disk ? disk->stats().records : 0;
    auto const objects = std::max(cache.memory().stats().objects, on_disk);   // the disk holds nearly all of memory's objects, too
    return objects + objects / 16;
}

/// True for the key text of a variant that only Accept-Encoding selects: one line (http/vary).
bool selects_by_encoding_alone(std::string_view variant) {
    constexpr std::string_view name = "accept-encoding";
    return variant.starts_with(name) && variant.find('\n') == variant.size() - 1 && variant.find_first_of(":\n") == name.size();
}

}   // namespace

std::optional<std::string_view> digested_url(store::Object const& object, WallTime fresh_till) {
    auto const& terms = object.terms();
    bool const of_use = object.kind() == store::Object::Kind::response && object.status() < 400 && !terms.negative &&
                        !object.key().ends_with(cache::parts_text({})) &&
                        http::may_reuse(terms, {}, fresh_till).reuse == http::Reuse::fresh;
    if (!of_use) return std::nullopt;
    auto key = object.key();
    if (!key.starts_with(static_cast<char>(cache::Partition::forward))) return std::nullopt;
    key.remove_prefix(1);
    auto const end = key.find(cache::variant_text({}, {}));
    if (end != std::string_view::npos && !selects_by_encoding_alone(key.substr(end + 1))) return std::nullopt;
    return key.substr(0, end);
}

DigestScan::DigestScan(cache::Cache const& cache, WallTime fresh_till)
    : cache_(cache), fresh_till_(fresh_till), all_(expected_entries(cache)), without_https_(expected_entries(cache)) {}

bool DigestScan::step() {
    bool const more = cache_.memory().walk(walk_, met_);
    for (auto const& object : met_)
        if (!cache_.disk().may_have(object->key())) add(*object);
    met_.clear();
    return more;
}

void DigestScan::add(store::Object const& object) {
    auto const url = digested_url(object, fresh_till_);
    if (!url || cache_.invalidations.is_cut_off_for(*url) || cache_.invalidations.judge(object)) return;
    auto const key = digest_key(*url);
    all_.add(key);
    if (!url->starts_with("https:")) without_https_.add(key);
}

DigestScan::Digests DigestScan::finish() && {
    return {.all = std::move(all_).finish(), .without_https = std::move(without_https_).finish()};
}

}   // namespace garner::icp
