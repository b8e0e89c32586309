#include "store/body_source.hpp"

#include <array>

namespace garner::store {

namespace {

using Reserve = std::function<bool(Bytes)>;

/// Adopts the memory that the bytes were read into, if possible; otherwise copies.
bool append(Body& body, Loaded const& loaded, Reserve const& reserve) {
    return body.adopt(loaded, reserve) || body.append(loaded.bytes, reserve);
}

/// Copies one range into a body of its own.
net::awaitable<BodyPtr> take(BodyPtr const& body, Body::Span span, Budget& budget, Reserve const& reserve, net::Executor executor) {
    auto const length = span.last - span.first + 1;
    BodyPtr part(new Body(budget, length));
    if (auto const lent = body->lent(); lent.owner && !append(*part, lent, reserve)) co_return nullptr;
    BodyReader reader(body, span.first + part->size());
    std::array<std::string_view, 1> piece;
    while (part->size() < length) {
        if (reader.next(piece, length - part->size()) == 1) {
            if (!part->append(piece[0], reserve)) co_return nullptr;
            reader.advance(piece[0].size());
            continue;
        }
        if (!reader.needs_load()) co_return nullptr;
        auto loaded = co_await body->source()->load(reader.offset(), executor);
        loaded.bytes = loaded.bytes.substr(0, length - part->size());
        if (loaded.bytes.empty() || !append(*part, loaded, reserve)) co_return nullptr;
        reader.advance(loaded.bytes.size());
    }
    part->finish(Body::State::complete);
    co_return part;
}

}   // namespace

net::awaitable<bool> load(BodyReader& reader, net::Executor executor) {
    auto const source = reader.body().source();
    auto loaded = co_await source->load(reader.offset(), executor);
    bool const found = !loaded.bytes.empty();
    reader.give(std::move(loaded));
    co_return found;
}

net::awaitable<BodyPtr> in_memory(BodyPtr body, Budget& budget, Reserve reserve, net::Executor executor) {
    if (body->is_resident() && body->is_charged()) co_return body;
    BodyPtr joined;
    auto const there = body->present();
    for (auto const& span : there) {
        auto part = co_await take(body, span, budget, reserve, executor);
        if (!part) co_return nullptr;
        bool const is_all = part->size() == body->size();
        if (!is_all) part = part->as_part(span.first, body->size());
        joined = joined ? Body::join(*joined, *part) : part;
        if (!joined) co_return nullptr;
    }
    joined->set_source(body->source());
    co_return joined;
}

}   // namespace garner::store
