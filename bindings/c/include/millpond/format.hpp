// What `operator<<` prints, for `std::format` where the library has it. `millpond.hpp` leaves it out: `<format>` takes longer to read than all
// the rest.
#pragma once

#include "detail/config.hpp"

#if defined(__cpp_lib_format)
#include <format>
#include <sstream>
#include <string>

#include "dtype.hpp"
#include "error.hpp"
#include "status.hpp"
#include "tensor.hpp"
#include "uuid.hpp"

namespace millpond::detail {
/// A formatter of text, width and fill included, for what can be printed to a stream.
template <class T>
struct printed : std::formatter<std::string, char> {
    template <class Context>
    auto format(const T &value, Context &context) const {
        std::ostringstream out;
        out << value;
        return std::formatter<std::string, char>::format(out.str(), context);
    }
};
}  // namespace millpond::detail

template <>
struct std::formatter<millpond::uuid, char> : millpond::detail::printed<millpond::uuid> {};
template <>
struct std::formatter<millpond::dtype, char> : millpond::detail::printed<millpond::dtype> {};
template <>
struct std::formatter<millpond::errc, char> : millpond::detail::printed<millpond::errc> {};
template <>
struct std::formatter<millpond::error, char> : millpond::detail::printed<millpond::error> {};
template <>
struct std::formatter<millpond::gpu, char> : millpond::detail::printed<millpond::gpu> {};
template <>
struct std::formatter<millpond::tensor, char> : millpond::detail::printed<millpond::tensor> {};
#endif
