// Credentials of Proxy-Authorization: no crash, and well-formed ones keep within their bounds and survive a second spelling.
#include <string>

#include "util/base64.hpp"
#include "auth/credentials.hpp"
#include "fuzzed.hpp"

using namespace garner;

namespace {

void check_basic(auth::Credentials const& credentials) {
    check(credentials.user.size() > 0 && credentials.user.size() <= auth::Credentials::user_max);
    check(credentials.user.view().find(':') == std::string_view::npos);
    for (auto const part : {credentials.user.view(), credentials.secret.view()})
        for (char const c : part) check(static_cast<unsigned char>(c) >= ' ' && c != 0x7f);
    auto const again = auth::parse_credentials(
        "basic " + encode_base64(std::string(credentials.user.view()) + ":" + std::string(credentials.secret.view())));
    check(again && again.user.view() == credentials.user.view() && again.secret.view() == credentials.secret.view());
}

}   // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
    fuzz::Exact const bytes({reinterpret_cast<char const*>(data), size});
    auto const credentials = auth::parse_credentials(bytes.view());
    check(*auth::text_of(credentials.fault) != 0);
    if (!credentials) return 0;
    if (credentials.scheme == auth::Scheme::basic) check_basic(credentials);
    if (credentials.scheme == auth::Scheme::bearer) check(credentials.secret.size() <= auth::Credentials::bearer_max);
    if (credentials.scheme == auth::Scheme::negotiate) check(credentials.secret.size() <= auth::Credentials::negotiate_max);
    return 0;
}
