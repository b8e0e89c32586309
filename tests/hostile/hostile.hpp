// Scenes with an attacker, a victim and an origin: the attacker's requests must not change the victim's responses.
#pragma once
#include "story/scene.hpp"
