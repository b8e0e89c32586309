// A stream of links as a crawl of many threads sees it: the paper's conjecture, made.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "papers/dice.hpp"

namespace garner::papers {

/// Broder, Najork, Wiener 2003, section 5.2: alpha from a global set, beta from what belongs to the page and its host,
/// gamma = 1 - alpha - beta never asked for before. Pages have many links or few: log-normal, as the paper's mean of 62
/// and median of 23 want it.
struct LinkModelOptions {
    std::uint32_t threads = 500;         // each on a host of its own, a page at a time, in turn
    double alpha = 0.03;
    double beta_page = 0.27;             // URLs already on the page, and the host's home page
    double beta_host = 0.51;             // the host's set
    std::uint32_t global_set = 10'000;
    std::uint32_t host_set = 420;
    std::uint32_t host_pages = 150;      // until a thread takes up a new host
    double page_links = 23;              // the median
    bool even_pages = false;             // all pages have page_links links
    std::uint64_t seed = 1;
};

/// Makes URL numbers from 0, without gaps in the order of their first use but for the global set, which comes first.
class LinkModel {
public:
    explicit LinkModel(LinkModelOptions const&);

    /// The links of the next page, of thread() before the call; valid until the next. After 2^32 URLs numbers are taken
    /// again.
    std::span<std::uint32_t const> next_page();
    std::uint32_t thread() const { return turn_; }
    /// True if it is of a host's set. Other URLs may belong to another crawling process.
    bool of_a_host(std::uint32_t url) const { return url < of_hosts_.size() && of_hosts_[url]; }

private:
    struct Thread {
        std::vector<std::uint32_t> host;   // the URLs of its set, or `unknown`
        std::uint32_t pages = 0;           // left of this host
    };
    std::uint32_t of_host(Thread&, std::uint64_t which);
    std::uint32_t of_page(Thread&);
    std::uint32_t links_of_page();

    LinkModelOptions const options_;
    Dice dice_;
    std::vector<Thread> threads_;
    std::uint32_t turn_ = 0;
    std::uint32_t next_url_;
    std::vector<bool> of_hosts_;           // by URL, as far as there are any
    std::vector<std::uint32_t> page_;
};

}  // namespace garner::papers
