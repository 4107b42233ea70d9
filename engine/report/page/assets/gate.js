// The result of a gate: may it land, what was held, and what the change of a step is made of.
const OUTCOMES = { pass: 'passes', warn: 'warns', fail: 'fails', inconclusive: 'cannot tell' };

function checkRows(checks) {
  return checks.map((check) => el('tr', { class: check.outcome }, el('td', { class: 'outcome' }, OUTCOMES[check.outcome] || check.outcome),
    el('td', {}, keepUnits(check.title), check.detail ? el('p', { class: 'quiet' }, keepUnits(check.detail)) : null),
    el('td', { class: 'where' }, check.file ? named(check.file + (check.line ? ':' + check.line : '')) : '')));
}

function plainTable(label, heads, rows) {
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, el('table', { class: 'evidence' },
    el('thead', {}, el('tr', {}, heads.map((head) => el('th', { scope: 'col', class: head === 'change' ? 'number' : null }, head)))), el('tbody', {}, rows)));
}

function drawGateHead(gate) {
  const { step } = gate;
  const sides = step ? step.runs_before + ' and ' + step.runs_after + ' runs, ' + step.steps_before + ' and ' + step.steps_after + ' steps' : '';
  return el('header', { class: 'gate ' + gate.outcome },
    el('p', { class: 'quiet' }, el('bdi', {}, [gate.profile, gate.baseline && 'against ' + gate.baseline, sides].filter(Boolean).join(' · '))),
    el('h1', {}, keepUnits(gate.headline)),
    gate.likely_cause ? el('p', {}, gate.likely_cause) : null,
    gate.notes.length ? el('ul', { class: 'notes' }, gate.notes.map((note) =>
      el('li', {}, [note.side, note.where, note.what].filter(Boolean).join(': ')))) : null);
}

function drawGateParts(gate) {
  if (!gate.step || !gate.parts.length) return null;
  const change = { per: gate.step.of, step: { before_ns: gate.step.before_ms * 1e6, after_ns: gate.step.after_ms * 1e6 },
    parts: gate.parts.map((part) => ({ part: part.part, before_ns: part.before_ms * 1e6, after_ns: part.after_ms * 1e6 })) };
  return el('section', { id: 'parts' }, el('h2', {}, 'The ' + change.per + ' in parts'),
    sideBar('before', 'before_ns', change), sideBar('now', 'after_ns', change),
    changeTable('Part of the ' + change.per, change.parts, (row) => PARTS[row.part] || row.part, change, true));
}

function drawPieces(gate) {
  if (!gate.pieces.length) return null;
  const row = (what, ms) => el('tr', {}, el('td', { class: 'number' }, (ms > 0 ? '+' : '−') + show(Math.abs(ms), 'ms')), el('td', {}, what));
  return el('section', { id: 'pieces' }, el('h2', {}, 'What the change is made of'),
    plainTable('What the change is made of', ['change', 'what'], [gate.pieces.map((piece) => row(named(piece.title), piece.change_ms)),
      gate.rest_ms ? row('everything else', gate.rest_ms) : null]));
}

function drawGateLists(gate) {
  const list = (title, rows, words) => rows.length ? el('section', {}, el('h2', {}, title), el('ul', {}, rows.map((row) =>
    el('li', {}, named(words(row)), row.remedy ? el('p', { class: 'quiet' }, row.remedy.text || row.remedy) : null)))) : null;
  return el('div', { class: 'stack' }, list('What differs between the two', gate.differences, (row) => row.what + ' ' + row.after + ', was ' + row.before),
    list('Beside that', gate.changes, (row) => row.title), list('Advice that is new', gate.new_findings, (row) => row.title),
    list('No longer found', gate.fixed_findings, (row) => row.title),
    gate.command ? el('section', {}, el('h2', {}, 'See it here'), el('pre', { tabindex: 0 }, gate.command)) : null);
}

function drawGate(main, gate) {
  document.title = gate.headline + ' · tfprof';
  section(main, 'The verdict', () => drawGateHead(gate));
  section(main, 'The checks', () => el('section', { id: 'checks' }, el('h2', {}, 'Checks'),
    plainTable('Checks', ['outcome', 'what', 'where'], checkRows(gate.checks))));
  section(main, 'The parts', () => drawGateParts(gate));
  section(main, 'The pieces', () => drawPieces(gate));
  section(main, 'The lists', () => drawGateLists(gate));
  main.append(el('footer', { class: 'quiet' }, 'tfprof ' + gate.version));
}
