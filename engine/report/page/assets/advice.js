// From the top: what the recording is, what limits it, what to change.
const PARTS = {
  input: 'input wait', compute: 'compute', communication: 'exposed communication', copy: 'exposed copies',
  compile: 'compiling, loading', host: 'host, Python', 'idle.launch': 'idle, waits for launches',
  'idle.sync': 'idle, synchronising', 'idle.dependency': 'idle, waits for other work', 'idle.other': 'idle, other',
  output: 'output', unknown: 'unknown',
};

const FORMATS = { xspace: 'XSpace', kineto: 'Kineto trace', graph: 'TensorFlow graph', profile: 'tfprof profile' };
const METHODS = { exposed: 'time nothing else hides', amdahl: 'a stated speed-up', share: 'share of the step' };

function headLine(advice) {
  const { profile, steps } = advice;
  const accelerators = profile.devices.filter((device) => device.kind !== 'cpu');
  const devices = accelerators.length === 0 ? 'CPU only'
    : accelerators.length + ' × ' + (accelerators[0].model || accelerators[0].kind.toUpperCase());
  const range = steps.source === 'whole-trace' ? 'no steps marked: the whole trace'
    : !steps.used ? 'no step could be used'
    : steps.used === 1 ? 'step ' + steps.first : 'steps ' + steps.first + '…' + steps.last;
  const how = steps.source === 'inferred' && steps.used ? ' (inferred)' : '';
  return [profile.name, FORMATS[profile.format] || profile.format, profile.framework,
    profile.hosts + (profile.hosts === 1 ? ' host' : ' hosts'), devices, range + how].filter(Boolean).join(' · ');
}

function drawHead(advice) {
  const visible = advice.findings.filter((finding) => !finding.hidden_by && finding.impact.method !== 'none');
  const last = advice.together[Math.min(visible.length, advice.together.length) - 1];
  const step = advice.steps.wall_ms.median;
  return el('header', {},
    el('p', { class: 'quiet' }, el('bdi', {}, headLine(advice))),
    el('h1', {}, keepUnits(advice.verdict.text || 'Unknown.')),
    last && step ? el('p', { class: 'together' }, show(step, 'ms') + ' a step → ' + show(last.step_ms, 'ms') + ' with the first ' +
      (last.fixed.length === 1 ? 'fix' : last.fixed.length + ' fixes') + ' (' + last.speedup.toFixed(2) +
      ' times as fast)') : null,
    advice.profile.notes.length ? el('ul', { class: 'notes' }, advice.profile.notes.map((note) =>
      el('li', {}, [note.where, note.what].filter(Boolean).join(': ') + (note.count > 1 ? ' (' + note.count + ')' : '')))) : null);
}

function meter(impact, step) {
  const low = 100 * impact.low_ms / step, high = Math.min(100, 100 * impact.high_ms / step);
  return el('div', { class: 'meter', 'aria-hidden': 'true' },
    el('i', { style: 'left:0;width:' + low.toFixed(2) + '%' }),
    el('b', { style: 'left:' + low.toFixed(2) + '%;width:' + (high - low).toFixed(2) + '%' }));
}

function evidenceTable(evidence) {
  const hasShares = evidence.some((row) => row.share !== undefined);
  return el('div', { class: 'scroll' }, el('table', { class: 'evidence' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Evidence'), el('th', { scope: 'col', class: 'number' }, 'Value'),
      hasShares ? el('th', { scope: 'col', class: 'number' }, 'Share') : null)),
    el('tbody', {}, evidence.map((row) => el('tr', {}, el('td', {}, named(row.what)),
      el('td', { class: typeof row.value === 'string' ? '' : 'number' }, named(show(row.value, row.unit))),
      hasShares ? el('td', { class: 'number' }, row.share === undefined ? '' : show(row.share, 'share')) : null)))));
}

function copyButton(text) {
  const button = el('button', { type: 'button', onclick: () => {
    navigator.clipboard?.writeText(text).then(() => { button.textContent = 'copied'; }, () => {});
  } }, 'copy');
  return button;
}

function findingBody(finding, find) {
  const { impact, remedy } = finding;
  const places = finding.locations.map((at) => at.file + ':' + at.line + (at.function ? ' in ' + at.function : ''));
  const subject = finding.subject && (finding.subject.kernel || finding.subject.op);
  return el('div', { class: 'body' },
    el('p', { class: 'quiet' }, [finding.rule, finding.severity,
      impact.method === 'none' ? null : (impact.confidence || '') + ' confidence',
      impact.method === 'none' ? null : 'by ' + (METHODS[impact.method] || impact.method)].filter(Boolean).join(' · ')),
    places.length ? el('p', { class: 'where' }, places.slice(0, 5).map((place) => el('div', {}, named(place)))) : null,
    remedy && remedy.text ? el('p', {}, keepUnits(remedy.text)) : null,
    remedy && remedy.code ? el('div', { class: 'code' }, copyButton(remedy.code), el('pre', { tabindex: 0 }, remedy.code)) : null,
    finding.condition ? el('p', { class: 'quiet' }, 'Said because ' + keepUnits(finding.condition)) : null,
    finding.evidence.length ? evidenceTable(finding.evidence) : null,
    find && (subject || finding.seen) ? el('button', { type: 'button', onclick: () => find(subject, finding.seen) }, 'see it in the timeline')
      : null);
}

function drawFinding(finding, step, isOpen, find) {
  const { impact } = finding;
  const isPriced = impact.method !== 'none' && impact.mid_ms !== undefined;
  const made = el('details', { class: 'finding ' + finding.severity, open: isOpen },
    el('summary', {}, el('span', { class: 'title' }, named(keepUnits(finding.title))),
      isPriced ? el('span', { class: 'saves' }, impact.method === 'share' ? 'may save up to ' + show(impact.high_ms, 'ms') + ' a step'
        : 'saves ' + showRange(impact.low_ms, impact.high_ms) + ' a step (' + show(impact.share, 'share') + ')') : null,
      isPriced && step ? meter(impact, step) : null),
    findingBody(finding, find));
  made.finding = finding;
  return made;
}

// Beside the evidence of each finding, once it is open, the part of the timeline that it is about.
function addCutouts(slices, origin) {
  for (const one of document.querySelectorAll('details.finding')) {
    const add = () => {
      const made = one.finding.seen && drawCutout(slices, origin, one.finding.seen);
      if (made) one.querySelector('.body').append(made);
    };
    if (one.open) add();
    else one.addEventListener('toggle', add, { once: true });
  }
}

function drawFindings(advice, find) {
  const shown = advice.findings.filter((finding) => !finding.hidden_by);
  const priced = shown.filter((finding) => finding.impact.method !== 'none' && !finding.impact.resource);
  const others = shown.filter((finding) => !priced.includes(finding));
  const step = advice.steps.wall_ms.median;
  const { coverage } = advice;
  return el('section', { id: 'findings' }, el('h2', {}, 'What to change'),
    priced.map((finding, i) => drawFinding(finding, step, i === 0, find)),
    priced.length === 0 ? el('p', {}, coverage.looked + ' of ' + coverage.rules + ' rules looked and found nothing that would save time.') : null,
    others.length ? el('details', { class: 'others' }, el('summary', {}, others.length + ' without a price'),
      others.map((finding) => drawFinding(finding, 0, false, find))) : null);
}

function drawComposition(advice) {
  if (!advice.composition.length) return null;
  const rows = advice.composition;
  return el('section', { id: 'composition' }, el('h2', {}, 'What a step is made of'),
    el('div', { class: 'bar', 'aria-hidden': 'true' }, rows.map((row) => el('i', { 'data-part': row.part,
      style: 'flex-grow:' + row.share.toFixed(5), title: (PARTS[row.part] || row.part) + ' ' + show(row.ms, 'ms') },
      row.share > 0.12 ? el('span', {}, PARTS[row.part] || row.part) : null))),
    el('table', { class: 'parts' }, el('tbody', {}, rows.map((row) => el('tr', {},
      el('td', {}, el('i', { class: 'swatch', 'data-part': row.part }), PARTS[row.part] || row.part),
      el('td', { class: 'number' }, show(row.ms, 'ms')), el('td', { class: 'number' }, show(row.share, 'share')))),
      el('tr', { class: 'sum' }, el('td', {}, 'step'), el('td', { class: 'number' },
        show(rows.reduce((sum, row) => sum + row.ms, 0), 'ms')), el('td', {}, '')))));
}

function drawCoverage(advice) {
  const { coverage } = advice;
  const reasons = new Map();
  for (const skipped of coverage.skipped)
    reasons.set(skipped.reason, [...reasons.get(skipped.reason) || [], skipped.rule]);
  const groups = [...reasons].sort((a, b) => b[1].length - a[1].length);
  return el('section', { id: 'coverage' }, el('h2', {}, 'What was looked at'),
    el('p', {}, coverage.looked + ' of ' + coverage.rules + ' rules looked: ' + coverage.found + ' found something. ' +
      coverage.skipped.length + ' could not look.'),
    coverage.failed.length ? el('ul', {}, coverage.failed.map((row) => el('li', {}, 'Rule failed: ' + row.rule + ': ' + row.message))) : null,
    groups.length ? el('details', {}, el('summary', {}, 'Why rules could not look'), el('ul', {}, groups.map(([reason, rules]) =>
      el('li', {}, reason + ' (' + rules.length + ')', el('div', { class: 'quiet' }, rules.join(', ')))))) : null);
}
