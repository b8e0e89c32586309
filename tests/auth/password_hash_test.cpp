#include "auth/password_hash.hpp"

#include <crypt.h>
#include <gtest/gtest.h>

#include <string>

#include "auth/md5_crypt.hpp"

namespace garner::auth {
namespace {

std::string crypt_with(char const* prefix, unsigned long cost) {
    crypt_data data{};
    char salt[CRYPT_GENSALT_OUTPUT_SIZE];
    EXPECT_TRUE(::crypt_gensalt_rn(prefix, cost, nullptr, 0, salt, sizeof salt));
    return ::crypt_r("opensesame", salt, &data);
}

TEST(PasswordHash, apr1_is_that_of_openssl) {
    // openssl passwd -apr1 -salt SALT PASSWORD
    EXPECT_EQ(apr1_hash("opensesame", "$apr1$r31.....$"), "$apr1$r31.....$AjcS1XH/jjX33z4ivNvI1/");
    EXPECT_EQ(apr1_hash("", "$apr1$ab$"), "$apr1$ab$S8K6Sgp3W8c9Jb6LxgywZ.");
    EXPECT_EQ(apr1_hash("a password of more than sixteen bytes", "$apr1$12345678$"), "$apr1$12345678$JGzV.nxBNyP84/zq0Btaq0");
}

TEST(PasswordHash, each_kind_matches_its_password_only) {
    for (auto const& hash :
         {crypt_with("$2y$", 4), crypt_with("$2b$", 4), crypt_with("$5$", 1'000), crypt_with("$6$", 1'000), crypt_with("$y$", 1),
          crypt_with("$1$", 0), apr1_hash("opensesame", "$apr1$salt$"), "{SHA}" + base64_sha1("opensesame")}) {
        EXPECT_EQ(fault_of_hash(hash), nullptr) << hash;
        EXPECT_TRUE(matches_hash(Secret("opensesame"), hash)) << hash;
        EXPECT_FALSE(matches_hash(Secret("opensesam"), hash)) << hash;
        EXPECT_FALSE(matches_hash(Secret(), hash)) << hash;
    }
}

TEST(PasswordHash, plain_text_weak_slow_and_truncated_hashes_are_refused) {
    for (std::string const hash :
         {"opensesame", "", "!", "*", "abJnggxhB/yWI", "{SSHA}MTIzNDU2Nzg5MDEyMzQ1Njc4OTA=", "$9$x$y",
          "$2y$31$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyzabcdefg", "$2y$05$short", "$6$salt$short",
          "$5$rounds=999999999$salt$", "$6$rounds=99999999$s$", "$y$j9T$", "$apr1$x", "{SHA}AAAA", "$1$"})
        EXPECT_NE(fault_of_hash(hash), nullptr) << hash;
    EXPECT_STREQ(fault_of_hash("{SSHA}MTIzNDU2Nzg5MDEyMzQ1Njc4OTA="), "has a hash of an unknown kind");
    EXPECT_NE(fault_of_hash(std::string("$2y$31$") + std::string(53, 'a')), nullptr);
    EXPECT_EQ(fault_of_hash(std::string("$2y$10$") + std::string(53, 'a')), nullptr);
}

}   // namespace
}   // namespace garner::auth
