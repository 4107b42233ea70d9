/* rule_template: the rule that `tfprof rules new` writes. */
#include "rules/catalogue.h"

static const char head[] = "-- Waiting for input takes much of each step.\n"
                           "-- The line above says in one sentence what the rule sees.\n"
                           "return rule {\n";

static const char body[] =
    "  api = 1, version = \"0.1.0\",\n"
    "  title = \"Waiting for input takes much of each step\",\n"
    "  category = \"input\", severity = \"warn\",\n"
    "  -- Facts and tables it looks at; docs/facts.md lists them. A profile that lacks one skips\n"
    "  -- the rule and says why.\n"
    "  needs = { \"step.ns\", \"part.input_ns\" },\n"
    "  params = {\n"
    "    min_share = { default = 0.1, min = 0, max = 1, unit = \"share\",\n"
    "                  doc = \"share of the step from which this is a problem\" },\n"
    "  },\n"
    "  doc = [[\n"
    "Why it matters, how the price comes about, and when the rule keeps silent.]],\n"
    "\n"
    "  check = function(p, cfg)\n"
    "    local step_ns, input_ns = p.fact[\"step.ns\"], p.fact[\"part.input_ns\"]\n"
    "    local share = input_ns / step_ns\n"
    "    if share < cfg.min_share then return nil end\n"
    "\n"
    "    return finding {\n"
    "      title = (\"Waiting for input takes %s of each step\"):format(fmt.ms(input_ns)),\n"
    "      evidence = { { \"waiting for input a step\", input_ns, \"ns\", share = share } },\n"
    "      condition = (\"%s of the step, %s accepted\"):format(fmt.pct(share),\n"
    "                                                          fmt.pct(cfg.min_share)),\n"
    "      remedy = { text = \"Say what to do, and show it.\", code = \"ds = ds.prefetch(2)\" },\n"
    "      -- The engine replays the step with this edit and takes the difference.\n"
    "      impact = impact.replay {\n"
    "        { \"scale\", parts = { \"input\" }, factor = 0 },\n"
    "        fallback = impact.exposed { ns = input_ns },\n"
    "      },\n"
    "      confidence = \"medium\",\n"
    "    }\n"
    "  end,\n"
    "\n"
    "  -- `tfprof rules test` runs these, and changes their numbers to see that one notices. It\n"
    "  -- also runs profiles sketched in a few lines of text: *.synth files here (docs/synth.md).\n"
    "  examples = {\n"
    "    { name = \"just above the threshold\", finding = true, impact_ns = 1.1e6,\n"
    "      facts = { [\"step.ns\"] = 1e7, [\"part.input_ns\"] = 1.2e6 },\n"
    "      replay = { 1.2e6 } },\n"
    "    { name = \"just below it\", finding = false,\n"
    "      facts = { [\"step.ns\"] = 1e7, [\"part.input_ns\"] = 0.8e6 } },\n"
    "  },\n"
    "}\n";

void rule_template(const char *id, struct text *script)
{
    text_print(script, "%s  id = \"%s\",\n%s", head, id, body);
}
