#include "net/tls_buffer.hpp"

#include <algorithm>
#include <cstring>
#include <vector>

#include "util/check.hpp"

namespace garner::net {

namespace {

constexpr std::size_t spares_max = 8;   // per thread; each of TlsBuffer::capacity

std::vector<std::unique_ptr<char[]>>& spares() {
    thread_local std::vector<std::unique_ptr<char[]>> kept;
    return kept;
}

}   // namespace

TlsBuffer::~TlsBuffer() {
    begin_ = end_;
    release();
}

std::span<char> TlsBuffer::room() {
    make_room(empty() ? capacity : 1);
    return {store_.get() + end_, size_ - end_};
}

void TlsBuffer::added(std::size_t count) {
    end_ += count;
    check(end_ <= size_);
    if (empty()) release();
}

void TlsBuffer::append(std::string_view bytes) {
    make_room(bytes.size());
    std::memcpy(store_.get() + end_, bytes.data(), bytes.size());
    end_ += bytes.size();
}

void TlsBuffer::consume(std::size_t count) {
    begin_ += count;
    check(begin_ <= end_);
    if (empty()) release();
}

void TlsBuffer::make_room(std::size_t count) {
    if (size_ - end_ >= count) return;
    auto held = end_ - begin_;
    if (!store_ && count <= capacity) {
        if (spares().empty()) spares().push_back(std::make_unique_for_overwrite<char[]>(capacity));
        store_ = std::move(spares().back());
        spares().pop_back();
        size_ = capacity;
    } else if (size_ - held >= count) {
        std::memmove(store_.get(), store_.get() + begin_, held);
    } else {
        auto size = std::max(2 * size_, held + count);
        auto larger = std::make_unique_for_overwrite<char[]>(size);
        if (held > 0) std::memcpy(larger.get(), store_.get() + begin_, held);
        store_ = std::move(larger);
        size_ = size;
    }
    begin_ = 0;
    end_ = held;
}

void TlsBuffer::release() {
    if (store_ && size_ == capacity && spares().size() < spares_max) spares().push_back(std::move(store_));
    store_.reset();
    size_ = begin_ = end_ = 0;
}

}   // namespace garner::net
