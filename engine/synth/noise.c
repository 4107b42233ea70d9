#include "synth/noise.h"

enum { TERMS = 12 }; /* twelve uniform numbers have variance 1 */

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t state)
{
    state += UINT64_C(0x9E3779B97F4A7C15);
    state = (state ^ state >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    state = (state ^ state >> 27) * UINT64_C(0x94D049BB133111EB);
    return state ^ state >> 31;
}

double noise_draw(uint64_t seed, uint64_t whose, uint64_t count)
{
    uint64_t state = mix(mix(mix(seed) ^ whose) ^ count);
    double   sum = -TERMS / 2.0;

    for (int i = 0; i < TERMS; i++) {
        state = mix(state);
        sum += (double)(state >> 11) * 0x1p-53;
    }
    return sum;
}
