// A small program with the release's hardening options, for tests/hostile/binary.cpp: a stack buffer and a checked copy.
#include <cstdio>
#include <cstring>
#include <vector>

int main(int count, char** words) {
    char buffer[64];
    std::strcpy(buffer, words[count - 1]);
    std::vector<char> letters(buffer, buffer + std::strlen(buffer));
    std::printf("%s %c\n", buffer, letters[static_cast<std::size_t>(count)]);
    return 0;
}
