#include "seen_commands/seen_sim.hpp"

#include <bitset>
#include <memory>

#include "catalog/seen_caches.hpp"
#include "papers/dice.hpp"
#include "papers/foresight.hpp"
#include "seen_commands/fingerprint_file.hpp"
#include "seen_commands/private_caches.hpp"
#include "util/clock.hpp"

namespace garner::seen_commands {
namespace {

// Each run simulates this many requests at a time. Then the processor's caches, filled by another run, cost little.
constexpr std::size_t block_requests = 1 << 20;

struct SeenRun {
    SeenResult result;
    std::unique_ptr<crawl::SeenCache> cache;
};

/// A block of requests. Each URL has a distinct fingerprint and a flag that tells whether it was requested before.
class Blocks {
public:
    Blocks(std::string const& path, std::uint64_t seed) : file(path, FingerprintForm::u32), seed_(papers::Dice::mixed(seed)) {}

    /// False at the end and after a fault.
    bool next() {
        auto const ids = std::span(ids_).first(file.read(ids_));
        urls.clear();
        is_new.clear();
        for (auto id : ids) {
            urls.push_back(papers::Dice::mixed(seed_ + id));
            is_new.push_back(note(id));
        }
        return !ids.empty();
    }

    FingerprintFile file;
    std::vector<Fingerprint> urls;
    std::vector<std::uint8_t> is_new;

private:
    static constexpr std::size_t page_ids = 1 << 16;

    /// True the first time.
    bool note(std::uint32_t id) {
        auto& page = seen_[id / page_ids];
        if (!page) page = std::make_unique<std::bitset<page_ids>>();
        auto bit = (*page)[id % page_ids];
        bool const is_new = !bit;
        bit = true;
        return is_new;
    }

    std::vector<std::uint32_t> ids_ = std::vector<std::uint32_t>(block_requests);
    std::uint64_t seed_;
    std::vector<std::unique_ptr<std::bitset<page_ids>>> seen_{page_ids};   // the ids so far; pages without ids are not allocated
};

class Simulation {
public:
    Simulation(SeenSimOptions const& options, SeenProgress const& progress) : options_(options), progress_(progress) {}

    SeenRuns all() {
        bool const at_once = options_.stream == "-";
        std::vector<SeenRun> runs;
        for (auto entries : options_.entries)
            for (auto const& cache : options_.caches) {
                auto run = make(cache, entries);
                if (!run.cache && !done_.fault.empty()) return std::move(done_);
                if (!run.cache) continue;
                runs.push_back(std::move(run));
                if (!at_once && !replay(runs)) return std::move(done_);
            }
        if (at_once && !runs.empty()) replay(runs);
        return std::move(done_);
    }

private:
    /// Has no cache after an error, or if the cache is left out.
    SeenRun make(std::string const& spec, std::uint64_t entries) {
        SeenRun run{.result = {.cache = spec, .entries = entries}, .cache = nullptr};
        crawl::CacheOptions how{.entries = entries, .seed = options_.seed};
        if (catalog::read_cache_spec(spec)->row->foresees) {
            if (options_.threads_model > 1)
                cannot(spec + " knows one stream beforehand, not those of threads: leave out --threads-model");
            else if (options_.stream == "-")
                cannot(needs_a_file(spec));   // only for "all": a named cache is refused earlier
            else
                foresee();
            if (!foresight_) return run;
            how.foresight = foresight_;
        }
        run.cache = options_.threads_model > 1 ? make_private(spec, how) : make_one(spec, how);
        return run;
    }

    std::unique_ptr<crawl::SeenCache> make_one(std::string const& spec, crawl::CacheOptions const& how) {
        auto made = catalog::make_cache(spec, how);
        if (made) return *std::move(made);
        cannot(spec + ": " + made.fault().text());
        return nullptr;
    }

    /// "all" means all caches that are possible here.
    void cannot(std::string why) {
        if (options_.all)
            done_.left_out.push_back(std::move(why));
        else
            done_.fault = std::move(why);
    }

    std::unique_ptr<crawl::SeenCache> make_private(std::string const& spec, crawl::CacheOptions how) {
        auto const threads = options_.threads_model;
        if (how.entries < threads) {
            done_.fault = std::to_string(how.entries) + " entries are fewer than --threads-model " + std::to_string(threads) +
                          ": each thread's cache needs one";
            return nullptr;
        }
        how.entries /= threads;
        std::vector<std::unique_ptr<crawl::SeenCache>> caches;
        for (; caches.size() < threads; ++how.seed) {
            caches.push_back(make_one(spec, how));
            if (!caches.back()) return nullptr;
        }
        return std::make_unique<PrivateCaches>(std::move(caches), options_.page_links);
    }

    void foresee() {
        if (foresight_) return;
        auto foresight = std::make_shared<papers::Foresight>();
        Blocks blocks(options_.stream, options_.seed);
        while (blocks.next()) {
            if (!may_go_on("the first reading", blocks)) return;
            if (foresight->add(blocks.urls)) continue;
            done_.fault = options_.stream + ": more than 2^32 - 2 links, of which min and static cannot know all beforehand";
            return;
        }
        if (no_fault_of(blocks)) foresight_ = std::move(foresight);
    }

    /// Replays the stream in all runs. True: complete, and the runs have their results.
    bool replay(std::vector<SeenRun>& runs) {
        Blocks blocks(options_.stream, options_.seed);
        std::vector<std::uint8_t> answers;
        while (blocks.next()) {
            answers.resize(blocks.urls.size());
            for (auto& run : runs) {
                auto const start = thread_seconds();
                run.cache->seen_each(blocks.urls, answers);
                run.result.seconds += thread_seconds() - start;
                count(answers, blocks.is_new, run.result);
            }
            auto const& first = runs.front().result;
            if (!may_go_on(first.cache + " with " + std::to_string(first.entries) + " entries", blocks)) return false;
        }
        if (!no_fault_of(blocks)) return false;
        if (runs.front().result.requests == 0) {
            done_.fault = options_.stream + " holds no links; nothing to replay";
            return false;
        }
        for (auto& run : runs) {
            auto const entries = static_cast<double>(run.cache->entries());
            run.result.bits_per_entry = static_cast<double>(run.cache->memory_bits()) / entries;
            done_.results.push_back(std::move(run.result));
        }
        runs.clear();
        return true;
    }

    static void count(std::span<std::uint8_t const> answers, std::span<std::uint8_t const> is_new, SeenResult& result) {
        std::uint64_t misses = 0, false_positives = 0, false_negatives = 0;
        for (std::size_t i = 0; i < answers.size(); ++i) {
            misses += answers[i] == 0;
            false_positives += answers[i] & is_new[i];
            false_negatives += (answers[i] | is_new[i]) == 0;
        }
        result.requests += answers.size();
        result.misses += misses;
        result.false_positives += false_positives;
        result.false_negatives += false_negatives;
    }

    bool no_fault_of(Blocks const& blocks) {
        done_.fault = blocks.file.fault();
        return done_.fault.empty();
    }

    bool may_go_on(std::string const& run, Blocks const& blocks) {
        bool const goes_on = progress_(run, blocks.file.bytes_read(), blocks.file.bytes_in_file());
        done_.interrupted = !goes_on;
        if (!goes_on) done_.fault = "interrupted during " + run;
        return goes_on;
    }

    SeenSimOptions const& options_;
    SeenProgress const& progress_;
    std::shared_ptr<papers::Foresight const> foresight_;
    SeenRuns done_;
};

}   // namespace

std::string needs_a_file(std::string const& spec) {
    return spec + " reads the stream twice, which standard input does not allow: give a file";
}

SeenRuns run_seen_caches(SeenSimOptions const& options, SeenProgress const& progress) {
    return Simulation(options, progress).all();
}

}   // namespace garner::seen_commands
