// Finds the user of a request by its credentials.
#pragma once
#include <atomic>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "auth/login_answer.hpp"
#include "auth/check_threads.hpp"
#include "auth/failures.hpp"
#include "auth/running_check.hpp"
#include "auth/user_sources.hpp"
#include "auth/verified.hpp"
#include "util/bytes.hpp"
#include "util/clock.hpp"
#include "util/ip.hpp"
#include "util/mutex.hpp"
#include "util/prepared.hpp"
#include "util/result.hpp"

namespace garner::auth {

/// Thread-safe. find() and verify() never block. Checks run on threads of its own, one at a time for the same credentials.
class Authenticator {
public:
    using Identity = std::shared_ptr<http::Identity const>;
    // Limits of the checks that wait: the number of tickets and that of others, and the size of their credentials. One client
    // network has half of them.
    static constexpr std::size_t queued_max = 10'000, queued_bytes_max = 64 * MiB;
    static constexpr std::size_t queued_of_client_max = queued_max / 2, queued_bytes_of_client_max = queued_bytes_max / 2;
    static constexpr seconds queue_time_max{60};

    /// `clock`: the time of checks; another one in tests.
    explicit Authenticator(WallTime (*clock)() = wall_now) : clock_(clock) {}
    /// Waits for running checks. No request waits for one any more.
    ~Authenticator();
    Authenticator(Authenticator const&) = delete;
    Authenticator& operator=(Authenticator const&) = delete;

    /// For the start and a reload: starts the threads that `auth.threads` asks for. The fault names the key. The change forgets
    /// all results if the options differ from those before. With the same options it keeps all and ignores `sources`. Every check
    /// that waits or runs gets its result. With sources the process makes no core dumps from then on, because passwords are in
    /// its memory.
    Result<Prepared> prepare(std::shared_ptr<Sources const> sources) EXCLUDES(mutex_);
    /// Never nullptr. For the challenges and the realm of a 407.
    std::shared_ptr<Sources const> sources() const EXCLUDES(mutex_);

    /// The remembered result for this value of Proxy-Authorization. Kind::unknown: call verify(). Allocates nothing; takes less
    /// than 1 µs. Negotiate is always unknown: its tokens are used once, and the result belongs to the connection.
    Verified::Found find(std::string_view field, WallTime now);

    /// Checks credentials that find() does not know. The result may be there at once: malformed credentials, too many failures of
    /// this address (other addresses and remembered users are not affected), or a full queue. Else see
    /// RunningCheck::wake_when_done(); the time limit is the caller's, options().timeout.
    std::shared_ptr<RunningCheck> verify(std::string_view field, IpAddress const& client, WallTime now) EXCLUDES(mutex_);

    /// The user of a request without credentials: `client` is an address of an `address` source, or `certificate` has the names in
    /// a verified client certificate. Without a user the client must log in.
    Facts facts_without_credentials(IpAddress const& client, std::span<std::string const> certificate, WallTime now) const
        EXCLUDES(mutex_);
    /// The identity of a user that is known already, with the groups of the directory. nullptr: call find_groups(). Allocates: keep
    /// it with generation().
    Identity find_user(Facts, WallTime now) const EXCLUDES(mutex_);
    /// Asks the directory for the groups of a user that is known already. The answer is always `accepted`.
    std::shared_ptr<RunningCheck> find_groups(Facts, IpAddress const& client, WallTime now) EXCLUDES(mutex_);
    enum class Asks : std::uint8_t { none, directory };
    /// The identity of a user by name, for an explanation. With Asks::directory the caller may block for some seconds. The result
    /// has no groups by the claims of a token.
    Identity describe(Facts, WallTime now, Asks) const EXCLUDES(mutex_);

    /// Changes when remembered identities may have changed: compare it before a kept identity is used again.
    std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

    /// Reads changed files of users, groups and keys again. Call it once a second from a thread that may block. Returns notices for
    /// the log.
    std::vector<Fault> refresh() EXCLUDES(mutex_);
    /// The troubles of the sources at the last refresh().
    std::vector<Trouble> troubles() const EXCLUDES(mutex_);

    std::size_t remembered() { return verified_.size(); }
    /// The memory of remembered results, waiting checks and failures, approximately; and its bound, 0 without sources.
    Bytes bytes() const EXCLUDES(mutex_);
    Bytes bytes_max() const EXCLUDES(mutex_);

private:
    struct Job;
    /// Checks that wait or run.
    struct Queued {
        std::size_t checks = 0;
        Bytes bytes = 0;   // of their credentials
    };
    Result<std::shared_ptr<CheckThreads>> new_threads(Options const& options) const EXCLUDES(mutex_);
    void apply(std::shared_ptr<Sources const> sources, std::shared_ptr<CheckThreads> threads) EXCLUDES(mutex_);
    void change_threads(std::shared_ptr<CheckThreads> threads) REQUIRES(mutex_);
    std::shared_ptr<RunningCheck> join_or_begin(std::shared_ptr<Job>, WallTime now) EXCLUDES(mutex_);
    void work(std::shared_ptr<Job> const&) EXCLUDES(mutex_);
    void check(Job&) EXCLUDES(mutex_);
    bool leave_groups_to_others(std::shared_ptr<Job> const&) EXCLUDES(mutex_);
    void finish(Job&, LoginAnswer) EXCLUDES(mutex_);
    std::optional<LoginAnswer> refuse_unchecked(Job const&, WallTime now) EXCLUDES(mutex_);
    LoginAnswer conclude(Job&, WallTime now) EXCLUDES(mutex_);
    LoginAnswer accept(Job&, bool remember) REQUIRES(mutex_);
    LoginAnswer reject(Job const&, Verdict&, bool remember, WallTime now) REQUIRES(mutex_);
    LoginAnswer use_grace(Job const&, Verdict&, bool remember, WallTime now) REQUIRES(mutex_);
    std::shared_ptr<RunningCheck> begin(std::shared_ptr<Job>) REQUIRES(mutex_);
    void end(Job const&) REQUIRES(mutex_);
    void probe(std::shared_ptr<Sources const> const&) EXCLUDES(mutex_);
    std::optional<milliseconds> blocked(Job const&, WallTime now) REQUIRES(mutex_);

    WallTime (*const clock_)();
    Verified verified_;
    std::atomic<std::uint64_t> generation_{0};
    mutable Mutex mutex_;
    std::shared_ptr<Sources const> sources_ GUARDED_BY(mutex_) = std::make_shared<Sources const>();
    Failures failures_ GUARDED_BY(mutex_);
    std::map<SipDigest, std::shared_ptr<Job>> running_ GUARDED_BY(mutex_);
    std::map<IpAddress, Queued> queued_ GUARDED_BY(mutex_);   // by client network
    std::size_t queued_bytes_ GUARDED_BY(mutex_) = 0;
    std::shared_ptr<CheckThreads> threads_ GUARDED_BY(mutex_);
    std::vector<Trouble> troubles_ GUARDED_BY(mutex_);
    std::vector<std::shared_ptr<CheckThreads>> former_threads_ GUARDED_BY(mutex_);   // until their running checks end
};

}   // namespace garner::auth
