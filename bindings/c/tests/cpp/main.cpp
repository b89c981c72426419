// All tests as one program, so that each compiler reads the headers once: main [FILE [TEXT]]
#include "values.cpp"
#include "tensors.cpp"
#include "models.cpp"
#include "elastic.cpp"
#include "events.cpp"
#include "parity.cpp"
#include "faults.cpp"

int main(int count, char **words) { return check::run(count, words); }
