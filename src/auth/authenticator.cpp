#include "auth/authenticator.hpp"

#include <algorithm>
#include <iterator>
#include <system_error>
#include <unordered_set>
#include <utility>

#include "io/privileges.hpp"
#include "util/text.hpp"

namespace garner::auth {

struct Authenticator::Job {
    Credentials credentials;
    SipDigest digest{};
    std::vector<IpAddress> clients = {};   // the networks whose requests wait for it, the first ones; guarded by mutex_
    WallTime queued{};
    std::shared_ptr<RunningCheck> check = std::make_shared<RunningCheck>();
    bool was_accepted = false;      // these credentials, at their last check
    bool has_user = false;          // `verdict` has the user already: only the groups of the directory are missing
    std::uint64_t generation = 0;   // at the beginning of the check
    WallTime checked{};             // of the credentials
    Verdict verdict = {};

    bool is_ticket() const { return !has_user && credentials.scheme == Scheme::negotiate; }
    /// A ticket is used once. It cannot be guessed, so its failures are not counted.
    bool is_remembered() const { return !has_user && credentials.scheme != Scheme::negotiate; }
    bool is_limited() const { return is_remembered() && !was_accepted; }
    std::size_t size() const { return credentials.user.view().size() + credentials.secret.view().size(); }
};

namespace {

constexpr seconds silent_retry{5};
/// The time after which a silent source is asked again about a user within the grace time.
constexpr seconds grace_step{10};
constexpr std::size_t clients_of_job_max = 8;

LoginAnswer limited(milliseconds wait) {
    return {.kind = LoginAnswer::Kind::limited,
            .reason = "too many failed logins from this address",
            .retry_after = std::max(seconds{1}, std::chrono::ceil<seconds>(wait))};
}

LoginAnswer unavailable(std::string reason) {
    return {.kind = LoginAnswer::Kind::unavailable, .reason = std::move(reason), .retry_after = silent_retry};
}

std::shared_ptr<RunningCheck> done(LoginAnswer answer) { return std::make_shared<RunningCheck>(std::move(answer)); }

/// The reading of a file has told its error already.
void add_changes(std::vector<Trouble> const& before, std::vector<Trouble> const& after, std::vector<Fault>& notices) {
    auto const is_in = [](std::vector<Trouble> const& all, Trouble const& one) {
        return std::ranges::count(all, one.name, &Trouble::name) > 0;
    };
    for (auto const& one : after)
        if (one.kind == Trouble::Kind::directory && !is_in(before, one))
            notices.push_back({"the directory cannot be asked: " + one.why + "; " + one.effect, one.fix, one.name});
    for (auto const& one : before)
        if (!is_in(after, one))
            notices.push_back({one.kind == Trouble::Kind::file ? "is read again" : "answers again", "", one.name});
}

/// The answer that find() would have led to.
std::optional<LoginAnswer> answer_of(Verified::Found const& found) {
    using Kind = Verified::Found::Kind;
    if (found.kind == Kind::accepted) return LoginAnswer{.kind = LoginAnswer::Kind::accepted, .identity = found.identity};
    if (found.kind == Kind::wrong) return LoginAnswer{.reason = "these credentials were rejected a moment ago"};
    return std::nullopt;
}

}   // namespace

Authenticator::~Authenticator() {
    std::vector<std::shared_ptr<CheckThreads>> all;
    {
        MutexLock const lock(mutex_);
        all.swap(former_threads_);
        if (threads_) all.push_back(std::move(threads_));
    }
    for (auto const& threads : all) threads->stop();
}

Result<Prepared> Authenticator::prepare(std::shared_ptr<Sources const> sources) {
    std::shared_ptr<CheckThreads> threads;
    if (!sources->empty()) {
        auto started = new_threads(sources->options());
        if (!started) return started.fault();
        threads = *std::move(started);
    }
    return Prepared([this, sources = std::move(sources), threads = std::move(threads)] { apply(sources, threads); });
}

/// nullptr if the present one has as many threads.
Result<std::shared_ptr<CheckThreads>> Authenticator::new_threads(Options const& options) const {
    {
        MutexLock const lock(mutex_);
        if (threads_ && threads_->threads() == options.threads) return std::shared_ptr<CheckThreads>();
    }
    try {
        return std::make_shared<CheckThreads>(options.threads, queued_max);
    } catch (std::system_error const& error) {
        return Fault{.what = std::string("the threads cannot be started: ") + error.what(),
                     .mend = "choose fewer, or raise the limit of processes (ulimit -u)",
                     .where = "auth.threads"};
    }
}

void Authenticator::apply(std::shared_ptr<Sources const> sources, std::shared_ptr<CheckThreads> threads) {
    if (!sources->empty()) io::forbid_core_dumps();
    {
        MutexLock const lock(mutex_);
        if (sources->options() == sources_->options()) return;
        sources_.swap(sources);
        troubles_.clear();
        if (threads) change_threads(std::move(threads));
        ++generation_;
    }
    verified_.drop([](Facts const&) { return true; });
}

/// The new threads run the checks that wait; the former ones end with those that run.
void Authenticator::change_threads(std::shared_ptr<CheckThreads> threads) {
    threads_.swap(threads);
    if (!threads) return;
    threads_->take_over(*threads);
    former_threads_.push_back(std::move(threads));
}

std::shared_ptr<Sources const> Authenticator::sources() const {
    MutexLock const lock(mutex_);
    return sources_;
}

Verified::Found Authenticator::find(std::string_view field, WallTime now) { return verified_.find(verified_.digest(field), now); }

std::shared_ptr<RunningCheck> Authenticator::verify(std::string_view field, IpAddress const& client, WallTime now) {
    auto credentials = parse_credentials(field);
    if (!credentials) {
        bool const is_ntlm = credentials.fault == CredentialsFault::ntlm;
        return done({.reason = text_of(credentials.fault), .unusable = true, .negotiate_failed = is_ntlm});
    }
    auto job = std::make_shared<Job>();
    job->credentials = std::move(credentials);
    if (job->is_remembered()) job->digest = verified_.digest(field);
    job->clients.push_back(client_network(client));
    job->queued = now;
    return join_or_begin(std::move(job), now);
}

std::shared_ptr<RunningCheck> Authenticator::join_or_begin(std::shared_ptr<Job> job, WallTime now) {
    MutexLock const lock(mutex_);
    if (!threads_ || !sources_->takes(job->credentials.scheme))
        return done({.reason = "no source takes this scheme", .unusable = true});
    if (job->is_remembered()) {
        // A check may have ended since the caller's find().
        if (auto answer = answer_of(verified_.find(job->digest, now))) return done(*std::move(answer));
        job->was_accepted = verified_.last_accepted(job->digest).has_value();
        if (auto const wait = blocked(*job, now)) return done(limited(*wait));
        if (auto const found = running_.find(job->digest); found != running_.end()) {
            auto& clients = found->second->clients;
            bool const is_new = std::ranges::find(clients, job->clients.front()) == clients.end();
            if (is_new && clients.size() < clients_of_job_max) clients.push_back(job->clients.front());
            return found->second->check;
        }
    }
    return begin(std::move(job));
}

std::shared_ptr<RunningCheck> Authenticator::begin(std::shared_ptr<Job> job) {
    auto& of_client = queued_[job->clients.front()];
    auto const size = job->size();
    bool const has_room = of_client.checks < queued_of_client_max && of_client.bytes + size <= queued_bytes_of_client_max &&
                          queued_bytes_ + size <= queued_bytes_max;
    if (!has_room || !threads_->run(job->credentials.scheme, [this, job] { work(job); })) {
        if (of_client.checks == 0) queued_.erase(job->clients.front());
        return done(unavailable("too many logins wait for their check"));
    }
    ++of_client.checks;
    of_client.bytes += size;
    queued_bytes_ += size;
    if (job->is_remembered()) running_.emplace(job->digest, job);
    return job->check;
}

void Authenticator::end(Job const& job) {
    auto const found = queued_.find(job.clients.front());
    queued_bytes_ -= job.size();
    found->second.bytes -= job.size();
    if (--found->second.checks == 0) queued_.erase(found);
    if (job.is_remembered()) running_.erase(job.digest);
}

/// The time to wait if all clients of the check have had too many failures.
std::optional<milliseconds> Authenticator::blocked(Job const& job, WallTime now) {
    std::optional<milliseconds> longest;
    if (!job.is_limited()) return longest;
    for (auto const& client : job.clients) {
        auto const wait = failures_.blocked(client, sources_->options().failures_per_minute, now);
        if (!wait) return std::nullopt;
        longest = std::max(longest.value_or(*wait), *wait);
    }
    return longest;
}

void Authenticator::work(std::shared_ptr<Job> const& job) {
    if (auto answer = refuse_unchecked(*job, clock_())) return finish(*job, *std::move(answer));
    job->generation = generation();
    check(*job);
    auto const sources = this->sources();
    auto& [kind, reason, facts] = job->verdict;
    if (kind == Verdict::Kind::accepted && sources->wants_groups(facts, clock_())) {
        if (job->is_ticket() && leave_groups_to_others(job)) return;
        sources->find_groups(facts, clock_());
    }
    finish(*job, conclude(*job, clock_()));
}

/// Credentials that were right less than `auth.remember` ago are not checked again when only the groups have to be.
void Authenticator::check(Job& job) {
    if (job.has_user) return;
    auto const sources = this->sources();
    job.checked = clock_();
    auto known = job.is_remembered() ? verified_.last_accepted(job.digest) : std::nullopt;
    bool const holds = known && job.checked < std::min(known->checked + sources->options().remember, known->facts.until);
    if (!holds) {
        job.verdict = sources->check(job.credentials, job.checked);
        return;
    }
    job.checked = known->checked;
    job.verdict = {.kind = Verdict::Kind::accepted, .facts = std::move(known->facts)};
}

/// A silent directory must not delay the tickets of others.
bool Authenticator::leave_groups_to_others(std::shared_ptr<Job> const& job) {
    auto const find = [this, job] {
        sources()->find_groups(job->verdict.facts, clock_());
        finish(*job, conclude(*job, clock_()));
    };
    MutexLock const lock(mutex_);
    return threads_ && threads_->run(Scheme::basic, find);
}

void Authenticator::finish(Job& job, LoginAnswer answer) {
    {
        MutexLock const lock(mutex_);
        end(job);
    }
    job.check->finish(std::move(answer));
}

/// The limit counts again when a queued check begins, so that many at once from one address take no time from others.
std::optional<LoginAnswer> Authenticator::refuse_unchecked(Job const& job, WallTime now) {
    if (now > job.queued + queue_time_max) return unavailable("the login waited too long for its check");
    MutexLock const lock(mutex_);
    auto const wait = blocked(job, now);
    return wait ? std::optional(limited(*wait)) : std::nullopt;
}

LoginAnswer Authenticator::conclude(Job& job, WallTime now) {
    MutexLock const lock(mutex_);
    // A change of users during the check: its result may be old.
    bool const remember = job.is_remembered() && job.generation == this->generation();
    if (job.verdict.kind == Verdict::Kind::accepted) return accept(job, remember);
    if (job.verdict.kind == Verdict::Kind::unavailable) return use_grace(job, job.verdict, remember, now);
    return reject(job, job.verdict, remember, now);
}

LoginAnswer Authenticator::accept(Job& job, bool remember) {
    auto const& options = sources_->options();
    auto& facts = job.verdict.facts;
    auto until = WallTime::max();
    if (job.is_remembered()) until = std::min(job.checked + options.remember, facts.groups_until);
    auto identity = sources_->identity(facts, until);
    if (remember) verified_.accept(job.digest, std::move(facts), identity, job.checked, identity->until, options.entries_max);
    return {.kind = LoginAnswer::Kind::accepted, .identity = std::move(identity)};
}

LoginAnswer Authenticator::reject(Job const& job, Verdict& verdict, bool remember, WallTime now) {
    for (auto const& client : job.clients)
        if (job.is_remembered()) failures_.note(client, now);
    auto const& options = sources_->options();
    if (remember) verified_.reject(job.digest, now + options.remember_failures, options.entries_max);
    return {.reason = std::move(verdict.reason)};
}

LoginAnswer Authenticator::use_grace(Job const& job, Verdict& verdict, bool remember, WallTime now) {
    auto const& options = sources_->options();
    auto known = job.is_remembered() ? verified_.last_accepted(job.digest) : std::nullopt;
    if (!known || now >= std::min(known->checked + options.grace, known->facts.until))
        return unavailable(std::move(verdict.reason));
    auto const until = now + grace_step;
    auto identity = sources_->identity(known->facts, until);
    if (remember)
        verified_.accept(job.digest, std::move(known->facts), identity, known->checked, identity->until, options.entries_max);
    return {.kind = LoginAnswer::Kind::accepted, .identity = std::move(identity)};
}

Facts Authenticator::facts_without_credentials(IpAddress const& client, std::span<std::string const> certificate,
                                               WallTime now) const {
    auto const sources = this->sources();
    auto facts = sources->facts_of(client, certificate);
    facts.until = now + sources->options().remember;
    return facts;
}

Authenticator::Identity Authenticator::find_user(Facts facts, WallTime now) const {
    auto const sources = this->sources();
    return sources->wants_groups(facts, now) ? nullptr : sources->identity(facts, WallTime::max());
}

std::shared_ptr<RunningCheck> Authenticator::find_groups(Facts facts, IpAddress const& client, WallTime now) {
    auto job = std::make_shared<Job>();
    job->has_user = true;
    job->verdict = {.kind = Verdict::Kind::accepted, .facts = std::move(facts)};
    job->clients.push_back(client_network(client));
    job->queued = now;
    MutexLock const lock(mutex_);
    if (threads_)
        if (auto check = begin(job); !check->answer()) return check;
    DirectoryGroups::add_unknown(job->verdict.facts, "too many logins wait for their check", now);
    return done(accept(*job, false));
}

Authenticator::Identity Authenticator::describe(Facts facts, WallTime now, Asks asks) const {
    auto const sources = this->sources();
    if (facts.source.empty() && sources->takes(Scheme::negotiate)) facts.source = "negotiate";
    bool const is_missing = sources->wants_groups(facts, now);
    if (is_missing && asks == Asks::directory) sources->find_groups(facts, now);
    if (is_missing && asks == Asks::none) DirectoryGroups::add_unknown(facts, "the directory was not asked", now);
    return sources->identity(facts, WallTime::max());
}

std::vector<Fault> Authenticator::refresh() {
    std::vector<std::shared_ptr<CheckThreads>> ended;   // destroyed after the lock
    {
        MutexLock const lock(mutex_);
        auto const first =
            std::partition(former_threads_.begin(), former_threads_.end(), [](auto& one) { return !one->has_ended(); });
        std::move(first, former_threads_.end(), std::back_inserter(ended));
        former_threads_.erase(first, former_threads_.end());
    }
    auto const sources = this->sources();
    auto users = sources->refresh_users();
    auto groups = sources->refresh_groups();
    // Checks that began before remember nothing (conclude), so that nothing old is added after drop().
    if (users.any() || groups.any()) {
        MutexLock const lock(mutex_);
        ++generation_;
    }
    if (users.any()) {
        std::unordered_set<std::string> const changed(users.users.begin(), users.users.end());
        verified_.drop([&](Facts const& facts) { return users.all || changed.contains(facts.user); });
    }
    if (groups.any()) verified_.rebuild([&](Facts const& facts, WallTime until) { return sources->identity(facts, until); });
    std::ranges::move(groups.notices, std::back_inserter(users.notices));
    probe(sources);
    auto troubles = sources->troubles();
    MutexLock const lock(mutex_);
    add_changes(troubles_, troubles, users.notices);
    troubles_ = std::move(troubles);
    return std::move(users.notices);
}

/// On a thread of the checks, because a silent directory takes seconds.
void Authenticator::probe(std::shared_ptr<Sources const> const& sources) {
    for (auto* const source : sources->unprobed()) {
        MutexLock const lock(mutex_);
        if (threads_) threads_->run(Scheme::basic, [sources, source] { source->probe(); });
    }
}

std::vector<Trouble> Authenticator::troubles() const {
    MutexLock const lock(mutex_);
    return troubles_;
}

Bytes Authenticator::bytes() const {
    MutexLock const lock(mutex_);
    return Verified::bytes() + DirectoryGroups::bytes() + queued_bytes_ + failures_.size() * Failures::source_bytes;
}

Bytes Authenticator::bytes_max() const {
    MutexLock const lock(mutex_);
    auto const& options = sources_->options();
    if (options.sources.empty()) return 0;
    return options.entries_max * (Verified::entry_bytes + DirectoryGroups::entry_bytes) + queued_bytes_max +
           Failures::sources_max * Failures::source_bytes;
}

}   // namespace garner::auth
