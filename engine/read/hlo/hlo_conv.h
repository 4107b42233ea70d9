/* hlo_conv: how much of a convolution's window lies on its input rather than on padding and holes. */
#ifndef TFPROF_READ_HLO_CONV_H
#define TFPROF_READ_HLO_CONV_H

#include "base/str.h"
#include "model/profile.h"

/* `window` and `dimensions`: bytes of XLA's Window and ConvolutionDimensionNumbers. Share of all pairs
 * of a result's place and a kernel's place that meet an element of the input; 1 where it is not told. */
double hlo_conv_share(struct str window, struct str dimensions, const struct tensor *input,
                      const struct tensor *output);

#endif
