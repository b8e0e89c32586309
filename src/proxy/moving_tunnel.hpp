// A tunnel on the way between two processes, without the connection of its client.
#pragma once
#include "control/descriptors.hpp"
#include "takeover/handed_client.hpp"

namespace garner::proxy {

struct MovingTunnel {
    takeover::HandedTunnel state;
    control::Descriptors descriptors;   // the other end, then the pipes
};

}   // namespace garner::proxy
