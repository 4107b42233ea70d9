/* names: the words of the advice contract for its enumerations. */
#include "rules/names.h"
#include "rules/advice.h"

#include "base/macros.h"
#include "model/profile.h"

#include <string.h>

static const char *const severities[] = { "info", "warn", "error", "veto" };
static const char *const methods[] = { "none", "share", "amdahl", "roofline", "exposed", "replay" };
static const char *const confidences[] = { "low", "medium", "high" };

const char *severity_name(enum severity severity)
{
    return severities[severity];
}

const char *method_name(enum method method)
{
    return methods[method];
}

const char *confidence_name(enum confidence confidence)
{
    return confidences[confidence];
}

static int find(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

int severity_from_name(const char *name)
{
    return find(severities, ARRAY_COUNT(severities), name);
}

int method_from_name(const char *name)
{
    return find(methods, ARRAY_COUNT(methods), name);
}

int confidence_from_name(const char *name)
{
    return find(confidences, ARRAY_COUNT(confidences), name);
}

int rule_format_from_name(const char *name)
{
    for (int format = 0; format < FORMAT_COUNT; format++)
        if (strcmp(profile_format_name((enum profile_format)format), name) == 0)
            return format;
    return -1;
}
