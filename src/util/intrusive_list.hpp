// Intrusive doubly linked list: an element is in at most one list, and its destructor removes it.
#pragma once
#include "util/check.hpp"

namespace garner {

/// A hook for a List. Not thread-safe; the owner of the list orders access.
class Link {
public:
    Link() = default;
    Link(Link const&) = delete;
    Link& operator=(Link const&) = delete;
    ~Link() { unlink(); }

    bool linked() const { return next_ != this; }

    void unlink() {
        previous_->next_ = next_;
        next_->previous_ = previous_;
        previous_ = next_ = this;
    }

private:
    template <class T>
    friend class List;
    void insert_before(Link& place) {
        check(!linked());
        previous_ = place.previous_;
        next_ = &place;
        previous_->next_ = this;
        place.previous_ = this;
    }
    Link* previous_ = this;
    Link* next_ = this;
};

/// A list of T, where T derives from Link. Owns nothing. All operations are O(1) and allocate nothing.
template <class T>
class List {
public:
    List() = default;
    List(List const&) = delete;
    List& operator=(List const&) = delete;
    ~List() {
        while (!empty()) root_.next_->unlink();
    }

    bool empty() const { return !root_.linked(); }
    T& front() { return static_cast<T&>(*root_.next_); }
    void push_back(T& item) { static_cast<Link&>(item).insert_before(root_); }

    void push_front(T& item) { static_cast<Link&>(item).insert_before(*root_.next_); }

    T* pop_front() {
        if (empty()) return nullptr;
        T& item = front();
        static_cast<Link&>(item).unlink();
        return &item;
    }

    class Iterator {
    public:
        explicit Iterator(Link* at) : at_(at) {}
        T* operator*() const { return static_cast<T*>(at_); }
        Iterator& operator++() {
            at_ = at_->next_;
            return *this;
        }
        friend bool operator==(Iterator const&, Iterator const&) = default;

    private:
        Link* at_;
    };
    Iterator begin() const { return Iterator(root_.next_); }
    Iterator end() const { return Iterator(&root_); }

    /// Moves every item of `other` to the end of this list.
    void take_all(List& other) {
        while (T* item = other.pop_front()) push_back(*item);
    }

private:
    mutable Link root_;
};

}   // namespace garner
