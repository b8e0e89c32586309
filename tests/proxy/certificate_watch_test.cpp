#include "proxy/certificate_watch.hpp"

#include <gmock/gmock.h>

namespace garner::proxy {

namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

WallTime const end = from_unix_seconds(1'900'000'000);

}   // namespace

TEST(CertificateWatch, warns_once_at_each_of_five_steps_and_at_the_end) {
    CertificateWatch watch;
    std::vector<UsedCertificate> const one{{"CN = a.example", "192.0.2.1:3129", end}};
    std::vector<int> warned;
    for (int left = 40; left >= -3; --left)
        for (int look = 0; look < 2; ++look)
            if (!watch.due(one, end - std::chrono::days(left) - seconds(1)).empty()) warned.push_back(left);
    EXPECT_THAT(warned, ElementsAre(29, 13, 6, 2, 0, -1));
}

TEST(CertificateWatch, names_the_certificate_and_where_it_is_shown) {
    CertificateWatch watch;
    std::vector<UsedCertificate> const two{{"CN = a.example", "192.0.2.1:3129", end},
                                           {"CN = a.example", "to peer campus", end - std::chrono::days(2)}};
    auto const now = end - std::chrono::days(5) - seconds(1);
    EXPECT_THAT(watch.due(two, now),
                ElementsAre(StartsWith("the certificate CN = a.example (192.0.2.1:3129) expires in 5 days, on "),
                            StartsWith("the certificate CN = a.example (to peer campus) expires in 3 days")));
    EXPECT_THAT(watch.due(two, now), IsEmpty());
}

TEST(UsedCertificates, of_one_subject_and_end_are_one_with_all_places) {
    auto const later = end + std::chrono::days(1);
    auto const all = with_all_places({{"CN = a.example", "192.0.2.1:3129", end},
                                      {"CN = a.example", "192.0.2.1:3130", later},
                                      {"CN = a.example", "[2001:db8::1]:3129", end}});
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0].name(), "CN = a.example (192.0.2.1:3129, [2001:db8::1]:3129)");
    EXPECT_EQ(all[1].name(), "CN = a.example (192.0.2.1:3130)");
}

TEST(UsedCertificates, are_new_unless_the_same_certificate_was_used_at_the_same_place_before) {
    UsedCertificate const first{"CN = a.example", "192.0.2.1:3129", end, "1"},
        renewed{"CN = a.example", "192.0.2.1:3129", end, "2"};
    std::vector const before{first}, after{first, renewed};
    EXPECT_THAT(new_certificates(before, before), IsEmpty());
    EXPECT_THAT(new_certificates(after, before), IsEmpty());
    EXPECT_THAT(new_certificates(before, after),
                ElementsAre("CN = a.example (192.0.2.1:3129), valid until Sun, 17 Mar 2030 17:46:40 GMT"));
    std::vector const elsewhere{UsedCertificate{"CN = a.example", "client_ca of 192.0.2.1:3129", end, "1"}};
    EXPECT_EQ(new_certificates(before, elsewhere).size(), 1u);
    EXPECT_EQ(with_all_places({first, renewed}).size(), 2u);
}

}   // namespace garner::proxy
