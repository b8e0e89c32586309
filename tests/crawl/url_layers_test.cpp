// The layers above the canonical form; each is idempotent.
#include "crawl/url_layers.hpp"

#include <gtest/gtest.h>

namespace garner::crawl {
namespace {

CanonicalUrl layered(std::string_view layers, std::string_view text) {
    auto const read = UrlLayers::read(layers);
    EXPECT_EQ(read.fault_text(), "");
    CanonicalUrl url;
    EXPECT_EQ(canonicalise(text, url), UrlFault::none) << text;
    read->apply(url);
    return url;
}

void expect(std::string_view layer, std::string_view text, std::string_view result) {
    auto const once = layered(layer, text);
    EXPECT_EQ(once.text, result) << layer;
    if (layer.find("surt") != layer.npos) return;
    EXPECT_EQ(layered(layer, once.text).text, result) << "twice";
    CanonicalUrl again;
    ASSERT_EQ(canonicalise(once.text, again), UrlFault::none);
    EXPECT_EQ(again.text, result) << "no canonical URL";
    EXPECT_EQ(again.host(), once.host()) << "the parts do not have the positions of the text";
    EXPECT_EQ(again.path(), once.path());
    EXPECT_EQ(again.query(), once.query());
}

TEST(UrlLayers, sort_the_query_by_name_and_leave_what_has_the_same) {
    expect("query-sort", "http://a/?b=2&a=1", "http://a/?a=1&b=2");
    expect("query-sort", "http://a/?b=2&a=9&b=1&a", "http://a/?a=9&a&b=2&b=1");
    expect("query-sort", "http://a/?a-b=1&a=1", "http://a/?a=1&a-b=1");
    expect("query-sort", "http://a/?b&&a", "http://a/?&a&b");
    expect("query-sort", "http://a/?", "http://a/?");
    expect("query-sort", "http://a/x", "http://a/x");
}

TEST(UrlLayers, strip_www_where_a_site_is_left) {
    expect("www-strip", "https://u@www.example.org:8/?q", "https://u@example.org:8/?q");
    expect("www-strip", "http://www.www.a.org/", "http://a.org/");
    for (auto const* kept :
         {"http://www.com/", "http://www.com./", "http://www2.a.org/", "http://www..a/", "http://awww.a.org/", "http://127.0.0.1/"})
        expect("www-strip", kept, kept);
}

TEST(UrlLayers, strip_default_documents) {
    expect("default-document", "http://a/b/index.html", "http://a/b/");
    expect("default-document", "http://a/Default.ASPX?id=1", "http://a/?id=1");
    for (auto const* kept : {"http://a/index", "http://a/index.html/", "http://a/myindex.html", "http://a/?index.html"})
        expect("default-document", kept, kept);
}

TEST(UrlLayers, write_surts) {
    expect("surt", "http://www.archive.org/a/B?c", "http://(org,archive,www,)/a/B?c");
    expect("surt", "https://u:p@a.org:81/", "https://(org,a,:81@u:p)/");
    expect("surt", "http://127.0.0.1:81/", "http://(127.0.0.1:81)/");
    expect("surt", "http://[::1]/", "http://([::1])/");
    EXPECT_NE(layered("surt", "http://.a/").text, layered("surt", "http://a/").text);
    EXPECT_NE(layered("surt", "http://a./").text, layered("surt", "http://a/").text);
    auto const url = layered("surt", "http://www.a.org:8/b?c");
    EXPECT_EQ(url.host(), "org,a,www,");
    EXPECT_EQ(url.path(), "/b");
    EXPECT_EQ(url.query(), "?c");
}

TEST(UrlLayers, work_together_in_an_order_of_their_own) {
    for (auto const* names : {"query-sort,www-strip,surt,default-document", "surt,default-document,www-strip,query-sort"})
        expect(names, "http://www.a.org/index.php?b&a", "http://(org,a,)/?a&b");
    EXPECT_EQ(UrlLayers::read("")->names(), "");
    EXPECT_EQ(UrlLayers::read("surt,query-sort")->names(), "query-sort,surt");
    expect("", "http://www.a.org/index.php?b&a", "http://www.a.org/index.php?b&a");
}

TEST(UrlLayers, name_the_known_ones_to_who_asks_for_another) {
    EXPECT_EQ(UrlLayers::read("query-sort,qsort").fault_text(),
              "\"qsort\" is not one of www-strip, default-document, query-sort, surt");
    EXPECT_NE(UrlLayers::read("surt,,surt").fault_text(), "");
}

}   // namespace
}   // namespace garner::crawl
