// Hot loops are compiled twice where the compiler can choose between them when the program starts: for processors with
// instructions for eight numbers at once and for counting bits, and for all others. Sums are the same bits in both.
#pragma once

#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__)
#define CAPTIOUS_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CAPTIOUS_CLONES
#endif

// Functions called by hot loops must be inlined, so that they are compiled for the same processor.
#define CAPTIOUS_INLINE __attribute__((always_inline)) inline
#define CAPTIOUS_INLINE_LAMBDA __attribute__((always_inline))
