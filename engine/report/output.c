/* output: the list of formats. */
#include "report/output.h"

#include "base/macros.h"

#include <string.h>

const struct output *const outputs[] = {
#define OUTPUT(name) &output_##name,
#include "report/outputs.def"
#undef OUTPUT
};
const size_t output_count = ARRAY_COUNT(outputs);

const struct output *output_find(const char *name)
{
    for (size_t i = 0; i < output_count; i++) {
        if (strcmp(outputs[i]->name, name) == 0)
            return outputs[i];
    }
    return NULL;
}
