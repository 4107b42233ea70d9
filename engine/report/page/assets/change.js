// Two recordings side by side: what a step was made of before, what it is now, and what the difference is.
const MOST_CHANGES = 25;
const CHANGE_LISTS = { type: 'By type', scope: 'By scope', line: 'By line of the program' };

function showChange(before, after) {
  const change = after - before;
  return (change > 0 ? '+' : change < 0 ? '−' : '') + show(Math.abs(change), 'ns');
}

function sideBar(name, key, change) {
  const longest = Math.max(change.step.before_ns, change.step.after_ns), step = change.step[key];
  return el('div', { class: 'side' },
    el('div', { class: 'sides' }, named(name), el('span', { class: 'number' }, show(step, 'ns'))),
    el('div', { class: 'bar', 'aria-hidden': 'true', style: 'width:' + (100 * step / longest).toFixed(2) + '%' },
      change.parts.filter((row) => row[key] > 0).map((row) => el('i', { 'data-part': row.part,
        style: 'flex-grow:' + (row[key] / step).toFixed(5), title: (PARTS[row.part] || row.part) + ' ' + show(row[key], 'ns') }))));
}

function changeRows(rows, first) {
  return rows.map((row) => el('tr', {}, el('td', {}, el('i', { class: 'swatch', 'data-part': row.part }), first(row)),
    el('td', { class: 'number' }, show(row.before_ns, 'ns')), el('td', { class: 'number' }, show(row.after_ns, 'ns')),
    el('td', { class: 'number' }, showChange(row.before_ns, row.after_ns))));
}

function changeTable(label, rows, first, change, isWhole) {
  const shown = rows.slice(0, MOST_CHANGES);
  const rest = (key) => change.step[key] - shown.reduce((sum, row) => sum + row[key], 0);
  const others = isWhole && rows.length > shown.length ? el('tr', {}, el('td', {}, 'all others'),
    el('td', { class: 'number' }, show(rest('before_ns'), 'ns')), el('td', { class: 'number' }, show(rest('after_ns'), 'ns')),
    el('td', { class: 'number' }, showChange(rest('before_ns'), rest('after_ns')))) : null;
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, el('table', { class: 'parts changes' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, label), ['before', 'after', 'change'].map((name) =>
      el('th', { scope: 'col', class: 'number' }, name)))),
    el('tbody', {}, changeRows(shown, first), others, isWhole ? el('tr', { class: 'sum' }, el('td', {}, change.per),
      el('td', { class: 'number' }, show(change.step.before_ns, 'ns')), el('td', { class: 'number' }, show(change.step.after_ns, 'ns')),
      el('td', { class: 'number' }, showChange(change.step.before_ns, change.step.after_ns))) : null)));
}

function drawChange(change) {
  if (!change) return null;
  const { before_ns, after_ns } = change.step, before = change.before.profile.name, after = change.after.profile.name;
  const words = Math.abs(after_ns - before_ns) < 0.005 * before_ns ? 'as long as before'
    : after_ns > before_ns ? (after_ns / before_ns).toFixed(2) + ' times as long as before'
    : (before_ns / after_ns).toFixed(2) + ' times as fast as before';
  return el('section', { id: 'change' }, el('h2', {}, 'What changed'),
    el('p', {}, 'A ' + change.per + ' took ' + show(before_ns, 'ns') + ' and takes ' + show(after_ns, 'ns') + ': ' + words + '.'),
    sideBar('before: ' + before, 'before_ns', change), sideBar('after: ' + after, 'after_ns', change),
    changeTable('Part of the ' + change.per, change.parts, (row) => PARTS[row.part] || row.part, change, true),
    Object.entries(CHANGE_LISTS).filter(([key]) => change[key]?.length).map(([key, label]) => el('details', {}, el('summary', {}, label),
      changeTable(label, change[key], (row) => named(row.name), change, change.lists_sum_to_step))));
}
