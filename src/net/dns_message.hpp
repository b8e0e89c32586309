// Reads DNS messages (RFC 1035 4.1). Pure.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "util/big_endian.hpp"

namespace garner::net {

/// Reads a message from front to back. After an error `good` is false, and all reads return nothing.
class DnsMessage {
public:
    static constexpr std::size_t header_bytes = 12, name_max = 255;

    /// The numbers of the sections are read.
    explicit DnsMessage(std::string_view bytes);

    struct Counts {
        std::uint16_t questions = 0, answers = 0, authorities = 0;
    };
    Counts const& counts() const { return counts_; }

    bool good() const { return good_; }
    void go_to(std::size_t at) { at_ = at; }
    std::size_t at() const { return at_; }
    template <class Number>
    Number number() {
        if (!has(sizeof(Number))) return 0;
        at_ += sizeof(Number);
        return read_big_endian<Number>(bytes_.substr(at_ - sizeof(Number)));
    }
    void skip(std::size_t count) {
        if (has(count)) at_ += count;
    }
    std::string_view take(std::size_t count);
    /// In lower case, with dots between the labels.
    std::string name();
    /// The questions, from the header on; the name of the last one.
    std::string question();

    struct Record {
        std::string owner;
        std::uint16_t type = 0, of_class = 0;
        std::uint32_t ttl = 0;
        std::size_t end = 0;   // behind its data
    };
    /// The next read begins at the data of the record.
    Record record();

private:
    bool has(std::size_t count) {
        good_ = good_ && at_ <= bytes_.size() && count <= bytes_.size() - at_;
        return good_;
    }

    std::string_view bytes_;
    std::size_t at_ = 0;
    bool good_;
    Counts counts_;
};

inline constexpr std::uint16_t dns_a = 1, dns_cname = 5, dns_soa = 6, dns_aaaa = 28, dns_srv = 33;   // types of records
inline constexpr std::uint16_t dns_internet = 1;                                                     // a class

/// A TTL with the highest bit set is 0 (RFC 2181 8).
constexpr std::uint32_t dns_ttl(std::uint32_t ttl) { return ttl > INT32_MAX ? 0 : ttl; }

}   // namespace garner::net
