#include "icp/digest.hpp"

#include <openssl/evp.h>

#include <algorithm>

#include "util/big_endian.hpp"
#include "util/check.hpp"

namespace garner::icp {

namespace {

// The header of a digest, as Squid writes it: big-endian; the remaining bytes are zero.
constexpr std::size_t at_current = 0;    // u16
constexpr std::size_t at_required = 2;   // u16
constexpr std::size_t at_capacity = 4;   // i32, like the following ones
constexpr std::size_t at_count = 8;
constexpr std::size_t at_mask_size = 16;
constexpr std::size_t at_bits_per_entry = 20;   // u8
constexpr std::size_t at_hashes = 21;           // u8

constexpr std::uint16_t our_version = 5;
constexpr std::uint16_t oldest_version = 3;
constexpr char bits_per_entry = 5;
constexpr char hashes = 4;
constexpr char get_method = 1;   // Squid's number of GET
constexpr std::uint64_t least_capacity = 64;
constexpr std::uint64_t most_capacity = Digest::mask_max * 8 / bits_per_entry;

std::uint32_t word_at(std::string_view bytes, std::size_t at) { return read_big_endian<std::uint32_t>(bytes.substr(at)); }

constexpr std::uint64_t mask_size_for(std::uint64_t capacity, std::uint64_t bits) { return (capacity * bits + 7) / 8; }

/// OpenSSL's MD5, fetched once. Uses its own library context: the system's may forbid MD5, which is not used for security
/// here.
EVP_MD const* md5() {
    static EVP_MD const* const found = EVP_MD_fetch(OSSL_LIB_CTX_new(), "MD5", nullptr);
    check(found != nullptr);
    return found;
}

struct Freed {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};

}   // namespace

DigestKey digest_key(std::string_view url) {
    thread_local std::unique_ptr<EVP_MD_CTX, Freed> const context(EVP_MD_CTX_new());
    unsigned char sum[16];
    bool const done =
        EVP_DigestInit_ex2(context.get(), md5(), nullptr) == 1 && EVP_DigestUpdate(context.get(), &get_method, 1) == 1 &&
        EVP_DigestUpdate(context.get(), url.data(), url.size()) == 1 && EVP_DigestFinal_ex(context.get(), sum, nullptr) == 1;
    check(done);
    std::string_view const words(reinterpret_cast<char const*>(sum), sizeof sum);
    DigestKey key;
    for (std::size_t i = 0; i < key.size(); ++i) key[i] = word_at(words, 4 * i);
    return key;
}

// ---- reading ----

Result<std::shared_ptr<Digest const>> Digest::read(std::string bytes) {
    auto const refuse = [](char const* why) { return Fault{why}; };
    if (bytes.size() < header_bytes) return refuse("shorter than its header");
    if (bytes.size() > bytes_max) return refuse("too large");
    auto const head = std::string_view(bytes);
    if (read_big_endian<std::uint16_t>(head.substr(at_current)) < oldest_version) return refuse("version below 3");
    if (read_big_endian<std::uint16_t>(head.substr(at_required)) > our_version) return refuse("version above 5");
    auto const capacity = word_at(head, at_capacity);
    auto const entries = word_at(head, at_count);
    auto const mask_size = word_at(head, at_mask_size);
    auto const bits = static_cast<std::uint8_t>(head[at_bits_per_entry]);
    if (head[at_hashes] != hashes) return refuse("the number of hash functions is not 4");
    if (capacity == 0 || bits == 0) return refuse("the capacity is 0");
    if (capacity > INT32_MAX || entries > INT32_MAX || mask_size > mask_max) return refuse("sizes out of range");
    if (mask_size != mask_size_for(capacity, bits)) return refuse("the mask size does not match the capacity");
    if (bytes.size() != header_bytes + mask_size) return refuse("the length does not match the header");
    std::shared_ptr<Digest> digest(new Digest);
    digest->bytes_ = std::move(bytes);
    digest->counted_ = CountedBytes<Digest>(digest->bytes_.capacity());
    digest->bits_ = std::uint64_t{mask_size} * 8;
    digest->entries_ = entries;
    return digest;
}

bool Digest::may_have(DigestKey const& key) const {
    return std::all_of(key.begin(), key.end(), [this](std::uint32_t word) {
        auto const bit = word % bits_;
        return ((static_cast<std::uint8_t>(bytes_[header_bytes + bit / 8]) >> (bit % 8)) & 1) != 0;
    });
}

// ---- building ----

DigestBuilder::DigestBuilder(std::uint64_t capacity)
    : capacity_(std::clamp(capacity, least_capacity, most_capacity)), bits_(mask_size_for(capacity_, bits_per_entry) * 8),
      bytes_(Digest::header_bytes + bits_ / 8, '\0') {}

void DigestBuilder::add(DigestKey const& key) {
    ++entries_;
    for (auto const word : key) {
        auto const bit = word % bits_;
        auto& byte = bytes_[Digest::header_bytes + bit / 8];
        byte = static_cast<char>(byte | (1 << (bit % 8)));
    }
}

std::string DigestBuilder::finish() && {
    auto const put = [this](std::size_t at, std::uint64_t value) {
        write_big_endian(static_cast<std::uint32_t>(value), bytes_, at);
    };
    write_big_endian(our_version, bytes_, at_current);
    write_big_endian(oldest_version, bytes_, at_required);
    put(at_capacity, capacity_);
    put(at_count, std::min<std::uint64_t>(entries_, INT32_MAX));
    put(at_mask_size, bits_ / 8);
    bytes_[at_bits_per_entry] = bits_per_entry;
    bytes_[at_hashes] = hashes;
    return std::move(bytes_);
}

}   // namespace garner::icp
