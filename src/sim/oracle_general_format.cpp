#include "sim/oracle_general_format.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace garner::sim {
namespace {

struct [[gnu::packed]] Fields {
    std::uint32_t time;
    std::uint64_t id;
    std::uint32_t size;
    std::int64_t next;
};
static_assert(sizeof(Fields) == oracle_record_bytes && std::endian::native == std::endian::little);

Fields fields_of(std::string_view record) {
    Fields fields;
    std::memcpy(&fields, record.data(), sizeof fields);
    return fields;
}

}   // namespace

Record read_oracle_general(std::string_view record) {
    if (record.size() < oracle_record_bytes) return Record::broken("truncated: a record has 24 bytes");
    auto const fields = fields_of(record);
    return Record::request(key_of(std::uint64_t{fields.id}), fields.size);
}

bool looks_like_oracle_general(std::string_view head) {
    constexpr std::size_t records_tried = 64;
    constexpr std::int64_t requests_max = std::int64_t{1} << 40;   // larger values mean eight bytes of text
    auto const records = std::min(head.size() / oracle_record_bytes, records_tried);
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < records; ++i) {
        auto const fields = fields_of(head.substr(i * oracle_record_bytes));
        bool const ahead = fields.next == -1 || fields.next == INT64_MAX || (fields.next > 0 && fields.next < requests_max);
        if (fields.time < before || !ahead) return false;
        before = fields.time;
    }
    return records > 0;
}

}   // namespace garner::sim
