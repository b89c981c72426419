// What the compiler can do, asked once.
#pragma once

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "millpond needs C++17 or later: -std=c++17"
#endif

#if defined(__has_include)
#if __cplusplus >= 202002L && __has_include(<version>)
#include <version>
#endif
#endif

// Set by the compiler's own macro. With -fno-exceptions the throwing calls end the program with the error's text; the twins
// with `try_` work as ever.
#if defined(__cpp_exceptions)
#define MILLPOND_HAS_EXCEPTIONS 1
#else
#define MILLPOND_HAS_EXCEPTIONS 0
#endif
