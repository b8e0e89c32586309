// The keys of the URL-seen service.
#include "config/address_form.hpp"
#include "config/key_parts.hpp"
#include "seen/link_status.hpp"

namespace garner::config {
namespace {

Form<seen::Peer> seen_peer() {
    auto parse = [](std::string const& text, seen::Peer& into, std::string&) {
        auto const peers = seen::read_peers(text);
        bool const is_one = peers && peers->size() == 1;
        if (is_one) into = peers->front();
        return is_one;
    };
    auto form = parsed<seen::Peer>("address", "a host and a port", "write \"10.0.0.3:3132\"", parse);
    form.show_by([](seen::Peer const& peer) { return in_quotes(peer.text()); });
    return form;
}

}   // namespace

Form<seen::Options> seen_urls() {
    using T = seen::Options;
    auto const check = [](Reader& reader, Json const&, T& seen) {
        if (seen.address.empty()) return;
        if (auto const fits = seen::validate(seen); !fits)
            reader.fault(fits.fault().text(), "docs/guides/crawlers.md lists the values");
    };
    auto address = address_key<T>(endpoint(true), R"("")", "Address of the URL-seen service for crawlers; empty: none.");
    return object_of<T>(
        {
            std::move(address),
            key<T>("allow", &T::allow, list_of(network()), "Networks that may use the URL-seen service, in addition to loopback."),
            key<T>("path", &T::directory, text(), "Directory of the URL set; empty: it is kept in memory and lost at exit."),
            key<T>("memory", &T::memory, size(16 * MiB, size_max), "Memory budget of the URL set."),
            key<T>("set", &T::set, text(), "Kind of URL set, such as `lines` or `runs`; empty: chosen by whether `path` is set."),
            key<T>("cache", &T::cache, text(), "Kind of cache in front of the URL set; empty: none."),
            key<T>("cache_entries_max", &T::cache_entries, count(1, 1u << 31), "Maximum number of entries in `seen.cache`.")
                .was("cache_entries"),
            key<T>("layers", &T::layers, text(), "Additional steps of URL canonicalization, such as `query-sort,www-strip`."),
            key<T>("partition", &T::partition, count(0, seen::partitions_max - 1),
                   "Number of this process's partition of hosts, from 0."),
            key<T>("peers", &T::peers, list_of(seen_peer()),
                   "The processes that share the hosts, in the order of partitions, including this one. Empty: this process has "
                   "all hosts."),
            key<T>("batch_links_max", &T::batch_links, count(1, 100 * million), "Links in a batch.").was("batch_links"),
            key<T>("body_max", &T::body_bytes, size(KiB, size_max), "Size of a batch.").was("body"),
            key<T>("waiting_links_max", &T::waiting_links, count(1, 1'000 * million),
                   "Links that wait for the URL set or for another partition; batches beyond it get 503.")
                .was("waiting_links"),
            key<T>("peer_timeout", &T::peer_answer, time(seen::peer_answer_least, seen::peer_answer_most),
                   "Time for the replies of all other partitions to a batch; then they count as unreachable.")
                .was("peer_answer"),
        },
        check);
}

}   // namespace garner::config
