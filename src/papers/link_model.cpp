#include "papers/link_model.hpp"

#include <algorithm>
#include <cmath>

namespace garner::papers {
namespace {

constexpr std::uint32_t unknown = UINT32_MAX;
constexpr double page_links_max = 2'000;
constexpr double sigma = 1.4142;   // of the logarithm: e^(sigma^2 / 2) = 62.55 / 23

}   // namespace

LinkModel::LinkModel(LinkModelOptions const& options)
    : options_(options), dice_(options.seed), threads_(options.threads), next_url_(options.global_set) {
    // The crawl is in progress: each thread starts at a random page of its host.
    for (auto& thread : threads_) {
        thread.host.assign(options_.host_set, unknown);
        thread.pages = static_cast<std::uint32_t>(dice_.below(options_.host_pages));
    }
}

std::span<std::uint32_t const> LinkModel::next_page() {
    auto& thread = threads_[turn_];
    turn_ = turn_ + 1 == threads_.size() ? 0 : turn_ + 1;
    if (thread.pages == 0) {
        thread.host.assign(options_.host_set, unknown);
        thread.pages = options_.host_pages;
    }
    --thread.pages;

    page_.clear();
    for (auto links = links_of_page(); links > 0; --links) {
        double lot = dice_.share();
        if ((lot -= options_.alpha) < 0)
            page_.push_back(static_cast<std::uint32_t>(dice_.below(options_.global_set)));
        else if ((lot -= options_.beta_page) < 0)
            page_.push_back(of_page(thread));
        else if ((lot -= options_.beta_host) < 0)
            page_.push_back(of_host(thread, dice_.below(options_.host_set)));
        else
            page_.push_back(next_url_++);
    }
    return page_;
}

std::uint32_t LinkModel::of_host(Thread& thread, std::uint64_t which) {
    auto& url = thread.host[which];
    if (url == unknown) url = next_url_++;
    return url;
}

std::uint32_t LinkModel::of_page(Thread& thread) {
    auto const which = dice_.below(page_.size() + 1);
    return which < page_.size() ? page_[which] : of_host(thread, 0);
}

std::uint32_t LinkModel::links_of_page() {
    if (options_.even_pages) return static_cast<std::uint32_t>(options_.page_links);
    constexpr int lots = 12;   // uniform numbers, whose sum is nearly normal with a variance of 1
    double normal = -lots / 2.0;
    for (int i = 0; i < lots; ++i) normal += dice_.share();
    return static_cast<std::uint32_t>(std::clamp(options_.page_links * std::exp(sigma * normal), 1.0, page_links_max));
}

}   // namespace garner::papers
