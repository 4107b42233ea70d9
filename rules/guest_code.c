#include "rules/guest_code.h"

#include "analyze/path/path.h"
#include "model/profile.h"

#include <math.h>
#include <string.h>

/* As many as the readers of rules allow. */
enum {
    MOST_NAMES = 1000,
    MOST_PARAMS = 1000,
    MOST_FINDINGS = 50,
    MOST_ROWS = 50,
    MOST_EDITS = 200
};

/* Goes over a list: `each` codes one item, which is pushed when it was read. */
#define CODE_LIST(coder, list, max, type, each)                                                    \
    for (size_t count_ = code_count((coder), (list)->count, (max)), i_ = 0;                        \
         i_ < count_ && !(coder)->is_bad; i_++) {                                                  \
        type item_ = { 0 };                                                                        \
        if (!(coder)->is_reading)                                                                  \
            item_ = (list)->items[i_];                                                             \
        each((coder), &item_);                                                                     \
        if ((coder)->is_reading && !vec_push((list), (coder)->arena, item_))                       \
            (coder)->is_bad = true;                                                                \
    }

static void code_name(struct coder *coder, const char **name)
{
    code_text(coder, name, true);
}

static void code_param(struct coder *coder, struct rule_param *param)
{
    code_text(coder, &param->name, true);
    code_text(coder, &param->doc, true);
    param->kind = (enum rule_param_kind)code_choice(coder, param->kind, RULE_PARAM_TEXT);
    param->unit = (enum unit)code_choice(coder, param->unit, UNIT_BOOL);
    code_number(coder, &param->number, CODER_FINITE);
    code_text(coder, &param->text, param->kind == RULE_PARAM_TEXT);
    code_number(coder, &param->min, CODER_ANY);
    code_number(coder, &param->max, CODER_ANY);
    code_number(coder, &param->strict, CODER_FINITE_OR_NAN);
}

static void code_info(struct coder *coder, struct rule_info *info)
{
    uint32_t all_formats = (1u << (FORMAT_KINETO + 1)) - 1;

    code_text(coder, &info->id, true);
    code_text(coder, &info->title, true);
    code_text(coder, &info->summary, true);
    code_text(coder, &info->version, true);
    code_text(coder, &info->category, true);
    code_text(coder, &info->cause, false);
    code_text(coder, &info->doc, false);
    info->severity = (enum severity)code_choice(coder, info->severity, SEVERITY_VETO);
    info->preset = (enum rule_preset)code_choice(coder, info->preset, PRESET_ALL);
    info->format_mask = code_choice(coder, info->format_mask, all_formats);
    CODE_LIST(coder, &info->needs, MOST_NAMES, const char *, code_name);
    CODE_LIST(coder, &info->tags, MOST_NAMES, const char *, code_name);
    CODE_LIST(coder, &info->more_specific_than, MOST_NAMES, const char *, code_name);
    CODE_LIST(coder, &info->params, MOST_PARAMS, struct rule_param, code_param);
}

void code_rule(struct coder *coder, struct rule *rule)
{
    code_text(coder, &rule->error, false);
    if (!rule->error)
        code_info(coder, &rule->info);
}

static void code_subject(struct coder *coder, struct subject *subject)
{
    enum { MOST = 1000000000 };

    code_text(coder, &subject->op, false);
    code_text(coder, &subject->kernel, false);
    code_text(coder, &subject->device, false);
    code_text(coder, &subject->host, false);
    code_text(coder, &subject->scope, false);
    code_int64(coder, &subject->rank, -1, (int64_t)MOST * 1000000);
    code_int64(coder, &subject->step, -1, (int64_t)MOST * 1000000);
}

static void code_location(struct coder *coder, struct location *location)
{
    code_text(coder, &location->file, true);
    code_text(coder, &location->function, false);
    code_uint32(coder, &location->line);
}

static void code_evidence(struct coder *coder, struct evidence *row)
{
    code_text(coder, &row->what, true);
    code_number(coder, &row->value, CODER_FINITE);
    row->unit = (enum unit)code_choice(coder, row->unit, UNIT_BOOL);
    code_text(coder, &row->text, row->unit == UNIT_NAME);
    code_number(coder, &row->share, CODER_FINITE_OR_NAN);
}

/* What read_finding.c makes sure of. */
static bool is_sound(const struct price_request *price)
{
    switch (price->method) {
    case METHOD_NONE:
    case METHOD_REPLAY:
        return true;
    case METHOD_SHARE:
    case METHOD_EXPOSED:
        return price->ns >= 0;
    case METHOD_ROOFLINE:
        return price->ns >= 0 && price->floor_ns >= 0;
    case METHOD_AMDAHL:
        return price->ns >= 0 && price->speedup >= 1;
    }
    return false;
}

static void code_price(struct coder *coder, struct price_request *price)
{
    price->method = (enum method)code_choice(coder, price->method, METHOD_REPLAY);
    code_number(coder, &price->ns, CODER_FINITE_OR_NAN);
    code_number(coder, &price->low_ns, CODER_FINITE_OR_NAN);
    code_number(coder, &price->high_ns, CODER_FINITE_OR_NAN);
    code_number(coder, &price->floor_ns, CODER_FINITE_OR_NAN);
    code_number(coder, &price->speedup, CODER_FINITE_OR_NAN);
    if (!is_sound(price))
        coder->is_bad = true;
}

static void code_edit(struct coder *coder, struct edit *edit)
{
    edit->kind = (enum edit_kind)code_choice(coder, edit->kind, EDIT_STEP);
    code_uint32(coder, &edit->select.part_mask);
    code_uint32(coder, &edit->select.kind_mask);
    code_text(coder, &edit->select.name, false);
    code_text(coder, &edit->select.op_type, false);
    code_text(coder, &edit->select.stage, false);
    code_uint32(coder, &edit->select.host);
    code_uint32(coder, &edit->select.cell);
    code_number(coder, &edit->factor, CODER_FINITE);
    code_number(coder, &edit->ns, CODER_FINITE);
    if (edit->factor < 0 || edit->ns < 0)
        coder->is_bad = true;
}

static void code_finding(struct coder *coder, struct finding *finding)
{
    code_text(coder, &finding->title, true);
    finding->severity = (enum severity)code_choice(coder, finding->severity, SEVERITY_VETO);
    code_text(coder, &finding->category, true);
    code_subject(coder, &finding->subject);
    CODE_LIST(coder, &finding->locations, MOST_ROWS, struct location, code_location);
    CODE_LIST(coder, &finding->evidence, MOST_ROWS, struct evidence, code_evidence);
    code_text(coder, &finding->condition, true);
    code_text(coder, &finding->remedy_text, true);
    code_text(coder, &finding->remedy_code, false);
    code_text(coder, &finding->remedy_flags, false);
    if (finding->evidence.count == 0)
        coder->is_bad = true;
}

static void code_draft(struct coder *coder, struct draft *draft)
{
    code_finding(coder, &draft->finding);
    code_price(coder, &draft->price);
    code_price(coder, &draft->fallback);
    draft->confidence = (enum confidence)code_choice(coder, draft->confidence, CONFIDENCE_HIGH);
    code_text(coder, &draft->resource, false);
    CODE_LIST(coder, &draft->edits.edits, MOST_EDITS, struct edit, code_edit);
    CODE_LIST(coder, &draft->claims.edits, MOST_EDITS, struct edit, code_edit);
    if (draft->price.method == METHOD_REPLAY && draft->edits.edits.count == 0)
        coder->is_bad = true;
}

void code_run(struct coder *coder, const struct rule *rule, struct rule_run *run)
{
    run->outcome = (enum rule_outcome)code_choice(coder, run->outcome, RULE_FAILED);
    code_text(coder, &run->reason, run->outcome == RULE_SKIPPED || run->outcome == RULE_FAILED);
    code_text(coder, &run->capture, false);
    CODE_LIST(coder, &run->drafts, MOST_FINDINGS, struct draft, code_draft);
    for (size_t i = 0; coder->is_reading && i < run->drafts.count; i++) {
        run->drafts.items[i].rule = rule;
        run->drafts.items[i].finding.rule = rule->info.id;
    }
    if ((run->outcome == RULE_FOUND) != (run->drafts.count > 0))
        coder->is_bad = true;
}
