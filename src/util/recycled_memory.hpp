// Small blocks of memory that one thread keeps for reuse: objects that each request makes and drops cost no malloc.
#pragma once
#include <array>
#include <cstddef>
#include <limits>
#include <new>
#include <string>
#include <vector>

namespace garner {

/// Keeps the blocks that are given back on the thread that creates it, by size: at most 32 of each size up to 2 KiB, about 1 MiB.
/// At most one for each thread. A block may be given back on another thread than its first one. A thread without this class gets
/// and frees each block by operator new and delete.
class RecycledMemory {
public:
    RecycledMemory() { here_ = this; }
    ~RecycledMemory() {
        here_ = nullptr;
        for (auto& kept : kept_)
            while (kept.first) ::operator delete(kept.take());
    }
    RecycledMemory(RecycledMemory const&) = delete;

    /// Aligned as by operator new. Throws std::bad_alloc.
    static void* take(std::size_t bytes) {
        auto const place = place_of(bytes);
        if (here_ && place < sizes && here_->kept_[place].first) return here_->kept_[place].take();
        return ::operator new(whole(bytes));
    }
    /// `bytes`: as taken.
    static void give_back(void* block, std::size_t bytes) {
        auto const place = place_of(bytes);
        if (here_ && place < sizes && here_->kept_[place].count < kept_max)
            here_->kept_[place].add(block);
        else
            ::operator delete(block);
    }
    /// The size of the block.
    static constexpr std::size_t whole(std::size_t bytes) {
        auto const place = place_of(bytes);
        return place < sizes ? (place + 1) * step : bytes;
    }

private:
    static constexpr std::size_t step = 64, sizes = 32, kept_max = 32;
    static constexpr std::size_t place_of(std::size_t bytes) { return (bytes - 1) / step; }

    struct Free {
        Free* next;
    };
    struct Kept {
        Free* first = nullptr;
        std::size_t count = 0;
        void* take() {
            auto* const taken = first;
            first = taken->next;
            --count;
            return taken;
        }
        void add(void* block) {
            first = ::new (block) Free{first};
            ++count;
        }
    };
    std::array<Kept, sizes> kept_;
    inline static constinit thread_local RecycledMemory* here_ = nullptr;
};

// AddressSanitizer finds uses of objects that are gone only if their memory is freed.
#if defined(__SANITIZE_ADDRESS__)
#define GARNER_FREES_OBJECTS 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GARNER_FREES_OBJECTS 1
#endif
#endif

/// For containers and shared pointers.
template <class T>
struct RecyclingAllocator {
    using value_type = T;
    RecyclingAllocator() = default;
    template <class Other>
    RecyclingAllocator(RecyclingAllocator<Other> const&) {}

    T* allocate(std::size_t count) {
        static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
        if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
#if defined(GARNER_FREES_OBJECTS)
        return static_cast<T*>(::operator new(RecycledMemory::whole(count * sizeof(T))));
#else
        return static_cast<T*>(RecycledMemory::take(count * sizeof(T)));
#endif
    }
    void deallocate(T* block, [[maybe_unused]] std::size_t count) {
#if defined(GARNER_FREES_OBJECTS)
        ::operator delete(block);
#else
        RecycledMemory::give_back(block, count * sizeof(T));
#endif
    }
    friend bool operator==(RecyclingAllocator const&, RecyclingAllocator const&) { return true; }
};

template <class T>
using RecycledVector = std::vector<T, RecyclingAllocator<T>>;
using RecycledString = std::basic_string<char, std::char_traits<char>, RecyclingAllocator<char>>;

/// For classes whose objects are made by `new` for each request.
struct Recycled {
    static void* operator new(std::size_t bytes) { return RecyclingAllocator<std::byte>().allocate(bytes); }
    static void operator delete(void* place, std::size_t bytes) {
        RecyclingAllocator<std::byte>().deallocate(static_cast<std::byte*>(place), bytes);
    }
};

}   // namespace garner
