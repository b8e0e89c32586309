#include "proxy/group_fetch.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include "cache/invalidation.hpp"
#include "group/group.hpp"
#include "proxy/group_offer.hpp"

namespace garner::proxy {

namespace {

constexpr milliseconds spread_recheck{250};
constexpr milliseconds spread_patience{60'000};

/// A URL in normal form has no character that could end a line.
std::string request_for(std::string const& url) {
    auto const host = std::string_view(url).substr(std::string_view("http://").size());
    return "GET " + url + " HTTP/1.1\r\nHost: " + std::string(host.substr(0, host.find('/'))) + "\r\n\r\n";
}

/// The access rules see a client on this machine.
std::shared_ptr<Client const> this_machine() {
    auto client = std::make_shared<Client>();
    client->peer.address = *parse_ip("127.0.0.1");
    client->text = client->peer.address.text();
    return client;
}

}   // namespace

bool is_replicable(std::string const& url) {
    auto const normal = cache::url_invalidation(url, false);
    return normal && normal->text == url && url.starts_with("http://");
}

GroupFetch::GroupFetch(Services& services, Order order)
    : services_(services), order_(std::move(order)), options_(services.options),
      no_client_(request_for(order_.url), this_machine()) {
    services_.background.group_fetches.push_back(*this);
}

void GroupFetch::start(Services& services, Order order) {
    std::unique_ptr<GroupFetch> fetch(new GroupFetch(services, std::move(order)));
    auto running = run(std::move(fetch));
    net::asio::co_spawn(services.worker.io.get_executor(), std::move(running), net::asio::detached);
}

void GroupFetch::abort() {
    aborted_ = true;
    waiting_.wake(net::Wake::shutdown);
    if (transaction_) transaction_->abort();
}

net::awaitable<void> GroupFetch::run(std::unique_ptr<GroupFetch> fetch) {
    auto state = co_await fetch->fetch();
    auto const ended = fetch->order_.ended;
    fetch.reset();
    if (ended) ended(std::move(state));
}

net::awaitable<std::string> GroupFetch::fetch() {
    bool const spread = co_await wait_for_spread();
    if (!spread || !is_wanted()) {
        auto const* const why =
            spread ? "not fetched: the offer has ended" : "not fetched: invalidations of this URL or of its origin go on";
        if (order_.offered) order_.offered(not_offered(why));
        co_return why;
    }
    Transaction transaction(services_, no_client_, nullptr, scratch_, options_);
    transaction_ = &transaction;
    auto state = co_await transaction.replicate(order_.offered);
    transaction_ = nullptr;
    co_return state;
}

bool GroupFetch::is_wanted() const { return !is_stopping() && (order_.offered || services_.group->is_offered(order_.url)); }

/// After an invalidation requests pass all caches: each member would ask the origin.
net::awaitable<bool> GroupFetch::wait_for_spread() {
    auto const until = steady_now() + spread_patience;
    co_await wait_for(time_for_news());
    while (!is_stopping() && services_.cache.invalidations.must_pass_caches(order_.url)) {
        if (steady_now() >= until) co_return false;
        co_await wait_for(spread_recheck);
    }
    co_return true;
}

/// A parent that has not heard of the offer asks the origin. The root made the offer; each level below it gets time to hear of it.
milliseconds GroupFetch::time_for_news() const {
    if (order_.offered) return {};
    auto const levels = services_.group->parents_of(order_.url).size();
    constexpr int part_of_lease = 16;
    return levels > 1 ? services_.group->lease() / part_of_lease * static_cast<int>(levels - 1) : milliseconds{};
}

net::awaitable<void> GroupFetch::wait_for(milliseconds time) {
    if (time == milliseconds{} || is_stopping()) co_return;
    net::Waiter waiter(services_.worker.io.get_executor());
    waiting_ = waiter.handle();
    (void)co_await waiter.wait(time);
    waiting_ = {};
}

}   // namespace garner::proxy
