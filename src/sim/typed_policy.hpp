// A policy by its own class, for loops in which virtual calls would cost much of the time.
#pragma once
#include "policy/garner.hpp"
#include "policy/gdsf.hpp"
#include "policy/lfu.hpp"
#include "policy/lru.hpp"
#include "policy/sieve.hpp"

namespace garner::sim {

/// Calls `use` once: with the policy by its own class if it is one of the most used ones, otherwise with `policy` itself.
template <class Use>
void with_own_class(policy::ReplacementPolicy& policy, Use const& use) {
    auto const used_as = [&]<class Policy>(Policy* own) {
        if (own) use(*own);
        return own != nullptr;
    };
    bool const done = used_as(dynamic_cast<policy::Lru*>(&policy)) || used_as(dynamic_cast<policy::Garner*>(&policy)) ||
                      used_as(dynamic_cast<policy::Sieve*>(&policy)) || used_as(dynamic_cast<policy::Lfu*>(&policy)) ||
                      used_as(dynamic_cast<policy::Gdsf*>(&policy));
    if (!done) use(policy);
}

}   // namespace garner::sim
