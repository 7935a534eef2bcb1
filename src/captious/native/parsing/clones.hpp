// Hot loops are compiled twice where the compiler supports a choice at program start: for processors with
// eight-lane vector instructions and popcount, and for all others. Sums are bitwise equal in both.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define CAPTIOUS_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CAPTIOUS_CLONES
#endif

// Functions called by hot loops must be inlined, so that they are compiled for the same processor.
#define CAPTIOUS_INLINE __attribute__((always_inline)) inline
#define CAPTIOUS_INLINE_LAMBDA __attribute__((always_inline))
