#include "sim/oracle_general_format.hpp"

#include <algorithm>
#include <type_traits>

namespace garner::sim {
namespace {

template <class Number>
Number little_endian(std::string_view record, std::size_t at) {
    std::make_unsigned_t<Number> value = 0;
    for (std::size_t i = sizeof(Number); i-- > 0;)
        value = value << 8 | static_cast<unsigned char>(record[at + i]);
    return static_cast<Number>(value);
}

std::uint32_t time_of(std::string_view record) { return little_endian<std::uint32_t>(record, 0); }
std::uint64_t id_of(std::string_view record) { return little_endian<std::uint64_t>(record, 4); }
std::uint32_t size_of(std::string_view record) { return little_endian<std::uint32_t>(record, 12); }
std::int64_t next_of(std::string_view record) { return little_endian<std::int64_t>(record, 16); }

}  // namespace

Record OracleGeneralFormat::read(std::string_view record) {
    if (record.size() < record_bytes) return Record::broken("cut: a record is 24 bytes");
    return Record::request(key_of(id_of(record)), size_of(record));
}

bool OracleGeneralFormat::looks_like(std::string_view head) {
    constexpr std::size_t records_tried = 64;
    constexpr std::int64_t requests_max = std::int64_t{1} << 40;   // eight bytes of text are more
    auto records = std::min(head.size() / record_bytes, records_tried);
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < records; ++i) {
        auto record = head.substr(i * record_bytes, record_bytes);
        auto next = next_of(record);
        bool ahead = next == -1 || next == INT64_MAX || (next > 0 && next < requests_max);
        if (time_of(record) < before || !ahead) return false;
        before = time_of(record);
    }
    return records > 0;
}

}  // namespace garner::sim
