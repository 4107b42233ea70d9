/*
 * hlo_attrs: what a program's instructions say besides shapes, as attributes of their ops: which
 * parameters of the entry there are and which of them are given away to a result ("entry",
 * "donated"), the entry's result ("root"), on how many devices it runs that all get the same
 * arguments
 * ("copies", there), the groups of collectives ("group", "group_size"), and axes (hlo_axes.h).
 */
#ifndef TFPROF_READ_HLO_ATTRS_H
#define TFPROF_READ_HLO_ATTRS_H

#include "model/profile.h"

/* `module`: an HloModuleProto whose ops are in the profile; `rows` as hlo_add fills it, `key` the
 * module's in it. Damage ends it early. false: the budget. */
bool hlo_attrs_add(struct str module, struct profile *profile, const struct id_map *rows,
                   uint32_t key);

/* One attribute, right behind others of the op. false: the budget. */
bool hlo_attr_add(struct profile *profile, struct op *op, const char *name, struct str value);

#endif
