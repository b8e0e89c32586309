// Requests that threads repeat while a test does something to the proxy.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "support/wire.hpp"

namespace garner::test {

/// Requests on threads of their own, until the end.
class Traffic {
public:
    /// `request` returns what went wrong; nothing: an empty text.
    void add(std::string const& name, std::function<std::string()> request) {
        threads_.emplace_back([this, name, request = std::move(request)] {
            while (!over_) {
                auto const trouble = attempt(request);
                ++requests_;
                if (!trouble.empty()) note(name + ": " + trouble);
                pause_for(Millis{10});   // other tests run in parallel: without it, the proxy and its clients use all processors
            }
        });
    }
    std::vector<std::string> stop() {
        over_ = true;
        threads_.clear();
        return troubles_;
    }
    int requests() const { return requests_; }
    ~Traffic() { stop(); }

private:
    void note(std::string const& trouble) {
        std::lock_guard const lock(mutex_);
        troubles_.push_back(trouble);
    }
    static std::string attempt(std::function<std::string()> const& request) {
        try {
            return request();
        } catch (Trouble const& trouble) {
            return trouble.what();
        }
    }
    std::atomic<bool> over_{false};
    std::atomic<int> requests_{0};
    std::mutex mutex_;
    std::vector<std::string> troubles_;
    std::vector<std::jthread> threads_;
};

}   // namespace garner::test
