#include "seen/body_forms.hpp"

#include <array>
#include <cstring>

#include "http/accept.hpp"
#include "http/message.hpp"
#include "seen/json_links.hpp"
#include "util/text.hpp"

namespace garner::seen {

namespace {

/// URLs, one a line; the last one needs no end of line.
class TextLinks final : public BodyReader {
public:
    explicit TextLinks(LinkSorter& to) : to_(to) {}

    bool read(std::string_view piece) override {
        while (!to_.full()) {
            auto const* const end = static_cast<char const*>(std::memchr(piece.data(), '\n', piece.size()));
            if (!end) break;
            auto const size = static_cast<std::size_t>(end - piece.data());
            if (begun_) keep(piece.substr(0, size));
            take(begun_ ? std::string_view(kept_) : piece.substr(0, size));
            begun_ = too_long_ = false;
            kept_.clear();
            piece.remove_prefix(size + 1);
        }
        if (!piece.empty()) keep(piece);
        return !to_.full();
    }

    Result<void> finish() override {
        if (begun_) take(kept_);
        return {};
    }

private:
    void keep(std::string_view part) {
        begun_ = true;
        too_long_ = too_long_ || kept_.size() + part.size() > crawl::url_bytes_max + 1;   // it may end in CR LF
        if (!too_long_) kept_ += part;
    }
    void take(std::string_view line) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (too_long_)
            to_.refuse(refused(crawl::UrlFault::too_long));
        else
            to_.take(line);
    }

    LinkSorter& to_;
    std::string kept_;   // a line that began in an earlier piece
    bool begun_ = false, too_long_ = false;
};

/// Fingerprints of 8 bytes, the lowest first.
class OctetLinks final : public BodyReader {
public:
    explicit OctetLinks(LinkSorter& to) : to_(to) {}

    bool read(std::string_view piece) override {
        while (kept_ > 0 && kept_ < sizeof bytes_ && !piece.empty()) keep(piece);
        for (; piece.size() >= sizeof bytes_ && kept_ == 0; piece.remove_prefix(sizeof bytes_)) take(piece.data());
        while (!piece.empty()) keep(piece);
        return !to_.full();
    }

    Result<void> finish() override {
        if (kept_ == 0) return {};
        return Fault{"fingerprints have 8 bytes each; surplus bytes at the end of the body: " + std::to_string(kept_)};
    }

private:
    void keep(std::string_view& piece) {
        bytes_[kept_++] = piece.front();
        piece.remove_prefix(1);
        if (kept_ < sizeof bytes_) return;
        take(bytes_.data());
        kept_ = 0;
    }
    void take(char const* bytes) {
        Fingerprint url = 0;
        for (int i = sizeof url - 1; i >= 0; --i) url = url << 8 | static_cast<unsigned char>(bytes[i]);
        to_.take_fingerprint(url);
    }

    LinkSorter& to_;
    std::array<char, sizeof(Fingerprint)> bytes_{};
    std::size_t kept_ = 0;   // bytes of a fingerprint that began in an earlier piece
};

template <class Links>
std::unique_ptr<BodyReader> make(LinkSorter& to) {
    return std::make_unique<Links>(to);
}

constexpr BodyForm text{ReplyForm::text, make<TextLinks>};
constexpr BodyForm json{ReplyForm::json, make<JsonLinks>};
constexpr BodyForm octets{ReplyForm::octets, make<OctetLinks>};

/// Without parameters, in lower case.
std::string bare(std::string_view type) { return lower_case(trim(type.substr(0, type.find(';')))); }

std::optional<ReplyForm> form_called(std::string_view type) {
    if (type == "text/plain") return ReplyForm::text;
    if (type == "application/json") return ReplyForm::json;
    if (type == "application/octet-stream") return ReplyForm::octets;
    return std::nullopt;
}

}   // namespace

BodyForm const* body_form(std::string_view content_type) {
    auto const type = bare(content_type);
    if (type.empty() || type == "text/plain" || type == "application/x-www-form-urlencoded") return &text;
    if (type == "application/json") return &json;
    return type == "application/octet-stream" ? &octets : nullptr;
}

std::optional<ReplyForm> asked_form(std::string_view accept) {
    std::optional<ReplyForm> wanted;
    std::uint16_t most = 0;
    http::for_each_member(accept, [&](std::string_view one) {
        auto const form = form_called(bare(one));
        auto const weight = http::weight_of(one).value_or(0);
        if (!form || weight <= most) return;
        wanted = form;
        most = weight;
    });
    return wanted;
}

}   // namespace garner::seen
