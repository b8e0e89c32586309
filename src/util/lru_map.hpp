// A map from text to values that evicts the least recently used.
#pragma once
#include <string>
#include <string_view>
#include <unordered_map>

#include "util/hash.hpp"
#include "util/intrusive_list.hpp"

namespace garner {

/// Not thread-safe. References to values are valid until they are erased or evicted.
template <class Value>
class LruMap {
public:
    /// nullptr when absent. Does not count as a use. Allocates nothing.
    Value* find(std::string_view key) {
        auto const found = entries_.find(key);
        return found == entries_.end() ? nullptr : &found->second.value;
    }
    /// Like find(), but counts as a use.
    Value* use(std::string_view key) {
        auto const found = entries_.find(key);
        return found == entries_.end() ? nullptr : &used(found->second);
    }
    /// Creates a missing value, and evicts the least recently used while there are `most` already. Counts as a use.
    Value& get(std::string_view key, std::size_t most) {
        if (auto* const value = use(key)) return *value;
        while (!entries_.empty() && entries_.size() >= most) erase_oldest();
        auto const made = entries_.try_emplace(std::string(key)).first;
        made->second.key = &made->first;
        return used(made->second);
    }
    void erase(std::string_view key) {
        if (auto const found = entries_.find(key); found != entries_.end()) entries_.erase(found);
    }
    /// Erases one of the `tries` least recently used values, the first for which may_go(value) is true. The ones before it count as
    /// used. False if there is none.
    bool erase_oldest_if(auto may_go, std::size_t tries) {
        for (; tries > 0 && !entries_.empty(); --tries) {
            auto& oldest = by_use_.front();
            if (may_go(oldest.value)) return erase(*oldest.key), true;
            used(oldest);
        }
        return false;
    }
    /// Erases the least recently used value. There must be one.
    void erase_oldest() { erase(*by_use_.front().key); }
    /// Calls visit(key, value) for each value, the least recently used first.
    void for_each(auto visit) {
        for (Entry* const entry : by_use_) visit(*entry->key, entry->value);
    }
    void clear() { entries_.clear(); }
    std::size_t size() const { return entries_.size(); }

private:
    struct Entry : Link {
        Value value{};
        std::string const* key = nullptr;   // the map's own
    };
    Value& used(Entry& entry) {
        entry.unlink();
        by_use_.push_back(entry);
        return entry.value;
    }

    List<Entry> by_use_;   // the least recently used first
    std::unordered_map<std::string, Entry, KeyedHash, std::equal_to<>> entries_;
};

}   // namespace garner
