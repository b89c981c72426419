// std::format, with compilers whose library has it.
#include <millpond/format.hpp>

#include <millpond/millpond.hpp>

#include "check.hpp"

TEST("values are formatted, with width and fill") {
    const auto id = *millpond::uuid::parse("123e4567-e89b-12d3-a456-426614174000");
    CHECK_EQUAL(std::format("{}", id), id.text());
    CHECK_EQUAL(std::format("[{:>6}]", millpond::dtype::bf16), "[  BF16]");
    CHECK_EQUAL(std::format("[{:*<10}]", millpond::errc::not_found), "[not_found*]");
    CHECK_EQUAL(std::format("{}", millpond::error(millpond::errc::lost, "gone", "look")), "gone\nhint: look");
    CHECK_EQUAL(std::format("{}", millpond::tensor()), "no tensor");
    CHECK(std::format("{}", millpond::gpu()).find("0 of 0 bytes") != std::string::npos);
}

int main(int count, char **words) { return check::run(count, words); }
