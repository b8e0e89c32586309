// Our own pages: they say what, why and who, and nothing from outside can write on them.
#include "proxy/error_page.hpp"

#include <gtest/gtest.h>

namespace garner::proxy {
namespace {

TEST(ErrorPage, names_status_reason_rule_and_address) {
    ErrorPage page;
    page.status = 403;
    page.what = "This is not allowed.";
    page.rule = "access[2]: deny host .example.com";
    page.url = "http://example.com/";
    page.server = "garner-1";
    auto text = error_page(page);
    for (auto const* part : {"<title>403 Forbidden</title>", "<p>This is not allowed.</p>", "http://example.com/",
                             "access[2]: deny host .example.com", "garner-1"})
        EXPECT_NE(text.find(part), std::string::npos) << part;
}

TEST(ErrorPage, has_no_row_for_what_is_not_known) {
    ErrorPage page;
    page.status = 502;
    EXPECT_EQ(error_page(page).find("<code>"), std::string::npos);
}

TEST(ErrorPage, escapes_and_cuts_what_comes_from_outside) {
    ErrorPage page;
    page.status = 400;
    std::string url = "http://a/<script>alert(\"x\")</script>&\n\x7f\xc3";
    page.url = url;
    auto text = error_page(page);
    EXPECT_EQ(text.find("<script"), std::string::npos);
    EXPECT_NE(text.find("&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;???"), std::string::npos);
    url = std::string(100'000, '<');
    page.what = page.rule = page.server = page.url = url;
    EXPECT_LT(error_page(page).size(), 10'000u);
}

}  // namespace
}  // namespace garner::proxy
