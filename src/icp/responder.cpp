#include "icp/responder.hpp"

#include <algorithm>

#include "cache/key.hpp"
#include "http/uri.hpp"
#include "util/hash.hpp"
#include "util/random_bits.hpp"
#include "util/text.hpp"

namespace garner::icp {

Askers::Askers() : seed_(random_bits()) {}

Asker* Askers::admit(IpAddress const& from, std::uint32_t rate, SteadyTime now) {
    auto& asker = seen(from, rate, now);
    if (rate > 0 && asker.allowance < 1) return nullptr;
    asker.allowance -= 1;
    ++asker.queries;
    return &asker;
}

Asker& Askers::seen(IpAddress const& from, std::uint32_t rate, SteadyTime now) {
    if (askers_.empty()) askers_.resize(askers_max);
    auto const address = first_bits(from, 32, 64);
    std::string_view const bytes(reinterpret_cast<char const*>(address.bytes.data()), address.bytes.size());
    auto* const first = &askers_[fingerprint(bytes, seed_) % (askers_max / ways) * ways];
    auto* asker = std::find_if(first, first + ways, [&](Asker const& one) { return one.address == address; });
    if (asker == first + ways) {
        asker = std::min_element(first, first + ways, [](auto& a, auto& b) { return a.seen < b.seen; });
        *asker = Asker{.address = address};
    }
    auto const quiet = std::chrono::duration<double>(now - asker->seen).count();
    asker->allowance = std::min<double>(rate, asker->allowance + quiet * rate);
    asker->seen = now;
    return *asker;
}

bool Responder::read_url(std::string_view url) {
    auto const uri = http::parse_absolute(url);
    if (!uri) return counters_.errors.add(), false;
    host_.clear();
    append_lower_case(uri->authority.host, host_);
    url_.clear();
    http::append_normalised(*uri, url_);
    cache::write_key_text(cache::Partition::forward, url_, key_);
    return true;
}

std::optional<milliseconds> Responder::source_rtt(SteadyTime now) {
    auto const known = origins_.find(host_, now);
    if (!known.rtt) return std::nullopt;
    return std::chrono::ceil<milliseconds>(*known.rtt);
}

}   // namespace garner::icp
