#include "redis/redis_set.hpp"

#include <hiredis/hiredis.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <utility>

#include "crawl/mixed_bits.hpp"
#include "util/check.hpp"
#include "util/numbers.hpp"
#include "util/option_words.hpp"

namespace garner::redis {
namespace {

// Redis keeps a set of at most 512 whole numbers (set-max-intset-entries) as an array of 8 bytes each, a larger one as a table of
// some 70 bytes each. Buckets are expected to be three quarters full at most, so that none of them exceeds 512.
constexpr std::uint64_t entries_in_bucket = 384;
constexpr unsigned least_bucket_bits = 10, most_bucket_bits = 32, usual_bucket_bits = 22;
constexpr std::uint32_t sample = 256;   // buckets
constexpr auto looks_every = seconds{1};
constexpr std::string_view form_begins = "garner url set 1, 64 bits, buckets 2^";

unsigned bucket_bits_for(std::uint64_t expected) {
    if (expected == 0) return usual_bucket_bits;
    auto const bits = static_cast<unsigned>(std::bit_width((expected - 1) / entries_in_bucket));
    return std::clamp(bits, least_bucket_bits, most_bucket_bits);
}

}   // namespace

RedisSet::RedisSet(Options const& options) : prefix_(options.address.prefix), cluster_(options.address) {}

Result<std::unique_ptr<RedisSet>> RedisSet::open(Options const& options) {
    std::unique_ptr<RedisSet> set(new RedisSet(options));
    auto fault = set->cluster_.begin();
    if (fault.empty()) fault = set->cluster_.each_master([](RedisConnection&) { return std::string(); });
    if (fault.empty()) fault = set->agree_on_form(options.expected);
    if (!fault.empty()) return Fault{.what = std::move(fault), .where = "redis"};
    set->look_around();
    set->why_it_forgets_ = set->sync();
    return set;
}

RedisSet::~RedisSet() {
    if (uncounted_ > 0) count();
}

// The first crawler decides the number of buckets.
std::string RedisSet::agree_on_form(std::uint64_t expected) {
    auto const name = prefix_ + "form", wanted = std::string(form_begins) + std::to_string(bucket_bits_for(expected));
    std::string fault;
    cluster_.ask_one(name, {"SET", name, wanted, "NX"}, fault);
    if (fault.empty()) fault = read_form(form_);
    if (!fault.empty()) return fault;
    std::string_view const form = form_;
    bool const ours = form.starts_with(form_begins) && read_whole_number(form.substr(form_begins.size()), bucket_bits_) &&
                      bucket_bits_ >= least_bucket_bits && bucket_bits_ <= most_bucket_bits;
    if (!ours) return "the key " + name + " belongs to another program or version; choose another prefix=";
    auto const room = entries_in_bucket << bucket_bits_;
    if (expected <= room) return {};
    return "the set of prefix=" + prefix_ + " was created for " + std::to_string(room) + " entries at most, and " +
           std::to_string(expected) + " are expected; choose another prefix=, or lower the expected number";
}

/// Empty: the key does not exist, or has no text.
std::string RedisSet::read_form(std::string& form) {
    auto const name = prefix_ + "form";
    std::string fault;
    form_read_ = steady_now();
    opened_ = cluster_.opened();
    auto const reply = cluster_.ask_one(name, {"GET", name}, fault);
    if (!fault.empty()) return fault;
    form = reply->type == REDIS_REPLY_STRING ? std::string(reply->str, static_cast<std::size_t>(reply->len)) : std::string();
    return {};
}

/// Without the form another crawler might choose another number of buckets. So it is written again at once. A different one means
/// that this has happened: both would call the same URLs new.
std::string RedisSet::keep_form() {
    auto const name = prefix_ + "form";
    std::string form;
    auto fault = read_form(form);
    if (fault.empty() && form.empty()) {
        note_loss("the key " + name + " is gone");
        cluster_.ask_one(name, {"SET", name, form_, "NX"}, fault);
        if (fault.empty()) fault = read_form(form);
    }
    if (!fault.empty()) return opened_ = 0, fault;
    if (form == form_) return {};
    opened_ = 0;   // read again with the next batch
    return "another crawler has created the set of prefix=" + prefix_ +
           " again with other buckets, after Redis had lost it; restart this one, with the same expected number as the other";
}

void RedisSet::note_loss(std::string const& what) {
    if (!loss_.empty()) return;
    loss_ = "redis: the cluster has lost URLs of the set with prefix=" + prefix_ + " (" + what + "; " +
            std::to_string(size_ + uncounted_) +
            " URLs were known): lost ones are new again; restore the data of Redis, and set appendonly to yes";
    size_ = uncounted_ = 0;
    had_entries_.clear();
}

std::string RedisSet::bucket_name(std::uint64_t bucket) const {
    auto name = prefix_;
    for (int shift = static_cast<int>((bucket_bits_ + 3) / 4 * 4) - 4; shift >= 0; shift -= 4)
        name.push_back("0123456789abcdef"[bucket >> shift & 15]);
    return name;
}

crawl::UrlSet::Added RedisSet::add(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) {
    check(batch.size() == is_new.size());
    if (cluster_.opened() != opened_ || steady_now() - form_read_ > looks_every)
        if (auto fault = keep_form(); !fault.empty()) return {.fault = "redis: " + fault};
    // Repeats are asked for once: after a lost answer the first of them could not be told from the others.
    std::vector<Item> items(batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) items[i] = {crawl::mixed(batch[i]), static_cast<std::uint32_t>(i)};
    std::ranges::sort(items, [](Item const& a, Item const& b) { return a.key != b.key ? a.key < b.key : a.index < b.index; });
    auto const repeated = std::ranges::unique(items, {}, &Item::key);
    items.erase(repeated.begin(), repeated.end());
    std::ranges::fill(is_new, std::uint8_t{0});

    std::vector<RedisCluster::Question> questions;
    questions.reserve(items.size());
    for (std::uint32_t i = 0; i < items.size(); ++i)
        questions.push_back({.number = i, .slot = redis_slot(bucket_name(items[i].key >> (64 - bucket_bits_)))});
    std::vector<Told> told;
    auto fault = cluster_.ask(
        questions, [&](std::uint32_t number, std::string& to) { write_add(items[number], to); },
        [&](std::uint32_t number, RedisReply reply, bool doubtful) {
            take(items[number], reply->integer, doubtful, is_new, told);
        });
    if (!fault.empty()) {
        remember(told, items, questions);
        return {.fault = "redis: " + fault};
    }
    if (cluster_.opened() != opened_) fault = keep_form();
    if (!fault.empty()) return remember(told, items, questions), Added{.fault = "redis: " + fault};
    Added added{.fresh = told.size()};
    for (auto const& [key, doubtful] : told) added.doubtful += doubtful, owed_.erase(key);
    uncounted_ += added.fresh;
    if (steady_now() - looked_ > looks_every) look_around();
    added.loss = std::exchange(loss_, {});
    return added;
}

void RedisSet::write_add(Item const& item, std::string& to) const {
    char member[20];
    auto const end = std::to_chars(std::begin(member), std::end(member), item.key & (UINT64_MAX >> bucket_bits_)).ptr;
    append_command({"SADD", bucket_name(item.key >> (64 - bucket_bits_)), {member, end}}, to);
}

void RedisSet::take(Item const& item, long long added, bool doubtful, std::span<std::uint8_t> is_new,
                    std::vector<Told>& told) const {
    if (added > 0) {
        is_new[item.index] = 1;
        told.push_back({item.key, false});
        return;
    }
    auto const owed = owed_.find(item.key);
    if (!doubtful && owed == owed_.end()) return;
    is_new[item.index] = 1;
    told.push_back({item.key, owed == owed_.end() || owed->second});
}

void RedisSet::remember(std::vector<Told> const& told, std::vector<Item> const& items,
                        std::vector<RedisCluster::Question> const& left) {
    // A certain entry does not become doubtful by another attempt.
    for (auto const& [key, doubtful] : told) owed_[key] = doubtful;
    for (auto const& question : left)
        if (question.doubtful) owed_.try_emplace(items[question.number].key, true);
}

// These figures are for information only, so they do not wait.
void RedisSet::look_around() {
    count();
    measure();
    looked_ = steady_now();
}

// One counter for all crawlers that share the set. A failed update is repeated the next time.
void RedisSet::count() {
    std::string fault;
    auto const name = prefix_ + "size";
    auto const reply = cluster_.ask_one(name, {"INCRBY", name, std::to_string(uncounted_)}, fault, RedisCluster::Try::once);
    if (!fault.empty() || reply->type != REDIS_REPLY_INTEGER || reply->integer < 0) return;
    auto const now = static_cast<std::uint64_t>(reply->integer);
    if (now < size_) note_loss("its counter has fallen to " + std::to_string(now));
    size_ = now;
    uncounted_ = 0;
}

void RedisSet::measure() {
    auto const buckets = std::uint64_t{1} << bucket_bits_;
    auto const name = [&](std::uint32_t number) { return bucket_name(crawl::mixed(number) % buckets); };
    std::vector<RedisCluster::Question> questions;
    for (std::uint32_t i = 0; i < sample; ++i) questions.push_back({.number = i, .slot = redis_slot(name(i))});
    Bytes bytes = 0;
    std::vector<bool> has_entries(sample);
    auto const fault = cluster_.ask(
        questions,
        [&](std::uint32_t number, std::string& to) {
            append_command({"MEMORY", "USAGE", name(number)}, to);
        },
        [&](std::uint32_t number, RedisReply reply, bool) {
            has_entries[number] = reply->type == REDIS_REPLY_INTEGER;   // nil: an empty bucket
            if (has_entries[number]) bytes += static_cast<Bytes>(reply->integer);
        },
        RedisCluster::Try::once);
    if (!fault.empty()) return;
    for (std::size_t i = 0; i < had_entries_.size(); ++i)
        if (had_entries_[i] && !has_entries[i]) {
            note_loss("a bucket is empty that had URLs");
            break;
        }
    had_entries_ = std::move(has_entries);
    remote_bytes_ = static_cast<Bytes>(static_cast<double>(bytes) / sample * static_cast<double>(buckets));
}

Bytes RedisSet::memory_bytes() const {
    constexpr Bytes owed_bytes = 48;   // a node of the map, and its share of the table
    return sizeof *this + owed_.size() * owed_bytes;
}

std::string RedisSet::sync() {
    return cluster_.each_master([](RedisConnection& node) -> std::string {
        for (auto const& [option, value] : {std::pair{"appendonly", "yes"}, std::pair{"appendfsync", "always"}}) {
            auto const reply = node.ask({"CONFIG", "GET", option});
            if (!reply) return node.fault();
            bool const told = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 && reply->element[1]->str;
            auto const set = told ? std::string(reply->element[1]->str) : "unknown";
            if (set != value)
                return "redis: " + node.endpoint().text() + " may lose confirmed URLs at a power failure: its " + option + " is " +
                       set + ", not " + value;
        }
        return {};
    });
}

}   // namespace garner::redis
