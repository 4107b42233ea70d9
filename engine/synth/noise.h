/*
 * noise: reproducible chance. A draw depends on the seed, on whose draw it is and on how many it
 * has had, and on nothing else, so that a line added elsewhere changes no other line's times.
 */
#ifndef TFPROF_SYNTH_NOISE_H
#define TFPROF_SYNTH_NOISE_H

#include <stdint.h>

/* About normal: mean 0, deviation 1, never beyond 6. */
double noise_draw(uint64_t seed, uint64_t whose, uint64_t count);

#endif
