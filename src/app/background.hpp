// A process that continues in the background once it serves.
#pragma once

namespace garner::app {

/// Call before any thread starts.
class Background {
public:
    /// With `wanted` it forks: in the parent it returns never, but exits with 0 once the child serves, and with 1 if it ends
    /// before.
    explicit Background(bool wanted);
    ~Background();
    Background(Background const&) = delete;

    /// In the child.
    void serves();

private:
    int notice_ = -1;   // a pipe to the parent
};

}   // namespace garner::app
