// The keys of the memory and the disk tier.
#include "config/key_parts.hpp"
#include "policy/policies.hpp"
#include "sim/auto_policy.hpp"
#include "store/disk_format.hpp"
#include "util/units.hpp"

namespace garner::config {

namespace {

// "name" or "name:setting=value:…"; `own` is an additional name, which is no policy and has no settings.
Form<std::string> policy_spec(std::string const& own = "") {
    std::vector<std::string> names;
    if (!own.empty()) names.push_back(own);
    for (auto const& row : policy::all()) names.emplace_back(row.name);
    auto const named = choice(std::move(names));
    auto read = [named, own](Reader& reader, Json const& value, std::string& into) {
        if (!value.is_string()) return named.read(reader, value, into);
        auto const& text = value.get_ref<std::string const&>();
        std::string name, written;
        if (!named.read(reader, text.substr(0, text.find(':')), name)) return false;
        if (!config::text().read(reader, value, written)) return false;
        if (name == own) {
            if (written != own) return reader.fault(in_quotes(own) + " has no settings", "write the name without settings");
            into = own;
            return true;
        }
        auto const spec = policy::read_spec(written);
        auto const mend = "write " + in_quotes(name + ":setting=value") + ", or the name without settings";
        if (!spec) return reader.fault(spec.fault().text(), mend);
        into = std::move(written);
        return true;
    };
    // Policies may be added with their files: the schema does not list them.
    return {"policy", described_as("string"), read, in_quotes};
}

/// A policy, or automatic selection of the best policy.
Form<std::string> policy_or_auto() {
    auto form = policy_spec(std::string(sim::AutoPolicy::name));
    form.read_by([read = std::move(form.read_any)](Reader& reader, Json const& value, std::string& into) {
        if (!value.is_string() || !sim::AutoPolicy::is_spec(value.get<std::string>())) return read(reader, value, &into);
        auto const terms = sim::AutoPolicy::read(value.get<std::string>());
        if (!terms) return reader.fault(terms.fault().text(), "write auto, or auto:aim=bytes");
        into = value.get<std::string>();
        return true;
    });
    return form;
}

/// "auto" may select any policy.
Bytes least_memory(cache::Options memory) {
    if (!sim::AutoPolicy::is_spec(memory.policy)) return cache::least_size(memory);
    Bytes least = 0;
    for (auto const& row : policy::all()) {
        memory.policy = row.name;
        least = std::max(least, cache::least_size(memory));
    }
    return least;
}

/// The default shrinks with a small tier. A configured value stays, with a notice if it exceeds the size.
template <class Tier>
void check_object_max(Reader& reader, Json const& value, Tier& tier, char const* notice, char const* mend) {
    if (!value.contains("object_max"))
        tier.object_max = std::min(tier.object_max, tier.size / 2);
    else if (tier.object_max > tier.size)
        reader.notice({"object_max"}, notice, mend);
}

void check_memory(Reader& reader, Json const& value, cache::Options& memory) {
    if (sim::AutoPolicy::is_spec(memory.policy) && !memory.what_if)
        reader.fault({"what_if"}, "is false, but memory.policy \"auto\" needs it", "write true, or name a policy");
    check_object_max(reader, value, memory, "is larger than memory.size",
                     "lower it: objects larger than memory are never stored in memory");
    if (auto const least = least_memory(memory); memory.size < least)
        reader.fault({"size"}, "is too small for the index and the policy " + in_quotes(memory.policy),
                     "write " + in_quotes(size_text(least)) + " or more, or use another policy");
}

}   // namespace

Form<cache::Options> memory() {
    using T = cache::Options;
    return object_of<T>(
        {
            key<T>("size", &T::size, size(64 * KiB, size_max),
                   "Budget for bodies, heads, keys, index, policy and negative cache entries."),
            key<T>("policy", &T::policy, policy_or_auto(),
                   "Replacement policy, with or without settings. `auto` uses the policy with the fewest misses in a sample of the "
                   "traffic, `auto:aim=bytes` the one with the fewest missed bytes. It changes the policy if another one has "
                   "missed `margin=3` percent less in each of `windows=3` comparisons of `window=10` seconds. The last change must "
                   "be at least `rest=60` seconds ago. Example: `auto:margin=5:rest=600`."),
            key<T>("what_if", &T::what_if, flag(),
                   "`true`: a sample of the traffic is simulated with every policy at 0.5, 1, 2 and 4 times `memory.size`, for "
                   "`garner stats --what-if`."),
            key<T>("object_max", &T::object_max, size(0, size_max),
                   "Size of a body stored in memory. If not set, at most half of `memory.size`."),
            key<T>("fill_share_max", &T::fill_share, fraction(0.01, 1), "Maximum share of `memory.size` for bodies being received.")
                .was("fill_share"),
            key<T>("save", &T::save, text(),
                   "File for the objects in memory between two runs: written at a stop, removed at the start, and read behind the "
                   "first requests. Not with `disk.path`. Empty: none."),
            retired<T>("shards"),
            retired<T>("variants_per_url"),
        },
        check_memory);
}

namespace {

/// The log fills one segment while others are written, and the records kept from a reclaimed segment need space, too.
Bytes least_buffer(store::DiskOptions const& disk) {
    constexpr Bytes segments = 4;
    return segments * store::disk::shape_of(disk.size).segment_bytes;
}

void check_disk(Reader& reader, Json const& value, store::DiskOptions& disk) {
    auto const least = least_buffer(disk);
    check_object_max(reader, value, disk, "is larger than disk.size",
                     "lower it: objects larger than the disk tier are never stored on disk");
    if (!value.contains("buffer"))
        disk.buffer = std::max(least, std::min(disk.buffer, disk.size / 4));
    else if (disk.buffer < least)
        reader.fault({"buffer"}, "is less than four segments of a disk tier of " + size_text(disk.size),
                     "write " + in_quotes(size_text(least)) + " or more, or a smaller disk.size");
    if (disk.object_min > disk.object_max)
        reader.fault({"object_min"}, "is larger than disk.object_max: nothing would be stored on disk",
                     "lower it, or raise object_max");
}

}   // namespace

Form<store::DiskOptions> disk() {
    using T = store::DiskOptions;
    using enum T::Admit;
    constexpr milliseconds shortest{10}, longest{10'000};
    return object_of<T>(
        {
            key<T>("path", &T::path, text(), "Directory, or block device that Garner uses exclusively; empty: no disk tier."),
            key<T>("size", &T::size, size(16 * MiB, size_max), "Allocated at the start. A device is used up to its own size."),
            key<T>("policy", &T::policy, policy_spec(T{}.policy),
                   "`fifo-reinsertion` evicts the oldest object that has not been used since it was written, and needs no memory. "
                   "Any other policy, with or without settings, needs up to 30 bytes of memory per object."),
            key<T>("object_max", &T::object_max, size(0, size_max),
                   "Size of a body stored on disk. If not set, at most half of `disk.size`."),
            key<T>("object_min", &T::object_min, size(0, size_max), "Size of a body stored on disk."),
            key<T>(
                "buffer", &T::buffer, size(2 * MiB, size_max),
                "Memory for data that waits to be written: at least four segments; if not set, at most a quarter of `disk.size`. "
                "While it is full, no objects are stored on disk. Data read and not yet sent may take the same amount again."),
            key<T>("sync_interval", &T::sync, time(shortest, longest),
                   "Interval between syncs: a power failure loses at most the data of this time.")
                .was("sync"),
            key<T>("timeout", &T::patience, time(shortest, longest),
                   "Maximum time that a request waits for the disk before it is sent to the origin.")
                .was("patience"),
            key<T>("threads", &T::readers, count(1, 64), "Threads for reads that must wait for the disk.").was("readers"),
            key<T>("admit", &T::admit, one_of<T::Admit>({{"all", all}, {"second-hit", second_hit}}),
                   "`all`: every cacheable object is written. `second-hit`: only objects requested twice, to reduce wear."),
            key<T>("rate_max", &T::rate, size(0, size_max), "Bytes of new objects written per second, to reduce wear; 0: no limit.")
                .was("rate"),
        },
        check_disk);
}

}   // namespace garner::config
