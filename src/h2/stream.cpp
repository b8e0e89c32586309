#include "h2/stream.hpp"

namespace garner::h2 {

namespace {
constexpr std::size_t kept_text = 4 * KiB;
}

void Stream::begin(std::int32_t id) {
    id_ = id;
    owner_ = nullptr;
    trailers_.clear();
    body_refusal_ = nullptr;
    outbox_.begin();
    received_ = sent_ = 0;
    open_ = true;
    websocket_ = connect_ = head_method_ = lent_ = gone_ = remote_ended_ = responded_ = ended_ = end_sent_ = dribbled_ = false;
}

void Stream::forget_head() {
    charged_.resize(0);
    if (!trailers_.empty()) std::string().swap(trailers_);
    outbox_.forget_trailers();
    if (text_.capacity() <= kept_text) return;
    std::string().swap(text_);
    head_ = {};
}

}   // namespace garner::h2
