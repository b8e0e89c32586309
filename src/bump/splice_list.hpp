// The shipped list of hosts that are not bumped: their users expect privacy, or their clients accept no other certificate.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace garner::bump {

/// Domains of one kind of service.
struct SpliceGroup {
    std::string_view reason;
    std::span<std::string_view const> domains;   // lower case; each includes all names below it
};

std::span<SpliceGroup const> splice_list();

/// True for a domain of the list and every name below it, in any case and with or without a final dot. Allocates nothing.
bool is_on_splice_list(std::string_view host);

/// etc/bump-splice-list.txt.
std::string splice_list_text();

}   // namespace garner::bump
