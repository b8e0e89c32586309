#include "auth/secret_file.hpp"

#include <algorithm>

#include "io/file.hpp"

namespace garner::auth {

Result<Secret> read_secret(std::string const& path) {
    constexpr std::size_t size_max = 4'096;
    if (path.empty()) return Fault{"no file is named", "name a file with the password in its first line"};
    auto const opened = io::File::open(path, io::File::Mode::read);
    if (opened.error != 0) return Fault{path + ": cannot be read: " + io::text_of_error(opened.error), "create the file"};
    Secret secret(std::min<std::size_t>(opened.file.size(), size_max));
    auto const done = opened.file.read_at(0, {secret.data(), secret.size()});
    if (done.error != 0) return Fault{path + ": cannot be read: " + io::text_of_error(done.error)};
    auto const line = secret.view().substr(0, secret.view().find_first_of("\r\n"));
    if (line.empty()) return Fault{path + ": its first line is empty", "write the password there"};
    secret.shorten(line.size());
    return secret;
}

}   // namespace garner::auth
