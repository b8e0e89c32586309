#include "store/object.hpp"

#include <cstring>
#include <new>

namespace garner::store {

namespace {

Bytes allocation(Object::Parts const& parts) { return sizeof(Object) + parts.key.size() + parts.head.size() + parts.bytes.size(); }

}   // namespace

Bytes Object::cost_of(Parts const& parts) { return heap_block(allocation(parts)) + (parts.body ? parts.body->bookkeeping() : 0); }

std::optional<Bytes> Object::cost_at_rest() const {
    auto const length = this->length();
    if (!length) return length;
    Bytes const within = *length <= dense_body_max ? *length : 0;
    return heap_block(sizeof(Object) + key_size_ + head_size_ + within) + *length - within;
}

ObjectPtr Object::make(Parts const& parts, Budget* budget) {
    void* place = ::operator new(allocation(parts));
    return ObjectPtr(new (place) Object(parts, budget));
}

Object::Object(Parts const& parts, Budget* budget)
    : kind_(parts.kind), status_(parts.status), key_size_(static_cast<std::uint32_t>(parts.key.size())),
      head_size_(static_cast<std::uint32_t>(parts.head.size())), bytes_size_(static_cast<std::uint32_t>(parts.bytes.size())),
      own_cost_(budget ? static_cast<std::uint32_t>(cost_of(parts)) : 0), sequence_(parts.sequence), source_(parts.source),
      budget_(budget), body_(parts.body), terms_(parts.terms) {
    auto* out = const_cast<char*>(text());
    for (auto piece : {parts.key, parts.head, parts.bytes}) {
        if (!piece.empty()) std::memcpy(out, piece.data(), piece.size());
        out += piece.size();
    }
}

Object::Parts Object::parts() const {
    Parts parts;
    parts.kind = kind_;
    parts.key = key();
    parts.head = head();
    parts.bytes = bytes();
    parts.body = body_;
    parts.terms = terms_;
    parts.status = status_;
    parts.sequence = sequence_;
    parts.source = source_;
    return parts;
}

void Object::destroy(Object const* object) {
    auto* budget = object->budget_;
    auto cost = object->own_cost_;
    object->~Object();
    ::operator delete(const_cast<Object*>(object));
    if (budget) budget->release(cost);
}

}   // namespace garner::store
