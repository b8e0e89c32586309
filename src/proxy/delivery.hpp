// Sends responses from the store to the client: whole, by range or as 304; from complete or growing objects.
#pragma once
#include <optional>
#include <span>
#include <string_view>

#include "cache/fill.hpp"
#include "http/multipart.hpp"
#include "proxy/pass_through.hpp"
#include "proxy/request.hpp"
#include "proxy/response_writer.hpp"
#include "util/gather.hpp"

namespace garner::proxy {

/// Belongs to one request.
class Delivery {
public:
    Delivery(Request& request, ResponseWriter& writer, RestOfBody& rest, PassThrough& pass_through)
        : request_(request), writer_(writer), rest_(rest), pass_through_(pass_through) {}

    /// `follower`: follows the fill in which the object grows; null: it is complete. A plain hit allocates nothing: head, patch
    /// and body go out in one gather write.
    net::awaitable<void> deliver(store::ObjectPtr object, cache::Follower* follower);
    /// Like deliver() for a complete object, without waiting. False: deliver() must be called for the rest.
    bool deliver_at_once(store::ObjectPtr const& object);

    /// Waits for the fill to change after `seen`. False when waiting is over: the client is gone, or the fill did not
    /// change for deadlines.fill, without waiting for the line. Also true after a shorter `limit`.
    net::awaitable<bool> wait_for_growth(cache::Follower& follower, std::uint64_t seen, milliseconds limit);
    net::awaitable<void> waited_too_long();

private:
    struct Slice {
        Bytes first = 0;
        std::optional<Bytes> count;   // nothing: to the end, whose position is unknown
        bool several = false;         // the ranges of multipart_
    };
    static constexpr std::size_t write_pieces = 16;
    using Pieces = Gather<write_pieces + 5>;
    void begin(store::ObjectPtr const& object, bool grows);
    bool try_send_small(store::Object const& object);
    bool answer_conditions(store::Object const& object, Slice& slice, Patch& patch, std::string_view& head);
    bool answer_ranges(store::Object const& object, Slice& slice, Patch& patch, std::string_view& head);
    net::awaitable<void> send_ranges(store::ObjectPtr object, Pieces& pieces);
    Bytes add_piece(std::span<std::string_view const> read, Pieces& pieces);
    net::awaitable<bool> send_body(store::ObjectPtr object, Slice slice, Pieces& pieces, cache::Follower* follower);
    net::awaitable<bool> keep_to_cap(cache::Follower& follower, Bytes bytes);
    net::awaitable<std::optional<bool>> send_rest(store::ObjectPtr& object, store::BodyReader& reader, Slice const& slice);

    Request& request_;
    ResponseWriter& writer_;
    RestOfBody& rest_;
    PassThrough& pass_through_;
    std::optional<http::Multipart> multipart_;
    // After begin():
    bool begun_ = false;
    std::string_view head_, tail_;   // of the response; the tail is the part that differs from hit to hit
    Slice slice_;
    Gather<3> small_;           // the pieces of a small response,
    std::span<iovec> unsent_;   // and those that are not sent yet
};

}   // namespace garner::proxy
