// Random histories of one URL in two tiers, or in memory alone: concurrent fetches, purges,
// kills, disk reads, and changes of the disk. No response is older than one that was sent before the request began,
// and none was fetched before a purge. docs/design/consistency.md lists the guarantees.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "cache/disk_lookup.hpp"
#include "cache/scene.hpp"
#include "cache/slow_disk.hpp"
#include "store/interim_disk.hpp"
#include "store/run.hpp"
#include "support/rounds.hpp"

namespace garner::cache {
namespace {

/// Sequence numbers after a restart are above all earlier ones, as in the real store.
class RestartedDisk : public SlowDisk {
public:
    explicit RestartedDisk(std::uint64_t& epochs) : epochs_(epochs) {}
    std::uint64_t first_sequence() const override { return epochs_ += 1'000'000'000; }

private:
    std::uint64_t& epochs_;
};

/// Tiers that several histories use in turn, each history with its own URL.
struct Tiers {
    explicit Tiers(bool has_disk) : has_disk(has_disk) {
        if (has_disk) disk = std::make_shared<RestartedDisk>(epochs);
        start();
    }
    bool const has_disk;   // at the start
    std::uint64_t epochs = 0;
    std::shared_ptr<RestartedDisk> disk;
    std::unique_ptr<Scene> scene;
    void start() {
        scene = std::make_unique<Scene>();
        scene->cache.set_disk(disk);
    }
    void change_to(std::shared_ptr<RestartedDisk> next) {
        disk = std::move(next);
        scene->cache.set_disk(disk);
    }
};

class History {
public:
    History(Tiers& tiers, std::uint64_t seed, bool tells)
        : random_(seed), tiers_(tiers), url_("u" + std::to_string(seed)), varies_(one_in(3)), tells_(tells) {}

    void run(int steps) {
        for (int i = 0; i < steps && wrong.empty(); ++i) step();
    }
    std::string wrong, told;
    int answers = 0;

private:
    struct Fetch {
        FillLease lead;
        std::string language;
        int began = 0;       // value of clock_
        int at_origin = 0;   // the origin's version at that moment
        int version = 0;     // version in the response; 0: no head yet
        store::ObjectPtr object{};
        bool grows = false;
    };

    bool one_in(unsigned n) { return random_() % n == 0; }
    Cache& cache() { return tiers_.scene->cache; }
    Key key() { return cache().key(url_); }
    std::string any_language() { return varies_ && one_in(2) ? "de" : "en"; }
    static Ask ask_in(std::string const& language) { return with("Accept-Language", language); }
    http::VaryNames vary() const { return http::parse_vary(varies_ ? "Accept-Language" : ""); }
    std::string variant(std::string const& language) const {
        auto const request = ask_in(language);
        return varies_ ? http::variant_key(vary(), Scene::head(request).fields) : "";
    }

    void step() {
        switch (random_() % 10) {
        case 0: ++version_; break;
        case 1: begin(any_language()); break;
        case 2:
        case 3: head(); break;
        case 4:
        case 5: finish(); break;
        case 6: break_off(); break;
        case 7:
            if (one_in(3)) purge();
            break;
        case 8:
            if (one_in(100)) kill();
            if (tiers_.has_disk && one_in(4)) change();
            break;
        default: look();
        }
    }

    void begin(std::string const& language) {
        if (fetches_.size() < 4) add(cache().lease(key(), nullptr), language);
    }
    void add(FillLease lead, std::string const& language) {
        fetches_.push_back({.lead = std::move(lead), .language = language, .began = ++clock_, .at_origin = version_});
        say("begin at", version_, language);
    }
    Fetch* any(bool with_head) {
        std::vector<Fetch*> fit;
        for (auto& fetch : fetches_)
            if ((fetch.version != 0) == with_head) fit.push_back(&fetch);
        return fit.empty() ? nullptr : fit[random_() % fit.size()];
    }
    void remove(Fetch const& fetch) { fetches_.erase(fetches_.begin() + (&fetch - fetches_.data())); }

    /// The origin creates the response at some moment since the fetch began. A
    /// version counts as sent once the response is complete or aborted.
    void head() {
        auto* fetch = any(false);
        if (!fetch) return;
        fetch->version = fetch->at_origin + static_cast<int>(random_() % static_cast<unsigned>(version_ - fetch->at_origin + 1));
        fetch->grows = one_in(3);
        fetch->object = make(*fetch);
        say(fetch->grows ? "growing" : "head", fetch->version, fetch->language);
        tiers_.scene->give(*fetch->lead.fill(), *fetch->object, vary(), nullptr);
        if (fetch->grows) fetch->lead.head_is_storable(fetch->object, vary(), variant(fetch->language));
    }
    void give(Fetch const& fetch) {
        auto& given = given_[varies_ ? fetch.language : ""];
        given = std::max(given, fetch.version);
    }
    store::ObjectPtr make(Fetch const& fetch) {
        auto const text = varies_ ? variant_text(url_, variant(fetch.language)) : url_;
        auto const head = "HTTP/1.1 200 OK\r\nETag: \"" + std::to_string(fetch.version) + "\"\r\n";
        auto const body = std::to_string(fetch.version) + " " + std::to_string(fetch.began);
        store::Object::Parts parts;
        parts.key = text;
        parts.head = head;
        parts.bytes = body;
        parts.terms = Scene::terms(1'000);
        parts.sequence = tiers_.scene->next();
        if (fetch.grows) parts.body = cache().memory().make_body(std::nullopt), parts.bytes = {};
        bool const in_memory = fetch.grows || !one_in(3);
        return in_memory ? cache().memory().make_object(parts, key().fingerprint) : store::Object::make(parts, nullptr);
    }
    void finish() {
        auto* fetch = any(true);
        if (!fetch || fetch->grows) return;
        say("store", fetch->version, fetch->language);
        fetch->lead.complete(fetch->object, vary(), variant(fetch->language));
        give(*fetch);
        remove(*fetch);
    }
    void break_off() {
        auto* fetch = any(one_in(2));
        if (!fetch || (fetch->version != 0 && !fetch->grows)) return;
        say("break off", fetch->version, fetch->language);
        fetch->lead.drop();
        if (fetch->grows) give(*fetch);
        remove(*fetch);
    }
    void purge() {
        say("purge at", version_);
        cache().purge(key());
        purged_ = ++clock_;
    }
    /// Loses memory and the running fetches.
    void kill() {
        if (reads_ || changes_) return;
        say("kill at", version_);
        fetches_.clear();
        tiers_.scene.reset();
        tiers_.start();
    }

    /// A reload: another disk, none, or the same one opened again.
    void change() {
        if (changes_) return;
        if (!tiers_.disk || one_in(3)) {
            say("an empty disk at", version_);
            tiers_.change_to(std::make_shared<RestartedDisk>(tiers_.epochs));
        } else if (one_in(3)) {
            say("no disk at", version_);
            tiers_.change_to(nullptr);
        } else {
            reopen();
        }
    }
    void reopen() {
        say("the disk is closed at", version_);
        auto const interim = std::make_shared<store::InterimDisk>(*tiers_.disk);
        cache().set_disk(interim);
        changes_ = true;
        for (auto steps = random_() % 6; steps > 0; --steps) step();
        changes_ = false;
        EXPECT_TRUE(interim->pass_on(tiers_.disk));
        cache().set_disk(tiers_.disk);
        say("the disk is open at", version_);
    }

    void look() {
        if (reads_) return;
        auto const language = any_language();
        auto const request = ask_in(language);
        auto const given = given_[varies_ ? language : ""];
        auto const purged = purged_;
        auto const collapse = one_in(2) ? Collapse::lead_and_follow : Collapse::alone;
        auto const head = Scene::head(request);
        Query const query{key(), head, request.control, request.now, collapse};
        auto found = cache().lookup(query);
        for (int looks = 0; looks < 3 && found.may_be_elsewhere; ++looks) {
            auto const disk = tiers_.disk;
            if (disk && one_in(2)) disk->meanwhile = [this] { step(); };
            reads_ = true;
            bool const sure = store::run([&](net::Executor executor) -> net::awaitable<bool> {
                DiskLookup on_disk(cache(), query, executor);
                co_return co_await on_disk.look(found);
            });
            reads_ = false;
            if (disk) disk->meanwhile = nullptr;
            if (sure) break;
            found = cache().lookup(query);
        }
        if (found.object && found.kind == Lookup::Kind::fresh) check(*found.object, language, given, purged);
        if (found.lead && fetches_.size() < 4) add(std::move(found.lead), language);
    }
    void check(store::Object const& object, std::string const& language, int given, int purged) {
        ++answers;
        int version = 0, began = 0;
        std::sscanf(std::string(object.bytes()).c_str(), "%d %d", &version, &began);
        say("found", version, language);
        if (version < given) wrong = "somebody was given " + std::to_string(given) + " before";
        if (began < purged) wrong = "it was fetched before a purge";
    }
    void say(std::string_view what, int version, std::string_view language = {}) {
        if (tells_) told.append(what).append(" ").append(std::to_string(version)).append(" ").append(language).append("\n");
    }

    std::mt19937_64 random_;
    Tiers& tiers_;
    std::string const url_;
    std::vector<Fetch> fetches_;
    std::map<std::string, int> given_;   // the greatest version that was sent, per language if the URL varies
    bool const varies_;
    bool const tells_;   // the log costs more than the history itself
    bool reads_ = false;
    bool changes_ = false;   // the disk is closed, and opened again later
    int version_ = 1;        // the origin's current version
    int clock_ = 0;
    int purged_ = 0;   // time of the last purge
};

class Histories : public ::testing::TestWithParam<int> {};

TEST_P(Histories, never_end_in_an_older_answer) {
    constexpr std::uint64_t steps = 25;
    std::uint64_t const histories = test::rounds(12'500);
    std::uint64_t answers = 0;
    bool const has_disk = GetParam() % 4 != 0;
    Tiers tiers(has_disk);
    for (std::uint64_t i = 0; i < histories; ++i) {
        auto const seed = static_cast<std::uint64_t>(GetParam()) << 32 | i;
        History history(tiers, seed, false);
        history.run(steps);
        answers += static_cast<std::uint64_t>(history.answers);
        if (history.wrong.empty()) continue;
        Tiers fresh(has_disk);
        History again(fresh, seed, true);
        again.run(steps);
        FAIL() << "history " << i << ", " << history.wrong << ":\n" << again.told;
    }
    EXPECT_GT(answers, histories / 5);
}

INSTANTIATE_TEST_SUITE_P(Of, Histories, ::testing::Range(0, 8));

}   // namespace
}   // namespace garner::cache
