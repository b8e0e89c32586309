#include "support/versioned_origin.hpp"

namespace garner::test {

VersionedOrigin::VersionedOrigin(int failure) : failure_(failure) {
    origin_.otherwise([this](Hand& hand) { answer(hand); });
}

void VersionedOrigin::answer(Hand& hand) {
    hand.read_body();
    if (fails && failure_ == 0) return hand.leave();
    if (fails) return hand.answer({.status = failure_});
    auto const& request = hand.request().head;
    if (request.method() == "POST") {
        auto thanks = no_store("thanks");
        if (!invalidates.empty()) thanks.fields.emplace_back("Cache-Group-Invalidation", invalidates);
        return hand.answer(thanks);
    }
    auto path = request.target();
    if (!path.starts_with('/')) path = path.substr(path.find('/', 7));
    auto const etag = "\"" + version() + "\"";
    auto reply = fresh("version " + version() + " " + pattern(2'000), 600, {{"Surrogate-Key", std::string("all ") + path[1]}});
    reply.fields.emplace_back("ETag", etag);
    reply.fields.insert(reply.fields.end(), more.begin(), more.end());
    if (request.field("If-None-Match") == etag) {
        reply.status = 304;
        reply.body.clear();
    } else if (request.field("Range") == "bytes=0-99") {
        reply.status = 206;
        reply.fields.emplace_back("Content-Range", "bytes 0-99/" + std::to_string(reply.body.size()));
        reply.body = reply.body.substr(0, 100);
    }
    hand.answer(reply);
}

std::string told(Reply const& reply) {
    auto const body = reply.body();
    if (reply.status() != 200) return std::to_string(reply.status());
    return body.substr(0, body.find(' ', 8)) + (reply.hit() ? " hit" : "");
}

}   // namespace garner::test
