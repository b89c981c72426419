// Millpond for C++17 and later: GPU memory that outlives the processes that use it. Everything here is a thin layer over the C ABI of
// `millpond.h`; link with libmillpond alone.
//
// Calls throw `millpond::error`. Each has a twin with `try_` in front, which throws nothing of this library's and answers a
// `millpond::result`.
#pragma once

#include "cancel.hpp"
#include "checkpoint.hpp"
#include "cuda.hpp"
#include "dtype.hpp"
#include "elastic.hpp"
#include "error.hpp"
#include "events.hpp"
#include "group.hpp"
#include "ipc.hpp"
#include "model.hpp"
#include "pond.hpp"
#include "pool.hpp"
#include "result.hpp"
#include "span.hpp"
#include "spec.hpp"
#include "status.hpp"
#include "tensor.hpp"
#include "transfer.hpp"
#include "uuid.hpp"

// The resources for CCCL come along where CUDA's headers are, and CCCL is 3.1 or later; MILLPOND_NO_MEMORY_RESOURCE leaves them out.
#if !defined(MILLPOND_NO_MEMORY_RESOURCE) && defined(__has_include)
#if __has_include(<cuda/version>) && __has_include(<cuda_runtime_api.h>)
#include <cuda/version>
#if defined(CCCL_VERSION) && CCCL_VERSION >= 3001000
#include "memory_resource.hpp"
#endif
#endif
#endif
