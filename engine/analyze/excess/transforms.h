/* transforms: what Fourier transforms of a length take, which is the program's choice where data is
 * padded for them. */
#ifndef TFPROF_ANALYZE_EXCESS_TRANSFORMS_H
#define TFPROF_ANALYZE_EXCESS_TRANSFORMS_H

#include <stdint.h>

/* Part of a transform's time that one of the next good length takes; 1 where that gains little, or
 * the length is none. As pocketfft guesses the work of both; MKL gains as much and more. */
double transform_kept(int64_t length);

#endif
