// Repeated kills at random moments under load: later responses are complete, correct, and never older than earlier ones.
// GARNER_CRASHES: number of kills (default 10). See tools/soak.
#include <signal.h>

#include <random>
#include <thread>

#include "story/disk/disk.hpp"

namespace garner::test {

namespace {

constexpr std::size_t works = 500, readers = 6;
constexpr auto round_and_round = R"({"disk": {"size": "16 MiB", "buffer": "2 MiB"},
    "memory": {"size": "2 MiB"}})";   // smaller than all works together

constexpr std::size_t answers_max = 300;   // per kill

/// Clients that read, purge, reload and post, and record the responses.
class Crowd {
public:
    Crowd(Proxy const& proxy, Library& library, std::map<std::string, int>& answered, unsigned seed)
        : proxy_(proxy), library_(library), before_(answered), answered_(answered) {
        for (std::size_t i = 0; i < readers; ++i) threads_.emplace_back([this, i, seed] { run(seed * readers + i); });
    }
    /// Waits for a number of responses instead of a time, so that a busy machine tests no less.
    bool wait_for_answers(std::size_t count) const {
        return eventually([&] { return answers_ >= count; }, 3 * patience);
    }
    /// Waits for the clients, which stop when the proxy is gone.
    void join() {
        for (auto& thread : threads_) thread.join();
    }
    std::vector<std::string> const& faults() const { return faults_; }
    std::size_t answers() const { return answers_; }
    std::size_t hits() const { return hits_; }
    /// Responses that could have been hits if nothing had been purged, reloaded or lost.
    std::size_t asked_twice() const { return asked_twice_; }

private:
    void run(unsigned long seed) {
        std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
        Client client(proxy_, library_.origin());
        try {
            while (one(client, random)) {
            }
        } catch (Trouble const&) {   // the proxy does not listen any more
        }
    }
    bool one(Client& client, std::mt19937& random) {
        // Some works are requested far more often than others.
        auto const number = random() % 3 == 0 ? random() % works : random() % 12;
        auto const path = Library::path(number);
        switch (random() % 40) {
        case 0: return purge(client, path);
        case 1: library_.renew(path); return get(client, path, {{"Cache-Control", "no-cache"}});
        default: return get(client, path, {});
        }
    }
    bool purge(Client& client, std::string const& path) {
        auto const now = library_.renew(path);
        auto const status = client.send("PURGE", path).status();
        if (status != 200 && status != 404) return false;
        note(path, now);
        return true;
    }
    bool get(Client& client, std::string const& path, Fields const& fields) {
        auto reply = client.get(path, fields);
        if (!reply.complete()) {
            if (reply.status() == 200) check_begun(path, reply);
            return false;
        }
        if (reply.status() != 200) return fault(path + " answered " + std::to_string(reply.status()));
        auto const version = Library::version_of(path, reply.body());
        if (!version) return fault(path + " with a body that is none of it: " + reply.body().substr(0, 60));
        std::lock_guard const lock(mutex_);
        ++answers_;
        hits_ += reply.hit();
        asked_twice_ += answered_.contains(path);
        auto const least = before_.find(path);
        if (least != before_.end() && *version < least->second)
            faults_.push_back(path + " in version " + std::to_string(*version) +
                              ", answered before the kill: " + std::to_string(least->second) + "; " + reply.field("Cache-Status"));
        answered_[path] = std::max(answered_[path], *version);
        return true;
    }
    /// The received part of a truncated response is correct.
    void check_begun(std::string const& path, Reply const& reply) {
        auto const& got = reply.body();
        auto const begins = path + " version ";
        if (got.size() < begins.size() + 8) return;
        auto const version = std::atoi(got.c_str() + begins.size());
        if (!Library::body(path, version).starts_with(got)) fault(path + " begun with what is none of it");
    }
    bool fault(std::string text) {
        std::lock_guard const lock(mutex_);
        faults_.push_back(std::move(text));
        return true;
    }
    void note(std::string const& path, int version) {
        std::lock_guard const lock(mutex_);
        answered_[path] = std::max(answered_[path], version);
    }

    Proxy const& proxy_;
    Library& library_;
    std::map<std::string, int> const before_;   // sent by the proxies that were killed
    std::mutex mutex_;
    std::map<std::string, int>& answered_;
    std::vector<std::string> faults_;
    std::atomic<std::size_t> answers_ = 0;
    std::size_t hits_ = 0, asked_twice_ = 0;
    std::vector<std::thread> threads_;
};

struct Crash : DiskScene {
    void crash_again_and_again(std::string const& configuration) {
        std::mt19937 random(4711);
        std::map<std::string, int> answered;
        std::size_t wanted = 0, answers = 0, hits = 0, asked_twice = 0;
        auto const crashes = times("GARNER_CRASHES", 10);
        for (std::size_t round = 0; round < crashes; ++round) {
            SCOPED_TRACE(round);
            start(configuration);
            EXPECT_EQ(figure("damaged"), 0u);
            Crowd crowd(proxy(), library(), answered, static_cast<unsigned>(round));
            auto const count = random() % answers_max;
            EXPECT_TRUE(crowd.wait_for_answers(count)) << crowd.answers() << " of " << count;
            wanted += count;
            EXPECT_EQ(figure("damaged"), 0u) << "no record read since the start is damaged";
            pause_for(Millis{random() % 20});
            proxy().signal(SIGKILL);
            crowd.join();
            kill();
            for (auto const& fault : crowd.faults()) ADD_FAILURE() << fault;
            answers += crowd.answers();
            hits += crowd.hits();
            asked_twice += crowd.asked_twice();
        }
        start(configuration);
        std::size_t found = 0;
        for (auto const& [path, version] : answered) {
            bool hit = false;
            EXPECT_GE(ask(path, {}, &hit), version) << path;
            found += hit;
        }
        EXPECT_GE(answers, wanted);
        EXPECT_GT(hits, asked_twice / 4);
        EXPECT_GT(found, answered.size() / 8) << "more than an eighth of the objects survive";
        RecordProperty("answers", static_cast<int>(answers));
        RecordProperty("hits", static_cast<int>(hits));
    }

    /// A configuration for a process that the test does not wait for.
    std::string configuration_file() const {
        auto configuration = nlohmann::json::parse(patch());
        configuration["listen"] = {{{"address", "127.0.0.1:" + std::to_string(free_port())}}};
        return dir().write("garner.json", configuration.dump());
    }
};

}   // namespace

TEST_F(Crash, at_any_moment_under_load_leaves_nothing_half_wrong_or_old) { crash_again_and_again(little_memory); }

TEST_F(Crash, while_the_log_comes_round_leaves_nothing_half_wrong_or_old) {
    crash_again_and_again(round_and_round);
    stop();
    auto const used_again = [](DiskImage::Segment const& segment) { return segment.generation != 0 && !segment.left.empty(); };
    EXPECT_TRUE(std::ranges::any_of(image().segments(), used_again)) << "the log must have wrapped";
}

TEST_F(Crash, in_the_middle_of_a_start_loses_nothing) {
    constexpr std::size_t some = 100;
    start();
    ask_all(some);
    stop();
    std::mt19937 random(1);
    for (std::size_t round = 0; round < times("GARNER_CRASHES", 10); ++round) {
        Child child({garner_binary(), "--config", configuration_file(), "--set", "user=root"});
        pause_for(Millis{random() % 150});
        child.signal(SIGKILL);
        child.exit_code();
    }
    library().renew_all();
    start();
    EXPECT_EQ(ask_all(some), some);
    EXPECT_EQ(figure("damaged"), 0u);
}

}   // namespace garner::test
