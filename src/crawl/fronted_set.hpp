// A cache of seen URLs in front of an exact set: the set is only asked on a cache miss.
#pragma once
#include <memory>
#include <vector>

#include "crawl/kept_memory.hpp"
#include "crawl/seen_cache.hpp"
#include "crawl/url_set.hpp"

namespace garner::crawl {

/// It is as exact as the cache: a false positive of the cache is never new. After an error it accepts nothing until it has
/// another cache, because the old one contains URLs that are not in the set.
class FrontedSet final : public UrlSet {
public:
    FrontedSet(std::unique_ptr<SeenCache> front, std::unique_ptr<UrlSet> behind)
        : front_(std::move(front)), behind_(std::move(behind)) {}

    Added add(std::span<Fingerprint const> batch, std::span<std::uint8_t> is_new) override {
        if (!broken_.empty()) return {0, broken_};
        front_->seen_each(batch, is_new);
        asked_.clear();
        for (std::size_t i = 0; i < batch.size(); ++i)
            if (!is_new[i]) asked_.push_back(batch[i]);
        answers_.resize(asked_.size());
        auto added = behind_->add(asked_, answers_);
        broken_ = added.fault;
        std::size_t asked = 0;
        for (auto& answer : is_new) answer = answer ? 0 : answers_[asked++];
        passed_ += asked_.size();
        give_back(asked_), give_back(answers_);
        return added;
    }
    /// Replaces the cache by an empty one: all URLs are looked up in the set again.
    void replace_front(std::unique_ptr<SeenCache> front) {
        front_ = std::move(front);
        broken_.clear();
    }
    std::string why_it_forgets() const override { return behind_->why_it_forgets(); }
    std::string sync() override { return behind_->sync(); }
    std::uint64_t size() const override { return behind_->size(); }
    Bytes memory_bytes() const override { return behind_->memory_bytes() + front_->memory_bits() / 8; }
    Bytes file_bytes() const override { return behind_->file_bytes(); }

    std::uint64_t passed() const { return passed_; }   // links passed on to the set

private:
    std::unique_ptr<SeenCache> front_;
    std::unique_ptr<UrlSet> behind_;
    std::vector<Fingerprint> asked_;
    std::vector<std::uint8_t> answers_;
    std::uint64_t passed_ = 0;
    std::string broken_;
};

}   // namespace garner::crawl
