// garner check.
#include "config/check_command.hpp"

#include <ostream>

namespace garner::config {

int check_command(std::string const& file, std::span<std::string const> sets, std::ostream& out) {
    auto const loaded = load_file(file, sets, NamedFiles::tried);
    print_faults(loaded.faults, out);
    print_notices(loaded.notices, out);
    return loaded.faults.empty() ? 0 : 1;
}

void print_faults(std::span<Fault const> faults, std::ostream& out) {
    for (Fault const& fault : faults) out << text_of(fault) << '\n';
}

void print_notices(std::span<Fault const> notices, std::ostream& out) {
    for (Fault const& notice : notices) out << notice_text_of(notice) << '\n';
}

}   // namespace garner::config
