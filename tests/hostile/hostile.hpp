// Scenes with an attacker, a victim and an origin: what one client does must not change what another gets.
#pragma once
#include "story/scene.hpp"
