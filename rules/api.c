/* api: the table. Rows of a class stand together, in the order they are documented. */
#include "rules/api.h"

const struct api_class_info api_classes[API_CLASS_COUNT] = {
    [API_GLOBAL] = { "global", "Globals",
                     "Nothing else is global, and a rule adds nothing: `local` everything.",
                     false },
    [API_PROFILE] = { "profile", "The profile `p`",
                      "The first argument of `check`; the second are the parameters, by name.",
                      false },
    [API_QUERY] = { "query", "Queries",
                    "A query is rows of a table: all of them at first, fewer after `where` and "
                    "`top`. It runs over C columns; no column is copied.",
                    false },
    [API_IMPACT] = { "impact", "Prices",
                     "What a finding saves a step, and how that is known. Times are ns a step.",
                     false },
    [API_FMT] = { "fmt", "Numbers for people", "Three significant digits and the unit that fits.",
                  false },
    [API_STRING] = { "string", "Texts",
                     "Also as methods: `(\"%d\"):format(3)`. Patterns are PCRE2 (`\\\\d+`), not "
                     "Lua's; a text of more than 1 MiB is not searched.",
                     false },
    [API_TABLE] = { "table", "Tables", "For plain tables, without a metatable.", false },
    [API_MATH] = { "math", "Numbers", "No chance: a rule says the same each time.", false },
    [API_RULE] = { "rule", "Fields of a rule", "What the file returns: `return rule { … }`.",
                   true },
    [API_PARAM] = { "param", "Fields of a parameter", NULL, true },
    [API_FINDING] = { "finding", "Fields of a finding", NULL, true },
    [API_SUBJECT] = { "subject", "Fields of a subject",
                      "What a finding is about; it ranks and groups nothing, but suppressions and "
                      "baselines know findings by it.",
                      true },
    [API_LOCATION] = { "location", "Fields of a location", NULL, true },
    [API_EVIDENCE] = { "evidence", "Fields of a row of evidence",
                       "`{ \"what\", number, \"unit\", share = 0.3 }` or `{ \"what\", \"text\" }`.",
                       true },
    [API_REMEDY] = { "remedy", "Fields of a remedy", NULL, true },
    [API_PRICE] = { "price", "Fields of a price",
                    "What the functions of `impact` take; which of them need what stands there.",
                    true },
    [API_SELECT] = { "select", "Fields of a select",
                     "Which time of the step: all given ones must hold.", true },
    [API_EDIT] = { "edit", "Fields of an edit", "A kind and a select.", true },
    [API_SKIP] = { "skip", "Fields of a skip", NULL, true },
    [API_EXAMPLE] = { "example", "Fields of an example", "`tfprof rules test` runs them.", true },
    [API_GROUP] = { "group", "What query:group gives", "A list of these.", true },
};

#define FUNCTION(class, name, takes, gives, help) { class, name, NULL, takes, gives, help },
#define FIELD(class, name, type, help) { class, name, type, "", "", help },
const struct api_name api_names[] = {
#include "rules/api.def"
};
const size_t api_name_count = ARRAY_COUNT(api_names);
