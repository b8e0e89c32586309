#include "config/version_text.hpp"

#include <ares.h>
#include <boost/version.hpp>
#include <openssl/crypto.h>

#include "util/version.hpp"

namespace garner::config {
namespace {

std::string compiler_version() {
#ifdef __clang__
    return "clang " + std::to_string(__clang_major__) + "." + std::to_string(__clang_minor__) + "." +
           std::to_string(__clang_patchlevel__);
#else
    return "g++ " + std::to_string(__GNUC__) + "." + std::to_string(__GNUC_MINOR__) + "." + std::to_string(__GNUC_PATCHLEVEL__);
#endif
}

std::string boost_version() {
    return std::to_string(BOOST_VERSION / 100'000) + "." + std::to_string(BOOST_VERSION / 100 % 1'000) + "." +
           std::to_string(BOOST_VERSION % 100);
}

}   // namespace

std::string version_text() {
    return std::string("garner ") + version + "\ncompiler: " + compiler_version() + "\nlibraries: OpenSSL " +
           OpenSSL_version(OPENSSL_VERSION_STRING) + ", c-ares " + ares_version(nullptr) + ", Boost " + boost_version();
}

}   // namespace garner::config
