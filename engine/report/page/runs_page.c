#include "report/page/runs_page.h"

#include "base/json_fields.h"
#include "base/unit.h"

#include <string.h>
#include <time.h>

/* For the query of an address (RFC 3986). */
static void add_query(struct text *text, const char *s)
{
    static const char plain[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";

    for (; *s; s++) {
        if (strchr(plain, *s))
            text_add_byte(text, *s);
        else
            text_print(text, "%%%02X", (unsigned)(unsigned char)*s);
    }
}

static void add_time(struct text *text, int64_t seconds)
{
    time_t    time = (time_t)seconds;
    struct tm parts;
    char      words[40];

    if (gmtime_r(&time, &parts) && strftime(words, sizeof words, "%Y-%m-%dT%H:%M:%SZ", &parts))
        text_add(text, str_from(words));
}

static void begin(const char *title, struct text *text)
{
    text_add(text, STR("<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">"
                       "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">"
                       "<meta name=\"color-scheme\" content=\"light dark\"><title>"));
    text_add_xml(text, str_from(title));
    text_add(
        text,
        STR("</title><style>body{font:16px/1.5 system-ui,sans-serif;margin:2rem auto;"
            "max-width:60rem;padding:0 1rem;color:CanvasText;background:Canvas}"
            "h1{font-size:1.4rem;overflow-wrap:anywhere}table{border-collapse:collapse;width:100%}"
            "th,td{text-align:left;padding:.4rem .8rem .4rem 0;"
            "border-bottom:1px solid color-mix(in srgb,CanvasText 20%,Canvas);vertical-align:top}"
            "td:first-child{overflow-wrap:anywhere}td.n,th.n{text-align:right;white-space:nowrap}"
            "td.t{white-space:nowrap}pre{white-space:pre-wrap}</style></head><body><main><h1>"));
    text_add_xml(text, str_from(title));
    text_add(text, STR("</h1>"));
}

static void add_row(const struct run_entry *run, struct text *text)
{
    text_add(text, STR("<tr><td><a href=\"report?run="));
    add_query(text, run->title);
    text_add(text, STR("\">"));
    text_add_xml(text, str_from(run->title));
    text_add(text, STR("</a></td><td class=\"t\"><time>"));
    add_time(text, run->modified_s);
    text_print(text, "</time></td><td>%s</td><td class=\"n\">%zu</td><td class=\"n\">", run->format,
               run->files);
    unit_print(text, (double)run->bytes, UNIT_BYTES);
    text_add(text, STR("</td><td><a href=\"advice?run="));
    add_query(text, run->title);
    text_add(text, STR("\">JSON</a></td></tr>"));
}

void runs_page(const char *folder, const struct run_entry *runs, size_t count, const char *trouble,
               struct text *text)
{
    begin(folder, text);
    if (count == 0)
        text_add(text, STR("<p>No recording yet. Load this page again once there is one.</p>"));
    if (trouble) {
        text_add(text, STR("<p role=\"alert\">"));
        text_add_xml(text, str_from(trouble));
        text_add(text, STR("</p>"));
    }
    if (count > 0)
        text_add(text, STR("<table><thead><tr><th>Recording</th><th>Written (UTC)</th><th>Format"
                           "</th><th class=\"n\">Files</th><th class=\"n\">Size</th><th>Advice</th>"
                           "</tr></thead><tbody>"));
    for (size_t i = 0; i < count; i++)
        add_row(&runs[i], text);
    if (count > 0)
        text_add(text, STR("</tbody></table>"));
    text_add(text, STR("</main></body></html>\n"));
}

void trouble_page(const char *title, struct str words, struct text *text)
{
    begin(title, text);
    text_add(text, STR("<pre role=\"alert\">"));
    text_add_xml(text, words);
    text_add(text, STR("</pre><p><a href=\".\">All recordings</a></p></main></body></html>\n"));
}

void runs_json(const struct run_entry *runs, size_t count, struct text *text)
{
    struct json_writer json = { .text = text };

    json_array(&json);
    for (size_t i = 0; i < count; i++) {
        json_object(&json);
        put_text(&json, "run", runs[i].title);
        put_text(&json, "format", runs[i].format);
        put_integer(&json, "modified_s", runs[i].modified_s);
        put_integer(&json, "files", (int64_t)runs[i].files);
        put_integer(&json, "bytes", (int64_t)runs[i].bytes);
        json_object_end(&json);
    }
    json_array_end(&json);
    text_add_byte(text, '\n');
}
