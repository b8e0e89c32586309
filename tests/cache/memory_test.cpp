// Compares the memory budget's figure with the heap's own, under every policy.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cctype>

#include "cache/scene.hpp"
#include "policy/policies.hpp"

#if !defined(__has_feature)
#define __has_feature(x) 0
#endif
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || defined(__SANITIZE_ADDRESS__) || \
    defined(__SANITIZE_THREAD__)
#define GARNER_SANITIZED 1
#include <sanitizer/allocator_interface.h>
#endif

namespace garner::cache {
namespace {

#ifdef GARNER_SANITIZED

// Sanitizer heaps round sizes differently, so each block counts with the size that glibc would give it.
std::atomic<std::int64_t> taken{0};
void note_allocation(void const volatile*, std::size_t bytes) { taken += static_cast<std::int64_t>(heap_block(bytes)); }
void note_release(void const volatile* block) {
    if (!block) return;
    auto const bytes = __sanitizer_get_allocated_size(const_cast<void const*>(block));
    taken -= static_cast<std::int64_t>(heap_block(bytes));
}
[[maybe_unused]] int const hooked = __sanitizer_install_malloc_and_free_hooks(note_allocation, note_release);
double bytes_in_use() { return static_cast<double>(taken.load()); }

#else

double bytes_in_use() {
    auto const heap = ::mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd);
}

#endif

class Memory : public testing::TestWithParam<policy::Row> {
protected:
    std::string const policy{GetParam().name};
    double const before = bytes_in_use();

    void expect_told(Scene const& scene) const {
        auto const measured = bytes_in_use() - before;
        auto const stats = scene.cache.memory().stats();
        auto const used = static_cast<double>(stats.used);
        EXPECT_NEAR(used / measured, 1, 0.05)
            << stats.used << " charged, of it " << stats.metadata << " for index and policy; measured " << measured;
    }
};

auto const every_row = testing::ValuesIn(policy::all().begin(), policy::all().end());
INSTANTIATE_TEST_SUITE_P(Cache, Memory, every_row, [](auto const& row) {
    std::string name(row.param.name);
    std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
    return name;
});

TEST_P(Memory, of_many_small_objects_is_what_is_charged) {
    Scene scene({.size = 256 * MiB, .policy = policy});
    for (int i = 0; i < 30'000; ++i) scene.store("http://origin.example/" + std::to_string(i));
    EXPECT_EQ(scene.cache.memory().stats().objects, 30'000u);
    expect_told(scene);
    // Memory is full, including what the policy remembers about evicted objects.
    auto const used = scene.cache.memory().stats().used;
    scene.cache.memory().reconfigure({.size = used, .policy = policy});
    for (int i = 0; i < 20'000; ++i) scene.store("http://other.example/" + std::to_string(i));
    EXPECT_GT(scene.cache.memory().stats().evictions, 15'000u);
    expect_told(scene);
}

TEST_P(Memory, of_variants_marks_and_failures_is_what_is_charged) {
    Scene scene({.size = 64 * MiB, .policy = policy});
    FetchFailure const failure{502, std::string(200, 'x')};
    for (int i = 0; i < 6'000; ++i) {
        auto const url = "/" + std::to_string(i);
        scene.store(url, Scene::varying("text", "accept", std::to_string(i % 3)));
        if (i % 5) continue;
        auto lead = scene.cache.lease(scene.cache.key(url + "/failed"), nullptr);
        lead.fill()->remember_failure(failure, false, {}, {});
        scene.lookup(url + "/private").lead.refuse("private");
    }
    EXPECT_GT(scene.cache.memory().stats().failures, 400u);
    expect_told(scene);
}

}   // namespace
}   // namespace garner::cache
