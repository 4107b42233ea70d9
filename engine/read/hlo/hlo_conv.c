#include "read/hlo/hlo_conv.h"

#include "read/proto/wire.h"

enum { /* field numbers of xla_data.proto */
       WINDOW_DIMENSIONS = 1,
       DIMENSION_SIZE = 1,
       DIMENSION_STRIDE = 2,
       DIMENSION_PADDING_LOW = 3,
       DIMENSION_WINDOW_DILATION = 5,
       DIMENSION_BASE_DILATION = 6,
       CONVOLUTION_INPUT_SPATIAL = 11,
       CONVOLUTION_OUTPUT_SPATIAL = 12,
};
#define MOST_PLACES (INT64_C(1) << 30)
#define MOST_PAIRS (INT64_C(1) << 18) /* up to so many are looked at one by one */

struct window_dimension {
    int64_t size, stride, padding_low, window_dilation, base_dilation;
};

static struct window_dimension read_dimension(struct str bytes)
{
    struct window_dimension dimension = { .stride = 1, .window_dilation = 1, .base_dilation = 1 };

    for (struct wire field = wire_start(bytes); wire_next(&field);) {
        int64_t value = (int64_t)field.value;

        if (field.type != WIRE_VARINT)
            continue;
        if (field.number == DIMENSION_SIZE)
            dimension.size = value;
        else if (field.number == DIMENSION_STRIDE)
            dimension.stride = value;
        else if (field.number == DIMENSION_PADDING_LOW)
            dimension.padding_low = value;
        else if (field.number == DIMENSION_WINDOW_DILATION)
            dimension.window_dilation = value;
        else if (field.number == DIMENSION_BASE_DILATION)
            dimension.base_dilation = value;
    }
    return dimension;
}

static bool is_sane(int64_t value, int64_t least)
{
    return value >= least && value < MOST_PLACES;
}

static double share_of(const struct window_dimension *dimension, int64_t in, int64_t out)
{
    int64_t met = 0, extent;

    if (!is_sane(dimension->size, 1) || !is_sane(dimension->stride, 1) || !is_sane(in, 1) ||
        !is_sane(out, 1) || !is_sane(dimension->padding_low, -MOST_PLACES) ||
        !is_sane(dimension->window_dilation, 1) || !is_sane(dimension->base_dilation, 1) ||
        dimension->size > MOST_PAIRS / out)
        return 1;
    extent = (in - 1) * dimension->base_dilation + 1;
    for (int64_t k = 0; k < dimension->size; k++)
        for (int64_t o = 0; o < out; o++) {
            int64_t at =
                o * dimension->stride + k * dimension->window_dilation - dimension->padding_low;

            met += at >= 0 && at < extent && at % dimension->base_dilation == 0;
        }
    return (double)met / (double)(dimension->size * out);
}

/* The n-th number of a repeated field, packed or not; -1: there is none. */
static int64_t nth(struct str message, uint32_t number, size_t n)
{
    size_t count = 0;

    for (struct wire field = wire_start(message); wire_next(&field);) {
        struct str rest = field.number == number ? wire_numbers(&field) : (struct str) { 0 };
        uint64_t   value;

        while (wire_take(&rest, &value))
            if (count++ == n)
                return (int64_t)value;
    }
    return -1;
}

static int64_t size_of(const struct tensor *tensor, int64_t dimension)
{
    return dimension >= 0 && dimension < tensor->rank ? tensor->dims[dimension] : -1;
}

double hlo_conv_share(struct str window, struct str dimensions, const struct tensor *input,
                      const struct tensor *output)
{
    double share = 1;
    size_t count = 0;

    for (struct wire field = wire_start(window); wire_next(&field);) {
        struct window_dimension dimension;

        if (field.number != WINDOW_DIMENSIONS || field.type != WIRE_BYTES)
            continue;
        dimension = read_dimension(field.bytes);
        share *=
            share_of(&dimension, size_of(input, nth(dimensions, CONVOLUTION_INPUT_SPATIAL, count)),
                     size_of(output, nth(dimensions, CONVOLUTION_OUTPUT_SPATIAL, count)));
        count++;
    }
    return share;
}
