#include "catalog/url_sets.hpp"

#include <algorithm>
#include <array>

#include "crawl/disk_set.hpp"
#include "crawl/line_set.hpp"
#include "papers/mercator_file.hpp"
#include "papers/mercator_table.hpp"
#include "redis/redis_set.hpp"
#include "util/option_words.hpp"
#include "util/units.hpp"

namespace garner::catalog {
namespace {

MadeSet make_lines(SetOptions const& options) {
    return std::make_unique<crawl::LineSet>(crawl::LineSet::Options{.expected = options.expected, .seed = options.seed});
}

template <class Set>
MadeSet made(Result<std::unique_ptr<Set>> opened) {
    if (!opened) return opened.fault();
    return *std::move(opened);
}

MadeSet make_runs(SetOptions const& options) {
    return made(crawl::DiskSet::open({.directory = options.directory, .memory = options.memory, .layers = options.layers}));
}

MadeSet make_mercator(SetOptions const& options) { return std::make_unique<papers::MercatorTable>(options.seed); }

MadeSet make_mercator_file(SetOptions const& options) {
    return made(papers::MercatorFile::open({.directory = options.directory, .layers = options.layers}));
}

MadeSet make_redis(SetOptions const& options) {
    redis::RedisSet::Options how{.expected = options.expected};
    if (auto fault = redis::read_redis_address(options.address, how.address); !fault.empty())
        return Fault{.what = std::move(fault), .where = "redis"};
    return made(redis::RedisSet::open(how));
}

constexpr std::array set_rows{
    SetRow{"lines", "in memory: lines of 64 bytes, 45 to 60 bits per entry", false, make_lines, false, crawl::LineSet::bytes_for},
    SetRow{"runs", "on disk: a sorted run and a log, 39 bits per entry at 1e8; best in large batches", true, make_runs},
    SetRow{"mercator", "in memory: Mercator's table of 5 bytes per entry behind 2^24 heads", false, make_mercator, false,
           papers::MercatorTable::bytes_for},
    SetRow{"mercator-file", "on disk: Mercator's sorted file, merged with each batch", true, make_mercator_file},
    SetRow{"redis", "elsewhere: in Redis Cluster, for many crawlers; redis:HOST:PORT,HOST:PORT", false, make_redis, true},
};

}   // namespace

std::span<SetRow const> url_sets() { return set_rows; }

SetRow const* find_url_set(std::string_view name) {
    auto const row = std::ranges::find(set_rows, name.substr(0, name.find(':')), &SetRow::name);
    return row == set_rows.end() || (!row->elsewhere && row->name != name) ? nullptr : &*row;
}

std::string url_set_names() { return names_of(set_rows); }

MadeSet make_url_set(std::string_view name, SetOptions const& options) {
    auto const* row = find_url_set(name);
    if (!row) return Fault{"no set \"" + std::string(name) + "\"", "valid sets: " + url_set_names()};
    if (row->on_disk && options.directory.empty())
        return Fault{"the set \"" + std::string(name) + "\" is on disk and needs a directory",
                     "name one (--path, or the key seen.path)"};
    if (row->bytes_for && row->bytes_for(options.expected) > options.memory)
        return Fault{"the set \"" + std::string(name) + "\" needs " + size_text(row->bytes_for(options.expected)) +
                         (options.expected ? " for " + std::to_string(options.expected) + " entries" : " when empty") +
                         ", more than the memory of " + size_text(options.memory),
                     "raise the memory, or give a directory to keep the set on disk"};
    if (!row->elsewhere || name == row->name) return row->make(options);
    auto with_address = options;
    with_address.address = name.substr(row->name.size() + 1);
    return row->make(with_address);
}

}   // namespace garner::catalog
