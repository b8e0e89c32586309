#include "config/auth_files.hpp"

#include <string_view>

#include "auth/user_sources.hpp"

namespace garner::config {

void try_logins(Reader& reader, auth::Options const& options) {
    auto const loaded = auth::Sources::load(options);
    for (auto const& fault : loaded.faults) {
        Reader::Step const key(reader, std::string_view(fault.where));
        reader.fault(fault.what, fault.mend);
    }
    Reader::Step const key(reader, Reader::Below{"auth", "sources"});
    for (auto const& notice : loaded.notices) reader.notice(notice.where + ": " + notice.what, notice.mend);
}

std::vector<std::string> watched_files(auth::Options const& options) {
    constexpr std::string_view prefix = "file:";
    std::vector<std::string> files;
    for (auto const& source : options.sources) {
        if (auto const* const one = std::get_if<auth::HtpasswdOptions>(&source)) files.push_back(one->file);
        if (auto const* const one = std::get_if<auth::NegotiateOptions>(&source)) files.push_back(one->keytab);
        if (auto const* const one = std::get_if<auth::JwtOptions>(&source)) files.push_back(one->keys);
        if (auto const* const one = std::get_if<auth::LdapOptions>(&source))
            for (auto const& file : {one->bind_password_file, one->ca_file})
                if (!file.empty()) files.push_back(file);
    }
    for (auto const& group : options.groups)
        for (auto const& user : group.users)
            if (user.starts_with(prefix)) files.push_back(user.substr(prefix.size()));
    return files;
}

}   // namespace garner::config
