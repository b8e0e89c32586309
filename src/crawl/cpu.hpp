// Which instructions this machine has for comparing a cache line at once.
#pragma once
#include <initializer_list>

namespace garner::crawl {

/// Each does what plain does, with the same answers.
enum class Isa { plain, sse2, avx2, avx512 };

inline bool has(Isa isa) {
#if defined(__x86_64__)
    switch (isa) {
    case Isa::plain: return true;
    case Isa::sse2: return true;
    case Isa::avx2: return __builtin_cpu_supports("avx2");
    case Isa::avx512:
        return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
    }
    return false;
#else
    return isa == Isa::plain;
#endif
}

inline Isa best_isa() {
    for (auto isa : {Isa::avx512, Isa::avx2, Isa::sse2})
        if (has(isa)) return isa;
    return Isa::plain;
}

}  // namespace garner::crawl
