// All tests as one program, so that each compiler reads the headers once: main [FILE [TEXT]]
#include "elastic.cpp"
#include "events.cpp"
#include "faults.cpp"
#include "models.cpp"
#include "parity.cpp"
#include "tensors.cpp"
#include "values.cpp"

#include "holder.hpp"

int main(int count, char **words) {
    if (count == 4 && std::string(words[1]) == "--hold") return check::holder::run(words[2], words[3]);
    return check::run(count, words);
}
