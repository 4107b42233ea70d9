// A column a step, stacked by part.
const MOST_COLUMNS = 120;

// [number, [[part, ns], …]] of each step looked at; "idle_ns" is of the part "idle.other".
function stepRows(table) {
  const number = table.columns.findIndex((column) => column.name === 'number');
  const parts = table.columns.map((column, at) => ({ at, part: column.name.replace(/_ns$/, '').replace(/^idle$/, 'idle.other') }))
    .filter(({ part }) => part in PARTS);
  return number < 0 ? [] : table.rows.map((row) => [row[number], parts.map(({ at, part }) => [part, row[at] || 0])]);
}

function stepColumn([number, parts], x, width, scale, go) {
  const made = svg('g', {});
  const order = Object.keys(PARTS);
  let y = 160;
  for (const [part, ns] of parts.sort((a, b) => order.indexOf(a[0]) - order.indexOf(b[0]))) {
    const height = ns * scale;
    y -= height;
    made.append(svg('rect', { x, y: y.toFixed(2), width: width.toFixed(2), height: Math.max(0, height).toFixed(2),
      'data-part': part }, svg('title', {}, 'step ' + number + ': ' + (PARTS[part] || part) + ' ' + show(ns, 'ns'))));
  }
  if (go) made.addEventListener('click', () => go(number));
  return made;
}

function drawSteps(tables, go) {
  const table = tables.find((one) => one.name === 'step_parts');
  const steps = table ? stepRows(table) : [];
  if (steps.length < 2) return null;
  const shown = steps.slice(0, MOST_COLUMNS);
  const sums = shown.map(([, parts]) => parts.reduce((sum, [, ns]) => sum + ns, 0));
  const scale = 156 / Math.max(...sums);
  const width = Math.min(34, 1000 / shown.length);
  return el('section', { id: 'steps' }, el('h2', {}, 'Steps'),
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Time of each step by part' },
      svg('svg', { class: 'steps', viewBox: '0 0 ' + (shown.length * width).toFixed(0) + ' 160', width: (shown.length * width).toFixed(0),
        height: 160, role: 'img', 'aria-label': shown.length + ' steps from ' + show(Math.min(...sums), 'ns') + ' to ' +
        show(Math.max(...sums), 'ns') }, shown.map((step, i) => stepColumn(step, (i * width + 1).toFixed(2), Math.max(1, width - 2), scale, go)))),
    el('p', { class: 'quiet' }, 'Steps ' + shown[0][0] + ' to ' + shown.at(-1)[0] + ', the longest ' + show(Math.max(...sums), 'ns') +
      (steps.length > shown.length ? '; ' + (steps.length - shown.length) + ' more in the table step_parts' : '') +
      (go ? '. Choose one to see it in the timeline.' : '.')));
}
