#include "sim/csv_format.hpp"

#include "sim/trace_files.hpp"

namespace garner::sim {
namespace {

/// The record of the last line.
Record last_of(std::initializer_list<std::string_view> lines) {
    TraceFormat const format = CsvFormat();
    Record record;
    for (auto line : lines) record = read_line(format, line);
    return record;
}

TEST(CsvFormat, reads_time_key_and_size) {
    auto record = last_of({"0,12,4096"});
    EXPECT_EQ(said(record), "request 4096");
    EXPECT_EQ(record.key, key_of(12u));
    EXPECT_EQ(last_of({"1.5,http://a/b,7"}).key, key_of("http://a/b"));
}

TEST(CsvFormat, reads_key_and_size) {
    auto record = last_of({"film,4096"});
    EXPECT_EQ(said(record), "request 4096");
    EXPECT_EQ(record.key, key_of("film"));
}

TEST(CsvFormat, a_header_says_nothing_but_the_order) {
    EXPECT_EQ(said(last_of({"time,key,size"})), "nothing");
    auto record = last_of({"size,time,key", "4096,0,12"});
    EXPECT_EQ(said(record), "request 4096");
    EXPECT_EQ(record.key, key_of(12u));
}

TEST(CsvFormat, a_header_may_use_others_names_and_name_other_columns) {
    auto record = last_of({"Timestamp,Obj_ID,op,Obj_Size,ttl", "0,film,get,4096,60"});
    EXPECT_EQ(said(record), "request 4096");
    EXPECT_EQ(record.key, key_of("film"));
}

TEST(CsvFormat, other_separators_are_found_from_the_first_line) {
    for (std::string line : {"1\t12\t4096", "1;12;4096", "1 12 4096", " 1 , 12 , 4096 "}) {
        auto record = last_of({line});
        EXPECT_EQ(said(record), "request 4096") << line;
        EXPECT_EQ(record.key, key_of(12u)) << line;
    }
    EXPECT_EQ(said(last_of({"1\t12\t4096", "1,12,4096"})), "fewer columns than the first line");
    EXPECT_EQ(said(last_of({"key\tsize\tnote", "12\t4096\t"})), "request 4096");
}

TEST(CsvFormat, a_quoted_field_may_hold_the_separator) {
    EXPECT_EQ(last_of({R"(0,"http://a/b,c",7)"}).key, key_of("http://a/b,c"));
    EXPECT_EQ(last_of({R"(0,"a",7)"}).key, last_of({"0,a,7"}).key);
    EXPECT_EQ(said(last_of({R"(0,"say ""yes"", please",7)"})), "request 7");
    EXPECT_EQ(said(last_of({"0,a,7", R"(0,"a,7)"})), "a quote that is not closed, or not at the end of its field");
    EXPECT_EQ(said(last_of({"0,a,7", R"(0,"a"b,7)"})), "a quote that is not closed, or not at the end of its field");
}

TEST(CsvFormat, a_comma_that_is_not_quoted_breaks_the_line) {
    EXPECT_EQ(said(last_of({"0,a,7", "0,http://a/b,5,7"})), "more columns than the first line");
}

TEST(CsvFormat, sizes_are_whole_numbers_up_to_2_to_the_53) {
    EXPECT_EQ(said(last_of({"0,a,0"})), "request 0");
    EXPECT_EQ(said(last_of({"0,a,9007199254740992"})), "request 9007199254740992");
    EXPECT_EQ(said(last_of({"0,a,9007199254740993"})), "size '9007199254740993' is above 2^53");
    EXPECT_EQ(said(last_of({"0,a,99999999999999999999999"})), "size '99999999999999999999999' is above 2^53");
    EXPECT_EQ(said(last_of({"0,a,-5"})), "size '-5' is negative");
    EXPECT_EQ(said(last_of({"0,a,abc"})), "size 'abc' is not a whole number");
    EXPECT_EQ(said(last_of({"0,a,1.5"})), "size '1.5' is not a whole number");
    EXPECT_EQ(said(last_of({"0,a,-"})), "size '-' is not a whole number");
    EXPECT_EQ(said(last_of({"0,a,"})), "size is missing");
    EXPECT_EQ(said(last_of({"0,,7"})), "key is missing");
}

TEST(CsvFormat, what_is_shown_of_a_broken_line_is_short_and_printable) {
    EXPECT_EQ(said(last_of({"0,a,\x1b[2J\xff"})), "size '?[2J?' is not a whole number");
    EXPECT_EQ(said(last_of({"0,a," + std::string(1000, 'x')})), "size '" + std::string(40, 'x') + "...' is not a whole number");
}

TEST(CsvFormat, a_broken_first_line_teaches_nothing) {
    EXPECT_EQ(said(last_of({"some words to begin with", "size,key", "7,a"})), "request 7");
}

TEST(CsvFormat, columns_have_a_bound) { EXPECT_EQ(said(last_of({"0,a,7", "0" + std::string(1000, ',')})), "too many columns"); }

TEST(Keys, numbers_are_themselves_however_they_come_and_texts_are_not) {
    EXPECT_EQ(key_of("12"), key_of(12u));
    EXPECT_EQ(key_of("18446744073709551615"), key_of(UINT64_MAX));
    EXPECT_NE(key_of("012"), key_of(12u));
    EXPECT_NE(key_of("0"), key_of("00"));
    EXPECT_NE(key_of("18446744073709551616"), key_of(0u));
}

}   // namespace
}   // namespace garner::sim
