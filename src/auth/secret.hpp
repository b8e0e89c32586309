// Memory for passwords and tokens that is wiped before it is freed.
#pragma once
#include <openssl/crypto.h>

#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>

namespace garner::auth {

/// Bytes with a NUL after them. Moving leaves no copy behind, unlike std::string, which copies short texts.
class Secret {
public:
    Secret() = default;
    explicit Secret(std::string_view bytes) : Secret(bytes.size()) { bytes.copy(bytes_, bytes.size()); }
    /// `size` zero bytes.
    explicit Secret(std::size_t size) : bytes_(new char[size + 1]()), size_(size) {}
    Secret(Secret&& other) noexcept : bytes_(std::exchange(other.bytes_, nullptr)), size_(std::exchange(other.size_, 0)) {}
    Secret& operator=(Secret&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        std::swap(size_, other.size_);
        return *this;
    }
    ~Secret() {
        if (bytes_) OPENSSL_cleanse(bytes_, size_);
        delete[] bytes_;
    }

    char* data() { return bytes_; }
    std::size_t size() const { return size_; }
    std::string_view view() const { return {bytes_, size_}; }
    /// Never nullptr.
    char const* c_str() const { return bytes_ ? bytes_ : ""; }
    /// Drops the bytes from `size` on, which must not exceed size().
    void shorten(std::size_t size) {
        if (!bytes_) return;
        OPENSSL_cleanse(bytes_ + size, size_ - size);
        size_ = size;
    }

private:
    char* bytes_ = nullptr;
    std::size_t size_ = 0;
};

}   // namespace garner::auth
