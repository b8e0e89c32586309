#include <cstddef>

#include "app/program.hpp"

int main(int argc, char** argv) { return garner::app::run_program({argv + 1, static_cast<std::size_t>(argc - 1)}); }
