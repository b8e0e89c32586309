// A proxy and the processes that take its place, one after the other.
#pragma once
#include <signal.h>

#include <memory>
#include <string>
#include <vector>

#include "story/scene.hpp"
#include "support/partner.hpp"

namespace garner::test {

class Service {
public:
    /// `tls`: as in Proxy::Setup.
    explicit Service(std::string const& patch = "{}", std::string const& tls = "")
        : proxy_(
              std::make_unique<Proxy>(Proxy::Setup{.patch = patch, .tls = tls, .arguments = {"--set", "control.path=" + path()}})) {
        EXPECT_TRUE(eventually([&] { return std::filesystem::exists(path()); })) << "it is opened after the ports";
    }
    Service(Service const&) = delete;
    ~Service() { EXPECT_EQ(stop(), 0) << errors(); }

    Proxy& proxy() { return *proxy_; }
    std::string path() const { return (dir_.path("") / "control").string(); }

    std::vector<std::string> command(std::vector<std::string> words, std::string const& program = garner_binary()) const {
        words.insert(words.begin(), program);
        words.insert(words.end(), {"--config", proxy_->dir().path("garner.json").string(), "--set", "control.path=" + path()});
        return words;
    }
    Finished run(std::vector<std::string> words) const { return test::run(command(std::move(words)), Millis{60'000}); }

    /// Starts a process of `program` that takes over. True once it serves, false if it ends.
    bool take_over(std::vector<std::string> const& words = {}, std::string const& program = garner_binary()) {
        auto all = command({"takeover"}, program);
        all.insert(all.end(), words.begin(), words.end());
        children_.push_back(std::make_unique<Child>(all));
        auto& fresh = *children_.back();
        auto const serves = [&] { return fresh.errors().find("garner listens on") != std::string::npos; };
        eventually([&] { return serves() || !fresh.running(); }, Millis{60'000});
        if (serves()) return true;
        refused_ = fresh.errors();
        refused_code_ = fresh.exit_code().value_or(-1);
        children_.pop_back();
        return false;
    }
    std::string const& refused() const { return refused_; }
    int refused_code() const { return refused_code_; }

    /// The process that serves now.
    Child& current() { return children_.empty() ? proxy_->child() : *children_.back(); }
    /// All processes before it end by themselves with 0.
    void expect_former_to_end(Millis limit = Millis{60'000}) {
        if (children_.empty()) return;
        EXPECT_EQ(proxy_->child().exit_code(limit).value_or(-1), 0) << proxy_->errors();
        for (std::size_t i = 0; i + 1 < children_.size(); ++i)
            EXPECT_EQ(children_[i]->exit_code(limit).value_or(-1), 0) << children_[i]->errors();
    }
    std::string errors() {
        auto all = proxy_->errors();
        for (auto const& child : children_) all += "---- next process\n" + child->errors();
        return all;
    }

private:
    int stop() {
        expect_former_to_end();
        if (children_.empty()) return proxy_->stop(), 0;
        children_.back()->signal(SIGTERM);
        (void)proxy_->ended();
        return children_.back()->exit_code(Millis{30'000}).value_or(-1);
    }

    TempDir dir_;
    std::unique_ptr<Proxy> proxy_;
    std::vector<std::unique_ptr<Child>> children_;
    std::string refused_;
    int refused_code_ = 0;
};

}   // namespace garner::test
