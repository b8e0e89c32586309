#include "net/tls_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "util/check.hpp"

namespace garner::net {

namespace {

constexpr std::size_t spares_max = 8;       // per thread and size
constexpr std::size_t record = 20 * 1024;   // one, with its overhead

thread_local int large_in_use = 0;

using Memory = TlsBuffer::Memory;

/// Null for a size that is not kept.
std::vector<Memory>* spares_of(std::size_t size) {
    thread_local std::vector<Memory> small, medium, large;
    switch (size) {
    case TlsBuffer::small: return &small;
    case TlsBuffer::medium: return &medium;
    case TlsBuffer::large: return &large;
    default: return nullptr;
    }
}

Memory take(std::size_t size) {
    large_in_use += size == TlsBuffer::large;
    auto* const spares = spares_of(size);
    if (!spares || spares->empty()) return {std::make_unique_for_overwrite<char[]>(size), CountedBytes<TlsBuffer>(size)};
    auto taken = std::move(spares->back());
    spares->pop_back();
    return taken;
}

void keep(Memory memory, std::size_t size) {
    large_in_use -= size == TlsBuffer::large;
    auto* const spares = spares_of(size);
    if (spares && spares->size() < spares_max) spares->push_back(std::move(memory));
}

std::size_t size_for(std::size_t needed, std::size_t before) {
    for (auto const size : {TlsBuffer::small, TlsBuffer::medium, TlsBuffer::large})
        if (needed <= size) return size;
    return std::max(2 * before, needed);
}

}   // namespace

TlsBuffer::~TlsBuffer() {
    begin_ = end_;
    release();
}

std::size_t TlsBuffer::batch_max() const {
    bool const has_large = size_ >= large || large_in_use < large_max;
    return (has_large ? large : medium) - record;
}

std::span<char> TlsBuffer::room() {
    auto const held = end_ - begin_;
    make_room(held < received_at_once ? received_at_once - held : 1);
    return {store_.bytes.get() + end_, std::min(size_ - end_, received_at_once)};
}

void TlsBuffer::added(std::size_t count) {
    end_ += count;
    check(end_ <= size_);
    if (empty()) release();
}

void TlsBuffer::append(std::string_view bytes) {
    make_room(bytes.size());
    std::memcpy(store_.bytes.get() + end_, bytes.data(), bytes.size());
    end_ += bytes.size();
}

void TlsBuffer::reserve(std::size_t size) {
    size = std::min(size, batch_max());
    auto const held = end_ - begin_;
    if (size_ < size) make_room(size - held);
}

void TlsBuffer::consume(std::size_t count) {
    begin_ += count;
    check(begin_ <= end_);
    if (empty()) release();
}

void TlsBuffer::make_room(std::size_t count) {
    if (size_ - end_ >= count) return;
    auto const held = end_ - begin_;
    auto const needed = held + count;
    if (size_ >= needed) {
        std::memmove(store_.bytes.get(), store_.bytes.get() + begin_, held);
    } else {
        auto const size = size_for(needed, size_);
        auto larger = take(size);
        if (held > 0) std::memcpy(larger.bytes.get(), store_.bytes.get() + begin_, held);
        if (store_.bytes) keep(std::move(store_), size_);
        store_ = std::move(larger);
        size_ = size;
    }
    begin_ = 0;
    end_ = held;
}

void TlsBuffer::release() {
    if (store_.bytes) keep(std::move(store_), size_);
    store_ = {};
    size_ = begin_ = end_ = 0;
}

}   // namespace garner::net
