// This process in a group of proxies that share invalidations: docs/reference/group-protocol.md.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache.hpp"
#include "group/offer.hpp"
#include "group/options.hpp"
#include "group/state.hpp"
#include "util/result.hpp"

namespace garner::group {

/// Has a thread of its own. Functions may be called from any thread, unless stated otherwise.
class Group {
public:
    /// Listens if this member is a voter. The cache is not current from now on, until start() has found a majority of the voters.
    /// `proxy`: the address of the proxy, for people. `handed`: a listening socket at the address; -1: none. The fault's `where`
    /// is the address.
    static Result<std::unique_ptr<Group>> open(Options const&, cache::Cache&, std::string proxy, int handed = -1);
    /// Stops it, too.
    ~Group();

    void start();
    /// Another process is the voter from now on; this one stays a member until stop(). resume() takes the place again. False: the
    /// thread of the group does not respond, and may still be the voter.
    bool pause();
    void resume();
    void stop();
    /// The listening socket; -1: this member is no voter.
    int descriptor() const;
    /// "10.0.0.4:3133"; empty: this member is no voter.
    std::string address() const;

    /// Called on the thread of the group, once.
    using Told = std::function<void(SubmissionResult const&)>;
    /// Applies the invalidation in this cache before it returns, and tells the group. `accepted`: once a majority of the voters has
    /// stored it, or not in time. `everywhere`: once no member that is current uses what it covers; only after `accepted`.
    void submit(cache::Invalidation const&, Told accepted = {}, Told everywhere = {});
    /// submit(), and waits; a worker must not. `everywhere`: for that, too. If the group stops meanwhile, the result is that it was
    /// not accepted.
    SubmissionResult submit_and_wait(cache::Invalidation const&, bool everywhere);
    /// Offers an object to the group. `accepted`: as of submit(). An offer of the same object is in force: it counts as accepted.
    void offer(Offer offer, Told accepted = {});
    /// Before start(). Called on the thread of the group for each object that another member offers.
    void when_offered(std::function<void(std::string const& url)> fetch);
    /// An offer of this URL is in force. Costs one load if there is none of any.
    bool is_offered(std::string_view url) const;
    /// The proxies to ask for it, nearest first. Empty: there is no offer, or this member asks the origin.
    std::vector<IpEndpoint> parents_of(std::string_view url) const;
    /// For state(): the progress of the fetch of an offered object.
    void note_fetch(std::string_view url, std::string state);
    /// A body was sent to a client or received from another server: measures the lines, unless they are configured.
    void note_sent(std::uint64_t bytes, microseconds took);
    void note_received(std::uint64_t bytes, microseconds took);
    milliseconds lease() const;
    /// The longest time until `accepted` is called.
    milliseconds patience() const;

    /// Waits for the thread of the group, for at most a second; nothing: it does not respond.
    std::optional<GroupState> state() const;

private:
    class Inside;
    explicit Group(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> const inside_;
};

}   // namespace garner::group
