// Charts of tables: memory over time, ranks by steps, ops under the roofs of the device.
// As wide as the screen, up to a column of text: scaled down, their words could not be read.
const CHART = { width: Math.max(360, Math.min(1000, innerWidth - 32)), height: 260, left: 96, right: 48, top: 10, bottom: 30 };
const MOST_POINTS = 400, MOST_HEAT_COLUMNS = 200, MOST_ALLOCATORS = 2, MOST_HOLDERS = 9, MOST_RANK_BARS = 256;

const columnOf = (table, name) => table.columns.findIndex((column) => column.name === name);
const tableOf = (tables, name) => tables.find((table) => table.name === name && table.rows.length);

// Rows as objects of the columns that are asked for.
function records(table, ...names) {
  const at = names.map((name) => columnOf(table, name));
  return table.rows.map((row) => Object.fromEntries(names.map((name, i) => [name, at[i] < 0 ? null : row[at[i]]])));
}

function linearScale(low, high, from, to) {
  const span = high - low || 1;
  return (value) => from + (value - low) / span * (to - from);
}

function logScale(low, high, from, to) {
  const scale = linearScale(Math.log10(low), Math.log10(high), from, to);
  return (value) => scale(Math.log10(value));
}

function linearTicks(low, high, pixels, factor = 1) {
  const step = niceStep((high - low) / factor, pixels) * factor, ticks = [];
  for (let at = Math.ceil(low / step) * step; at <= high; at += step) ticks.push(at);
  return ticks;
}

function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.ceil(Math.log10(low)); power <= Math.log10(high); power++) ticks.push(10 ** power);
  return ticks;
}

// Powers of ten around all of `values`, so that each end of an axis has a number.
const wholeDecades = (values) => [10 ** Math.floor(Math.log10(Math.min(...values) / 1.2)), 10 ** Math.ceil(Math.log10(Math.max(...values) * 1.2))];

// The frame of a chart: lines and words at both axes.
function chartFrame(label, xs, ys, x, y, words) {
  const { width, height, left, right, bottom } = CHART;
  return svg('svg', { class: 'chart', viewBox: '0 0 ' + width + ' ' + height, role: 'img', 'aria-label': label },
    ys.map((at) => [svg('line', { class: 'rule', x1: left, x2: width - right, y1: y(at).toFixed(1), y2: y(at).toFixed(1) }),
      svg('text', { x: left - 6, y: (y(at) + 4).toFixed(1), style: 'text-anchor:end' }, words.y(at))]),
    xs.map((at) => svg('text', { x: x(at).toFixed(1), y: height - bottom + 18, style: 'text-anchor:middle' }, words.x(at))));
}

const scrolled = (label, chart) => el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, chart);

// What is in use stays so until the next moment: a line of steps.
function stepPath(points, x, y, name) {
  let path = '';
  for (const point of points) {
    if (point[name] === null || point[name] === undefined) continue;
    const at = x(point.time_ns).toFixed(1), high = y(point[name]).toFixed(1);
    path += path ? 'H' + at + 'V' + high : 'M' + at + ' ' + high;
  }
  return path;
}

function memoryChart(name, points, go) {
  const { width, height, left, right, top, bottom } = CHART;
  const most = Math.max(...points.map((point) => Math.max(point.bytes, point.reserved_bytes ?? 0)));
  const first = points[0].time_ns, last = points.at(-1).time_ns;
  const x = linearScale(first, last, left, width - right), y = linearScale(0, most * 1.05, height - bottom, top);
  const peak = points.reduce((best, point) => (point.bytes >= best.bytes ? point : best));
  const label = name + ': at most ' + show(peak.bytes, 'bytes') + ' in use, at ' + show(peak.time_ns, 'ns');
  const frame = chartFrame(label, linearTicks(first, last, width - left), linearTicks(0, most * 1.05, 3 * height, SCALES.bytes
    .find(([size]) => most >= size)?.[0] ?? 1), x, y, { x: (at) => show(at, 'ns'), y: (at) => show(at, 'bytes') });
  const used = stepPath(points, x, y, 'bytes');
  frame.append(svg('path', { class: 'area', d: used + 'V' + (height - bottom) + 'H' + left + 'Z' }),
    svg('path', { class: 'line', d: used }), svg('path', { class: 'line quieter', d: stepPath(points.filter((point) => point.reserved_bytes > 0), x, y, 'reserved_bytes') }),
    svg('circle', { class: 'dot', cx: x(peak.time_ns).toFixed(1), cy: y(peak.bytes).toFixed(1), r: 4 }, svg('title', {}, label)));
  if (go) frame.addEventListener('click', () => go(peak.time_ns));
  return [el('p', {}, named(label), points.some((point) => point.reserved_bytes > 0)
    ? '; the dashed line is what the allocator holds' : '', '.'), scrolled(name + ' over time', frame)];
}

// "12 others": a row that sums what has none of its own.
const isRest = ({ owner }) => /^\d+ others$/.test(owner ?? '') ? 1 : 0;

function restOf(rows) {
  const sum = (name) => rows.reduce((all, row) => all + (row[name] || 0), 0);
  const owners = rows.reduce((all, row) => all + (isRest(row) ? parseInt(row.owner, 10) : 1), 0);
  return { owner: owners + ' others', region: null, bytes: sum('bytes'), share: sum('share'), count: sum('count') };
}

function holders(tables, name, { allocator, device, host }) {
  const table = tableOf(tables, 'memory_owners');
  const rows = table ? records(table, 'owner', 'region', 'bytes', 'count', 'share', 'allocator', 'device', 'host')
    .filter((row) => row.allocator === allocator && row.device === device && row.host === host).sort((a, b) => isRest(a) - isRest(b) || b.bytes - a.bytes) : [];
  if (rows.length > MOST_HOLDERS) rows.splice(MOST_HOLDERS - 1, rows.length - MOST_HOLDERS, restOf(rows.slice(MOST_HOLDERS - 1)));
  return rows.length === 0 ? null : el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Who holds ' + name + ' at the peak' },
    el('table', { class: 'evidence owners' },
      el('thead', {}, el('tr', {}, ['Alive at the peak', 'Region'].map((text) => el('th', { scope: 'col' }, text)),
        ['Bytes', 'Share', 'Blocks'].map((text) => el('th', { scope: 'col', class: 'number' }, text)))),
      el('tbody', {}, rows.map((row) => el('tr', {}, el('td', {}, scoped(row.owner ?? 'unknown', 120)), el('td', {}, named(row.region ?? '')),
        el('td', { class: 'number' }, show(row.bytes, 'bytes')), el('td', { class: 'number' }, show(row.share, 'share')),
        el('td', { class: 'number' }, show(row.count, 'count')))))));
}

// One chart an allocator, devices first; allocators of a few moments or bytes draw nothing that a number does not say.
function drawMemory(tables, goTime) {
  const table = tableOf(tables, 'memory_use');
  if (!table) return null;
  const groups = new Map();
  for (const point of records(table, 'time_ns', 'allocator', 'device', 'host', 'bytes', 'reserved_bytes')) {
    const key = JSON.stringify([point.allocator, point.device, point.host]);
    groups.set(key, [...groups.get(key) || [], point]);
  }
  const peak = (points) => Math.max(...points.map((point) => point.bytes)), most = Math.max(...[...groups.values()].map(peak));
  const all = [...groups.values()].filter((points) => points.length > 3 && peak(points) >= most / 100), shown = all.slice(0, MOST_ALLOCATORS);
  if (!shown.length) return null;
  return el('section', { id: 'memory' }, el('h2', {}, 'Memory'), shown.map((points) => {
    const { allocator, device, host } = points[0];
    const name = [host, /^\d*$/.test(allocator ?? '') ? 'memory ' + (allocator ?? '') : allocator, device ?? 'host memory'].filter(Boolean).join(' · ');
    return [memoryChart(name, points, goTime), holders(tables, name, points[0])];
  }), all.length > shown.length ? el('p', { class: 'quiet' }, 'Of ' + all.length + ' allocators those with the largest peaks; all of them: table memory use.') : null);
}

// A row a rank or host, a column a step: the stronger its colour, the longer.
function drawRanks(tables, go) {
  const table = tableOf(tables, 'steps');
  const rows = table ? records(table, 'number', 'host', 'rank', 'duration_ns')
    .map((row) => ({ ...row, host: [row.host, row.rank === null ? null : 'rank ' + row.rank].filter(Boolean).join(' · ') })) : [];
  const hosts = [...new Set(rows.map((row) => row.host))], numbers = [...new Set(rows.map((row) => row.number))]
    .sort((a, b) => a - b).slice(0, MOST_HEAT_COLUMNS);
  if (hosts.length < 2 || numbers.length < 2) return null;
  const times = rows.map((row) => row.duration_ns).sort((a, b) => a - b);
  const low = times[0], high = times.at(-1), left = Math.min(160, 0.3 * CHART.width), high1 = Math.max(4, Math.min(22, 600 / hosts.length));
  const wide = Math.min(40, (CHART.width - left) / numbers.length);
  const strength = linearScale(low, high, 0.08, 1);
  const chart = svg('svg', { class: 'chart heat', viewBox: '0 0 ' + CHART.width + ' ' + (hosts.length * high1 + 4).toFixed(0), role: 'img',
    'aria-label': hosts.length + ' hosts or ranks by ' + numbers.length + ' steps, from ' + show(low, 'ns') + ' to ' + show(high, 'ns') });
  if (high1 >= 12)
    hosts.forEach((host, at) => chart.append(svg('text', { x: left - 8, y: (at * high1 + high1 / 2 + 4).toFixed(1), style: 'text-anchor:end' },
      cut(host, left < 160 ? 14 : 22))));
  for (const row of rows) {
    const column = numbers.indexOf(row.number);
    if (column < 0) continue;
    const cell = svg('rect', { x: (left + column * wide).toFixed(1), y: (hosts.indexOf(row.host) * high1).toFixed(1),
      width: Math.max(1, wide - 1).toFixed(1), height: Math.max(1, high1 - 1).toFixed(1),
      style: 'fill-opacity:' + strength(row.duration_ns).toFixed(3) },
      svg('title', {}, cut(row.host) + ', step ' + row.number + ': ' + show(row.duration_ns, 'ns')));
    if (go) cell.addEventListener('click', () => go(row.number));
    chart.append(cell);
  }
  return el('section', { id: 'ranks' }, el('h2', {}, 'Ranks by steps'),
    el('p', { class: 'quiet' }, 'The stronger the colour, the longer the step: from ' + show(low, 'ns') + ' to ' + show(high, 'ns') + '.'),
    scrolled('Time of each step on each rank', chart));
}

// Where steps of all ranks are not there (summaries): a column a rank, stacked by what a step of it goes to.
function drawRankBars(tables) {
  const table = tableOf(tables, 'ranks');
  const all = table ? records(table, 'rank', 'host', 'step_ns', 'compute_ns', 'input_ns', 'comm_ns').filter((row) => row.step_ns > 0) : [];
  if (all.length < 2) return null;
  const own = (row) => row.step_ns - (row.comm_ns || 0), number = (row) => row.rank ?? 0;
  const rows = all.toSorted((a, b) => own(b) - own(a)).slice(0, MOST_RANK_BARS).sort((a, b) => number(a) - number(b));
  const most = rows.reduce((worst, row) => own(row) > own(worst) ? row : worst), high = Math.max(...rows.map((row) => row.step_ns));
  const wide = Math.min(34, CHART.width / rows.length), name = (row) => row.rank === null ? row.host ?? '' : 'rank ' + row.rank;
  const chart = svg('svg', { class: 'steps', viewBox: '0 0 ' + (rows.length * wide).toFixed(0) + ' 160', width: (rows.length * wide).toFixed(0), height: 160,
    role: 'img', 'aria-label': rows.length + ' ranks; ' + name(most) + ' works longest, ' + show(own(most), 'ns') + ' a step' });
  rows.forEach((row, i) => {
    const parts = [['compute', row.compute_ns], ['input', row.input_ns], ['communication', row.comm_ns]].filter(([, ns]) => ns > 0);
    const rest = row.step_ns - parts.reduce((sum, [, ns]) => sum + ns, 0);
    let y = 160;
    for (const [part, ns] of [...parts.slice(0, -1), ['host', Math.max(0, rest)], ...parts.slice(-1)]) {
      const tall = ns / high * 156;
      y -= tall;
      chart.append(svg('rect', { x: (i * wide).toFixed(2), y: y.toFixed(2), width: Math.max(0.5, wide - (wide > 4 ? 2 : 0)).toFixed(2), height: tall.toFixed(2), 'data-part': part },
        svg('title', {}, cut(name(row)) + ': ' + (part === 'host' ? 'everything else' : PARTS[part]) + ' ' + show(ns, 'ns'))));
    }
  });
  return el('section', { id: 'rank-bars' }, el('h2', {}, 'Ranks'), scrolled('What a step goes to on each rank', chart),
    el('p', { class: 'quiet' }, 'A column a rank' + (all.length > rows.length ? ', the ' + rows.length + ' that work longest of ' + all.length : '') +
      ': computing, input and everything else, with communication on top. ', named(name(most)), ' works longest, ' + show(own(most), 'ns') + ' a step.'));
}

// The rates of ops by what they compute a byte, and the most that memory and the device's units allow.
function drawRoofline(tables, facts) {
  const table = tableOf(tables, 'roofline');
  const rows = table ? records(table, 'op', 'dtype', 'intensity', 'flops_per_s', 'share', 'efficiency', 'bound')
    .filter((row) => row.intensity > 0 && row.flops_per_s > 0).slice(0, MOST_POINTS) : [];
  if (rows.length < 3) return null;
  const { width, height, left, right, top, bottom } = CHART;
  const peak = facts['flops.peak_per_s'], bandwidth = facts['flops.memory_peak_per_s'];
  const reach = rows.map((row) => row.intensity).concat(peak && bandwidth ? [peak / bandwidth] : []);
  const rates = rows.map((row) => row.flops_per_s).concat(peak ? [peak] : []);
  const [lowX, highX] = wholeDecades(reach), [lowY, highY] = wholeDecades(rates);
  const x = logScale(lowX, highX, left, width - right), y = logScale(lowY, highY, height - bottom, top);
  const ticks = logTicks(lowX, highX), apart = Math.ceil(ticks.length * 90 / (width - left - right));
  const chart = chartFrame(rows.length + ' ops by operations a byte and operations a second', ticks.filter((_, i) => i % apart === 0), logTicks(lowY, highY),
    x, y, { x: (at) => (at < 1 ? String(at) : show(at, 'count')) + ' FLOP/B', y: (at) => show(at, 'flops_per_s') });
  if (peak && bandwidth) {
    const foot = Math.max(lowX, lowY / bandwidth);
    chart.append(svg('path', { class: 'line', d: 'M' + x(foot).toFixed(1) + ' ' + y(foot * bandwidth).toFixed(1) + 'L' +
      x(peak / bandwidth).toFixed(1) + ' ' + y(peak).toFixed(1) + 'H' + (width - right) }));
  }
  for (const row of rows)
    chart.append(svg('circle', { class: 'dot', cx: x(row.intensity).toFixed(1), cy: y(row.flops_per_s).toFixed(1),
      r: (2.5 + 9 * Math.sqrt(row.share || 0)).toFixed(1) },
      svg('title', {}, cut(row.op, 120) + ' ' + (row.dtype ?? '') + ': ' + show(row.flops_per_s, 'flops_per_s') + ', ' + digits(row.intensity) +
        ' FLOP/B, ' + show(row.share, 'share') + ' of the computing' + (row.efficiency ? ', ' + show(row.efficiency, 'share') + ' of its roof' : ''))));
  return el('section', { id: 'roofline' }, el('h2', {}, 'Roofline'),
    el('p', { class: 'quiet' }, 'A dot an op, the larger the more of the computing it takes. ' + (peak && bandwidth
      ? 'The line is what the device can do: ' + show(bandwidth, 'bytes_per_s') + ', ' + show(peak, 'flops_per_s') + '.'
      : 'What this device can do at best is not known.')),
    scrolled('Roofline', chart));
}
