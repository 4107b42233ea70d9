/* names: words of rules to enumerations; -1: no such word. */
#ifndef TFPROF_RULES_NAMES_H
#define TFPROF_RULES_NAMES_H

int         severity_from_name(const char *name);
int         method_from_name(const char *name);
int         confidence_from_name(const char *name);
int         rule_format_from_name(const char *name); /* enum profile_format */

#endif
