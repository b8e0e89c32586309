// Stores a source's response: a new response, new fields of a stored one, or the rest of stored parts.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "cache/writer.hpp"
#include "group/offer.hpp"
#include "proxy/fetch_state.hpp"
#include "proxy/request.hpp"
#include "proxy/rest_of_body.hpp"
#include "proxy/step.hpp"
#include "proxy/upstream.hpp"

namespace garner::proxy {

/// Belongs to one request.
class Storing {
public:
    Storing(Request& request, Upstream& upstream, RestOfBody& rest, FetchState& state)
        : request_(request), upstream_(upstream), rest_(rest), state_(state) {}

    /// Decides by the head alone.
    http::StoreRefusal why_not_stored(http::ResponseHead const& response, http::ResponseCacheControl const& control,
                                      http::StoredAs what) const;
    /// Stores the response that the exchange has begun, by FetchState::control.
    net::awaitable<Step> store() { return store(upstream_.head(), *state_.control, nullptr); }
    /// RFC 9111 4.3.4: a 304 gives the stale object a new head with the same body.
    net::awaitable<Step> freshen();

    /// RFC 9111 4.3.5: clients that see this head must not get an older body from a fetch that began before.
    void tell_fetches(http::ResponseHead const& head, cache::Fill const* by);
    /// RFC 9111 4.3.5: a response to HEAD freshens the stored responses that it agrees with, like a 304.
    net::awaitable<Step> take_head();

    /// The object to be fetched may be stored in parts: then only the rest is requested from the origin. Looks in memory.
    /// Every miss calls it, so it is no coroutine. True when there are parts.
    bool find_parts();
    net::awaitable<void> find_parts_on_disk();
    /// The response has exactly the bytes that the parts lack, of the same representation and from the same address.
    bool completes(store::Object const& parts) const;
    /// RFC 9111 3.4: the stored head, updated by the 206, with the bytes of both.
    net::awaitable<Step> complete();
    /// The stored response is served only if the origin cannot be reached: it has answered otherwise, and that is not stored.
    void outdate(store::ObjectPtr stale);

private:
    /// `begun`: the body's bytes before those of the exchange, or nullptr.
    net::awaitable<Step> store(http::ResponseHead const& response, http::ResponseCacheControl const& control, store::BodyPtr begun);
    http::VaryNames vary_of(http::ResponseHead const& response) const;
    std::string variant_of(http::VaryNames const& vary) const;
    std::string_view key_of(http::VaryNames const& vary, std::string const& variant);
    bool is_combinable(http::ResponseHead const& response) const;
    bool is_too_large() const;
    Step store_whole(store::Object::Parts const& parts, http::VaryNames vary, std::string variant);
    Step start_fill(store::Object::Parts parts, http::VaryNames vary, std::string variant);
    void start_pump(std::unique_ptr<cache::Writer> writer, std::optional<Bytes> expected);
    Step refuse_for_room(store::Object::Parts const& parts, http::VaryNames const& vary);
    std::string_view whole_body_at_hand();
    store::ObjectPtr as_it_came(store::Object::Parts const& parts, store::ObjectPtr kept) const;
    std::optional<group::Offer> offer_for_later(store::Object const& growing) const;
    void offer_now(store::Object::Parts const& parts, std::optional<Bytes> length);
    void set_ttl(http::Terms const& terms, WallTime arrived);
    void ask_for_rest(store::ObjectPtr parts);
    std::string merge_head(store::Object const& stale, std::span<std::string_view const> targeted);
    net::awaitable<void> keep_private(store::Object::Parts const& parts, http::StoreRefusal why);

    Request& request_;
    Upstream& upstream_;
    RestOfBody& rest_;
    FetchState& state_;
    std::string own_head_;      // set for a response with fields for this client only; otherwise empty
    std::string variant_key_;   // see key_of()
};

}   // namespace garner::proxy
