#include "config/bump_files.hpp"

#include "bump/ca_files.hpp"
#include "bump/name_constraints.hpp"
#include "config/form.hpp"

namespace garner::config {
namespace {

constexpr char const* init_mend = "make a CA with: garner ca init DIR --config FILE";

void notice_not_permitted(Reader& reader, bump::Rules const& rules, bump::NameConstraints const& constraints) {
    for (std::size_t i = 0; i < rules.all.size(); ++i) {
        auto const& hosts = rules.all[i].match.host;
        for (std::size_t j = 0; rules.all[i].action == bump::Action::bump && j < hosts.size(); ++j) {
            auto const& host = hosts[j].text();
            if (!constraints.permits(std::string_view(host).substr(host.starts_with('.') ? 1 : 0)))
                reader.notice({"rules", i, "bump", "host", j},
                              "the CA may not sign for " + in_quotes(host) + ", which is spliced instead",
                              "make a signing certificate for the names of the rules: garner ca init DIR --config FILE");
        }
    }
}

}   // namespace

void try_interception(Reader& reader, bump::Options const& options) {
    Reader::Step const key(reader, std::string_view("bump"));
    bool const has_chain = !options.ca_chain.empty(), has_key = !options.ca_key.empty();
    if (options.rules.any_bumps() && !has_chain) reader.fault({"ca_chain"}, "is empty, but a rule bumps", init_mend);
    if ((options.rules.any_bumps() || has_chain) && !has_key) reader.fault({"ca_key"}, "is empty", "name the key of bump.ca_chain");
    if (!has_chain || !has_key) return;
    auto const ca = bump::read_ca(options.ca_chain, options.ca_key);
    if (!ca) {
        auto const& fault = ca.fault();
        reader.fault({fault.where == options.ca_key ? "ca_key" : "ca_chain"}, fault.where + ": " + fault.what, fault.mend);
        return;
    }
    for (auto const& notice : bump::expiry_notices(ca->chain, options.ca_chain, wall_now()))
        reader.notice({"ca_chain"}, notice.where + ": " + notice.what, notice.mend);
    notice_not_permitted(reader, options.rules, bump::NameConstraints(ca->chain));
}

}   // namespace garner::config
