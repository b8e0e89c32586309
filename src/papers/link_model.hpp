// Generates the link stream of a crawl with many threads, according to the paper's conjecture.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "papers/dice.hpp"

namespace garner::papers {

/// Broder, Najork, Wiener 2003, section 5.2: a share alpha from a global set, beta from the page and its host, and
/// gamma = 1 - alpha - beta never requested before. The number of links per page is log-normal, with the paper's mean
/// of 62 and median of 23.
struct LinkModelOptions {
    std::uint32_t threads = 500;   // each on a host of its own, taking turns page by page
    double alpha = 0.03;
    double beta_page = 0.27;   // URLs already on the page, and the host's home page
    double beta_host = 0.51;   // the host's set
    std::uint32_t global_set = 10'000;
    std::uint32_t host_set = 420;
    std::uint32_t host_pages = 150;   // until a thread switches to a new host
    double page_links = 23;           // the median
    bool even_pages = false;          // every page has page_links links
    std::uint64_t seed = 1;
};

/// Generates URL numbers from 0. The global set comes first; other numbers are consecutive in order of their first
/// use.
class LinkModel {
public:
    explicit LinkModel(LinkModelOptions const&);

    /// The links of the next page of thread() (as before the call); valid until the next call. After 2^32 URLs
    /// numbers are reused.
    std::span<std::uint32_t const> next_page();
    std::uint32_t thread() const { return turn_; }

private:
    struct Thread {
        std::vector<std::uint32_t> host;   // the URLs of its set, or `unknown`
        std::uint32_t pages = 0;           // remaining on this host
    };
    std::uint32_t of_host(Thread&, std::uint64_t which);
    std::uint32_t of_page(Thread&);
    std::uint32_t links_of_page();

    LinkModelOptions const options_;
    Dice dice_;
    std::vector<Thread> threads_;
    std::uint32_t turn_ = 0;
    std::uint32_t next_url_;
    std::vector<std::uint32_t> page_;
};

}   // namespace garner::papers
