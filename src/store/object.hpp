// A stored response: key, head, reuse terms and body. Immutable once published; shared by reference count.
#pragma once
#include <atomic>
#include <boost/smart_ptr/intrusive_ptr.hpp>
#include <cstdint>
#include <string_view>

#include "http/freshness.hpp"
#include "store/body.hpp"
#include "store/budget.hpp"
#include "util/ip.hpp"

namespace garner::store {

class Object;
using ObjectPtr = boost::intrusive_ptr<Object const>;

/// Key, head and a small body share one allocation of exact size.
class Object {
public:
    /// A body up to this size may be inline; on disk it is in one record with its head.
    static constexpr Bytes inline_body_max = 64 * KiB;
    /// A body up to this size is always inline. For a longer one of known length a copy would cost more than its own
    /// block.
    static constexpr Bytes dense_body_max = 16 * KiB;

    enum class Kind : std::uint8_t {
        response,
        vary_marker   // for a URL with variants: `head` is the list of Vary names, `body` is empty
    };
    struct Parts {
        Kind kind = Kind::response;
        std::string_view key;     // cache key, including the variant if there is one
        std::string_view head;    // status line and end-to-end fields, each with CRLF; no Age, no Content-Length
        std::string_view bytes;   // a small body; otherwise `body`
        BodyPtr body;
        http::Terms terms;
        std::uint16_t status = 200;
        std::uint64_t sequence = 0;
        IpAddress source;   // origin address: rules about destinations also apply to hits
    };
    /// The cost to the budget of an object with these parts, excluding its shared body.
    static Bytes cost_of(Parts const& parts);
    /// The caller has reserved cost_of(parts) in `budget`; the object releases it when destroyed. With nullptr it
    /// costs nothing: for objects that are sent but not stored.
    static ObjectPtr make(Parts const& parts, Budget* budget);

    /// The parts to build an equal object; views into this one.
    Parts parts() const;

    Kind kind() const { return kind_; }
    std::string_view key() const { return {text(), key_size_}; }
    std::string_view head() const { return {text() + key_size_, head_size_}; }
    /// The inline body; empty when the body is in body().
    std::string_view bytes() const { return {text() + key_size_ + head_size_, bytes_size_}; }
    BodyPtr const& body() const { return body_; }
    http::Terms const& terms() const { return terms_; }
    std::uint16_t status() const { return status_; }
    std::uint64_t sequence() const { return sequence_; }
    IpAddress const& source() const { return source_; }
    /// The body's length; nothing while it grows and the origin gave no length.
    std::optional<Bytes> length() const { return body_ ? body_->length() : std::optional<Bytes>(bytes_size_); }
    /// False for objects that are sent but not stored.
    bool charged() const { return budget_ != nullptr; }
    /// Its cost once its body is complete and in its final form, excluding its index entry. Nothing while its length
    /// is unknown.
    std::optional<Bytes> cost_at_rest() const;
    /// True when the object or its body has more than one owner.
    bool is_held() const { return references_.load(std::memory_order_relaxed) > 1 || (body_ && body_->use_count() > 1); }
    /// No invalidation up to this number, and newer than its sequence, concerns it; 0: not compared yet. Any thread may set it.
    std::uint64_t checked() const { return checked_.load(std::memory_order_relaxed); }
    void set_checked(std::uint64_t number) const { checked_.store(number, std::memory_order_relaxed); }
    /// Its budget charge, including its shared body.
    Bytes cost() const { return own_cost_ + (body_ ? body_->charged() : 0); }

private:
    friend void intrusive_ptr_add_ref(Object const* object) { object->references_.fetch_add(1, std::memory_order_relaxed); }
    friend void intrusive_ptr_release(Object const* object) {
        if (object->references_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(object);
    }
    Object(Parts const& parts, Budget* budget);
    ~Object() = default;
    static void destroy(Object const* object);
    char const* text() const { return reinterpret_cast<char const*>(this + 1); }

    mutable std::atomic<std::uint32_t> references_{0};
    Kind kind_;
    std::uint16_t status_;
    std::uint32_t key_size_;
    std::uint32_t head_size_;
    std::uint32_t bytes_size_;
    std::uint32_t own_cost_;
    std::uint64_t sequence_;
    mutable std::atomic<std::uint64_t> checked_{0};
    IpAddress source_;
    Budget* budget_;
    BodyPtr body_;
    http::Terms terms_;
};

/// Whether it is the Vary marker of a URL with variants; false for nullptr.
inline bool is_marker(Object const* object) { return object && object->kind() == Object::Kind::vary_marker; }
/// Whether it is a Vary marker with exactly this list of names.
inline bool is_marker_of(Object const* object, std::string_view names) { return is_marker(object) && object->head() == names; }

}   // namespace garner::store
