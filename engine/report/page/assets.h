/* assets: style and script of the page, as the build packed them from assets/. */
#ifndef TFPROF_REPORT_PAGE_ASSETS_H
#define TFPROF_REPORT_PAGE_ASSETS_H

#include "base/str.h"

extern const struct str page_style, page_script;
extern const char       page_script_hash[]; /* "sha256-" and base64, for the page's policy */

#endif
