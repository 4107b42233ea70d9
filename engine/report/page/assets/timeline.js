// The timeline: rows of slices on a canvas. Neighbours that end within half a pixel are one rectangle.
const OPEN_SHARE = 0.5; // steps that take less of the recording than that are what is shown first
const SLICE = 18, TRACK_GAP = 22, AXIS = 24, LABEL_LEAST = 34, CANVAS_MOST = 460, CUTOUT_MOST = 260, ARROWS_MOST = 50, CUTOUT_TRACKS = 6;

function textOn(color) {
  const n = parseInt(color.slice(1), 16);
  const linear = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const light = 0.2126 * linear(n >> 16) + 0.7152 * linear(n >> 8 & 255) + 0.0722 * linear(n & 255);
  return light > 0.179 ? '#000' : '#fff';
}

function palette() {
  const style = getComputedStyle(document.documentElement);
  const colors = {};
  for (const part of [...Object.keys(PARTS), 'ground', 'text', 'quiet', 'line'])
    colors[part] = style.getPropertyValue('--' + part.replace('.', '-')).trim();
  return colors;
}

// The first slice of a row that ends behind t.
function firstBehind(slices, row, t) {
  let low = row.first, high = row.first + row.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (slices.starts[middle] + slices.durations[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low;
}

function niceStep(span, pixels) {
  const least = span / Math.max(1, pixels / 90);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((k) => k * power).find((step) => step >= least);
}

function makeTimeline(slices, origin) {
  let end = 0;
  for (const row of slices.rows)
    if (row.count) end = Math.max(end, slices.starts[row.first + row.count - 1] + slices.durations[row.first + row.count - 1]);
  const places = [];
  let height = AXIS;
  slices.about.tracks.forEach((track, at) => {
    places.push({ track: at, y: height });
    height += TRACK_GAP + track.depths.length * SLICE + 4;
  });
  return { slices, whole: slices, finer: null, origin, end, places, height, from: 0, to: end, scroll: 0, chosen: -1, wanted: '', hits: null,
    marked: null };
}

const rowOf = (slices, i) => slices.rows.find((one) => i >= one.first && i < one.first + one.count);

function rowTop(view, row) {
  return view.places[row.track].y + TRACK_GAP + row.depth * SLICE - view.scroll;
}

function drawAxis(view, context, colors, width) {
  const step = niceStep(view.to - view.from, width);
  context.fillStyle = colors.ground;
  context.fillRect(0, 0, width, AXIS);
  context.fillStyle = colors.quiet;
  context.strokeStyle = colors.line;
  for (let t = Math.ceil((view.from + view.origin) / step) * step - view.origin; t < view.to; t += step) {
    const x = (t - view.from) / (view.to - view.from) * width;
    context.fillText(show(t + view.origin, 'ns'), x + 3, 16);
    context.beginPath();
    context.moveTo(x, 0);
    context.lineTo(x, AXIS);
    context.stroke();
  }
}

// What the search or a finding is not about is pale.
const isPale = (view, i) => (view.marked ? !view.marked.has(i) : view.hits && !view.hits.has(view.slices.ids[i]));

function drawRow(view, row, context, colors, width) {
  const { slices } = view;
  const y = rowTop(view, row), scale = width / (view.to - view.from), half = 0.5 / scale;
  let drawnTo = -Infinity;
  for (let i = firstBehind(slices, row, view.from); i < row.first + row.count && slices.starts[i] < view.to; i++) {
    const start = slices.starts[i], stop = start + slices.durations[i];
    if (stop < drawnTo + half && i !== view.chosen && !view.marked?.has(i)) continue;
    const x = Math.max(0, (start - view.from) * scale);
    const wide = Math.max(1, Math.min(width, (stop - view.from) * scale) - x);
    const name = slices.names[slices.ids[i]], color = colors[name.part] || colors.unknown;
    const pale = isPale(view, i);
    context.globalAlpha = pale ? 0.25 : 1;
    context.fillStyle = color;
    context.fillRect(x, y, Math.max(1, wide - 0.5), SLICE - 2);
    if (i === view.chosen) {
      context.strokeStyle = colors.text;
      context.lineWidth = 2;
      context.strokeRect(x, y, wide, SLICE - 2);
      context.lineWidth = 1;
    }
    if (wide > LABEL_LEAST) {
      context.save();
      context.beginPath();
      context.rect(x, y, wide - 4, SLICE);
      context.clip();
      context.globalAlpha = pale ? 0.7 : 1;
      context.fillStyle = pale ? colors.text : textOn(color);
      context.fillText(cut(name.text, 120), x + 4, y + 12);
      context.restore();
    }
    drawnTo = stop;
  }
  context.globalAlpha = 1;
}

// Slices that the chosen one waited for or set off: [slice, it comes behind the chosen one].
function linked(slices, i) {
  const found = [];
  for (let k = 0; i >= 0 && k < slices.links.from.length; k++) {
    if (slices.links.from[k] === i) found.push([slices.links.to[k], true]);
    if (slices.links.to[k] === i) found.push([slices.links.from[k], false]);
  }
  return found;
}

// Arrows from the end of what sets off to the begin of what follows.
function drawLinks(view, context, colors, width) {
  const { slices } = view, scale = width / (view.to - view.from);
  const point = (i, atEnd) => {
    const row = rowOf(slices, i);
    return row && [(slices.starts[i] + (atEnd ? slices.durations[i] : 0) - view.from) * scale, rowTop(view, row) + SLICE / 2 - 1];
  };
  for (const [other, isBehind] of linked(slices, view.chosen).slice(0, ARROWS_MOST)) {
    const from = point(isBehind ? view.chosen : other, true), to = point(isBehind ? other : view.chosen, false);
    if (!from || !to) continue;
    const bend = Math.max(20, Math.abs(to[0] - from[0]) / 3);
    for (const [color, wide] of [[colors.ground, 5], [colors.text, 2]]) { // an edge, so that it is seen on slices too
      context.strokeStyle = context.fillStyle = color;
      context.lineWidth = wide;
      context.beginPath();
      context.moveTo(...from);
      context.bezierCurveTo(from[0] + bend, from[1], to[0] - bend, to[1], ...to);
      context.stroke();
      context.beginPath();
      context.moveTo(to[0] + wide / 2, to[1]);
      context.lineTo(to[0] - 6 - wide, to[1] - 3 - wide);
      context.lineTo(to[0] - 6 - wide, to[1] + 3 + wide);
      context.fill();
    }
  }
  context.lineWidth = 1;
}

function draw(view, canvas, colors) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * ratio)) canvas.width = Math.round(width * ratio);
  if (canvas.height !== Math.round(height * ratio)) canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d', { alpha: false });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.font = '12px system-ui, sans-serif';
  context.fillStyle = colors.ground;
  context.fillRect(0, 0, width, height);
  for (const place of view.places) {
    const y = place.y - view.scroll;
    if (y > height || y < -4000) continue;
    context.fillStyle = colors.text;
    context.fillText(cut(view.slices.about.tracks[place.track].name, 100), 4, y + 15);
  }
  for (const row of view.slices.rows) {
    const y = rowTop(view, row);
    if (y > AXIS - SLICE && y < height) drawRow(view, row, context, colors, width);
  }
  drawLinks(view, context, colors, width);
  drawAxis(view, context, colors, width);
}

function sliceAt(view, canvas, x, y) {
  const t = view.from + x / canvas.clientWidth * (view.to - view.from);
  const near = 2 / canvas.clientWidth * (view.to - view.from);
  for (const row of view.slices.rows) {
    const top = rowTop(view, row);
    if (y < top || y >= top + SLICE) continue;
    const i = firstBehind(view.slices, row, t - near);
    if (i < row.first + row.count && view.slices.starts[i] <= t + near) return i;
  }
  return -1;
}

// A line for the slice, one for what was recorded with it, one for each way that arrows lead.
function describeSlice(view, i) {
  if (i < 0) return 'Drag to move, Ctrl and wheel or + and − to zoom, 0 shows all' + (view.marked ? '.' : ', / searches.');
  const { slices } = view, name = slices.names[slices.ids[i]], row = rowOf(slices, i);
  const lines = [cut(name.text) + ' · ' + show(slices.durations[i], 'ns') + ' from ' + show(slices.starts[i] + view.origin, 'ns') + ' · ' +
    (PARTS[name.part] || name.part) + (row ? ' · ' + slices.about.tracks[row.track].name : '')];
  if (slices.notes[i]) lines.push(cut(slices.texts[slices.notes[i]], 2000));
  const links = linked(slices, i);
  for (const isBehind of [false, true]) {
    const ends = links.filter((link) => link[1] === isBehind).map(([other]) => cut(slices.names[slices.ids[other]].text, 80) + ' at ' +
      show(slices.starts[other] + view.origin, 'ns'));
    if (ends.length) lines.push((isBehind ? 'sets off ' : 'set off by ') + ends.slice(0, 3).join(', ') +
      (ends.length > 3 ? ' and ' + (ends.length - 3) + ' more' : '') + ' (f goes there)');
  }
  return lines.join('\n');
}

function moveTo(view, from, to) {
  const span = Math.min(view.end, Math.max(50, to - from));
  view.from = Math.max(0, Math.min(from, view.end - span));
  view.to = view.from + span;
}

function zoom(view, factor, at = 0.5) {
  const middle = view.from + at * (view.to - view.from), span = (view.to - view.from) * factor;
  moveTo(view, middle - at * span, middle + (1 - at) * span);
}

function scrollTo(view, canvas, scroll) {
  view.scroll = Math.max(0, Math.min(scroll, view.height - canvas.clientHeight));
}

function choose(view, canvas, i) {
  const row = rowOf(view.slices, i);
  if (!row) return;
  view.chosen = i;
  const start = view.slices.starts[i], length = view.slices.durations[i];
  if (start + length < view.from || start > view.to || length < (view.to - view.from) / 400)
    moveTo(view, start - 10 * length - 1000, start + 11 * length + 1000);
  if (rowTop(view, row) < AXIS || rowTop(view, row) > canvas.clientHeight - SLICE)
    scrollTo(view, canvas, view.scroll + rowTop(view, row) - canvas.clientHeight / 2);
}

// The same slices in full, or those of all the recording; the chosen one stays chosen where it is there.
function useSlices(view, slices) {
  if (slices === view.slices) return;
  const at = view.slices.rows.findIndex((one) => view.chosen >= one.first && view.chosen < one.first + one.count);
  const start = view.slices.starts[view.chosen], row = slices.rows[at];
  view.slices = slices;
  view.chosen = -1;
  for (let i = row ? firstBehind(slices, row, start) : 0; row && i < row.first + row.count && slices.starts[i] <= start; i++)
    if (slices.starts[i] === start) view.chosen = i;
  search(view, view.wanted, view.chosen);
}

// The next slice of the search, or of all, behind the chosen one.
function nextSlice(view) {
  useSlices(view, view.whole);
  const { slices } = view;
  const fits = (i) => (view.marked ? view.marked.has(i) && rowOf(slices, i) : !view.hits || view.hits.has(slices.ids[i]));
  for (let n = 1; n <= slices.count; n++) {
    const i = (Math.max(view.chosen, -1) + n) % slices.count;
    if (fits(i)) return i;
  }
  return -1;
}

// Along an arrow: to what the chosen slice sets off, or else to what set it off.
function follow(view, canvas) {
  const links = linked(view.slices, view.chosen), next = links.find((link) => link[1]) || links[0];
  if (next) choose(view, canvas, next[0]);
}

function search(view, text, chosen = -1) {
  const wanted = text.trim().toLowerCase();
  view.wanted = text;
  view.hits = wanted ? new Set(view.slices.names.map((name, i) => name.text.toLowerCase().includes(wanted) ? i : -1).filter((i) => i >= 0)) : null;
  view.chosen = chosen;
}

function handleKeys(view, canvas, input, redraw) {
  canvas.addEventListener('keydown', (event) => {
    const span = view.to - view.from;
    const does = {
      ArrowLeft: () => moveTo(view, view.from - span / 8, view.to - span / 8),
      ArrowRight: () => moveTo(view, view.from + span / 8, view.to + span / 8),
      ArrowUp: () => scrollTo(view, canvas, view.scroll - 2 * SLICE),
      ArrowDown: () => scrollTo(view, canvas, view.scroll + 2 * SLICE),
      '+': () => zoom(view, 0.7), '=': () => zoom(view, 0.7), '-': () => zoom(view, 1 / 0.7),
      0: () => moveTo(view, 0, view.end),
      Enter: () => { const i = nextSlice(view); if (i >= 0) choose(view, canvas, i); },
      f: () => follow(view, canvas),
      '/': () => input?.focus(),
    }[event.key];
    if (!does) return;
    event.preventDefault();
    does();
    redraw();
  });
}

function handlePointer(view, canvas, redraw) {
  let last = null, moved = 0;
  canvas.addEventListener('pointerdown', (event) => {
    last = [event.clientX, event.clientY];
    moved = 0;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!last) return;
    const shift = (event.clientX - last[0]) / canvas.clientWidth * (view.to - view.from);
    moved += Math.abs(event.clientX - last[0]) + Math.abs(event.clientY - last[1]);
    moveTo(view, view.from - shift, view.to - shift);
    if (event.pointerType === 'mouse') scrollTo(view, canvas, view.scroll - (event.clientY - last[1]));
    last = [event.clientX, event.clientY];
    redraw();
  });
  canvas.addEventListener('pointerup', (event) => {
    last = null;
    if (moved > 4) return;
    view.chosen = sliceAt(view, canvas, event.offsetX, event.offsetY);
    redraw();
  });
  canvas.addEventListener('wheel', (event) => {
    if (!event.ctrlKey && document.activeElement !== canvas) return;
    event.preventDefault();
    if (event.shiftKey) scrollTo(view, canvas, view.scroll + event.deltaY);
    else zoom(view, event.deltaY > 0 ? 1.2 : 1 / 1.2, event.offsetX / canvas.clientWidth);
    redraw();
  }, { passive: false });
}

// A canvas that shows the view and lets it be moved, with a line on the chosen slice. most: px of height.
function mount(view, label, most, input) {
  let colors = palette(), isDue = false;
  const { slices } = view;
  const canvas = el('canvas', { class: 'timeline', tabindex: 0, role: 'img', 'aria-label': label + ' of ' + slices.rows.reduce((sum, row) =>
    sum + row.count, 0) + ' slices in ' + slices.about.tracks.length + ' tracks. Arrows move, plus and minus zoom, 0 shows all, ' +
    'Enter goes to the next slice, f along an arrow' + (input ? ', slash searches.' : '.') });
  canvas.style.height = Math.min(most, view.height) + 'px';
  const details = el('p', { class: 'quiet details', role: 'status' }, describeSlice(view, -1));
  const redraw = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      if (view.finer) useSlices(view, view.finer(view.from, view.to));
      details.textContent = describeSlice(view, view.chosen) + (view.hits ? ' · ' + view.hits.size + ' names fit the search' : '');
      draw(view, canvas, colors);
    });
  };
  handleKeys(view, canvas, input, redraw);
  handlePointer(view, canvas, redraw);
  new ResizeObserver(redraw).observe(canvas);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { colors = palette(); redraw(); });
  return { canvas, details, redraw };
}

// options: { id, title, help, isServed: the page may ask for more slices }
function drawTimeline(slices, about, { id, title, help, isServed }) {
  const view = makeTimeline(slices, about.origin_ns);
  const input = el('input', { type: 'search', placeholder: 'search names', 'aria-label': 'slices whose names contain', autocomplete: 'off',
    oninput: (event) => { search(view, event.target.value); redraw(); },
    onkeydown: (event) => { if (event.key === 'Enter') { const i = nextSlice(view); if (i >= 0) choose(view, canvas, i); redraw(); } } });
  const { canvas, details, redraw } = mount(view, title, CANVAS_MOST, input);
  if (isServed) view.finer = makeFiner(slices, view.origin, view.end, redraw);
  const press = (label, name, does) => el('button', { type: 'button', 'aria-label': name, onclick: () => { does(); redraw(); } }, label);
  const section = el('section', { id, class: 'drawn' }, el('h2', {}, title), help ? el('p', { class: 'quiet' }, help) : null,
    about.summed ? el('p', { class: 'quiet' }, about.summed + ' slices shorter than ' + show(about.shortest_ns, 'ns') +
      ' stand together as “short ones”' + (isServed ? ' until they are zoomed into.' : '.')) : null,
    el('div', { class: 'tools' }, input, press('−', 'zoom out', () => zoom(view, 1 / 0.6)), press('+', 'zoom in', () => zoom(view, 0.6)),
      press('all', 'show all', () => moveTo(view, 0, view.end))), canvas, details);
  return {
    section, view,
    find(name) {
      input.value = name;
      search(view, name);
      const i = nextSlice(view);
      if (i >= 0) choose(view, canvas, i);
      section.scrollIntoView();
      canvas.focus({ preventScroll: true });
      redraw();
    },
    open(from, to) {
      if (to - from > OPEN_SHARE * view.end) return;
      const margin = (to - from) / 20;
      moveTo(view, from - margin - view.origin, to + margin - view.origin);
      redraw();
    },
    go(from, to) {
      moveTo(view, from - view.origin, to - view.origin);
      section.scrollIntoView();
      redraw();
    },
  };
}

// Which slices a finding is about, by begin and length; short ones that stand together are none.
function markedSlices(slices, ranges, origin) {
  const marked = new Set();
  for (const row of slices.rows)
    for (const [start, duration] of ranges)
      for (let i = firstBehind(slices, row, start - origin - 1); i < row.first + row.count && slices.starts[i] <= start - origin; i++)
        if (slices.starts[i] === start - origin && slices.durations[i] === duration) marked.add(i);
  return marked;
}

// The first tracks that have them.
function someTracks(slices, marked) {
  const kept = new Set([...marked].map((i) => rowOf(slices, i).track));
  const tracks = [...kept].sort((a, b) => a - b).slice(0, CUTOUT_TRACKS);
  const rows = slices.rows.filter((row) => tracks.includes(row.track)).map((row) => ({ ...row, track: tracks.indexOf(row.track) }));
  return { ...slices, rows, about: { ...slices.about, tracks: tracks.map((at) => slices.about.tracks[at]) } };
}

// The steps that a finding looks at, cut out of the timeline: what it is about is bright.
function drawCutout(slices, origin, seen) {
  const marked = markedSlices(slices, seen.events, origin);
  if (!marked.size) return null;
  const view = makeTimeline(someTracks(slices, marked), origin);
  view.marked = marked;
  const { canvas, details, redraw } = mount(view, 'Timeline of what this finding is about,', CUTOUT_MOST);
  moveTo(view, seen.start_ns - origin, seen.end_ns - origin);
  const first = rowOf(view.slices, [...marked].sort((a, b) => slices.durations[b] - slices.durations[a])
    .find((i) => rowOf(view.slices, i)));
  const press = (label, name, does) => el('button', { type: 'button', 'aria-label': name, onclick: () => { does(); redraw(); } }, label);
  requestAnimationFrame(() => {
    if (rowTop(view, first) > canvas.clientHeight - SLICE) scrollTo(view, canvas, rowTop(view, first) - canvas.clientHeight / 2);
    redraw();
  });
  return el('div', { class: 'cutout' }, el('div', { class: 'tools' }, el('span', { class: 'quiet' },
    seen.count > marked.size ? 'Bright: the longest ' + marked.size + ' of ' + seen.count + ' events that this is about' : 'Bright: what this is about'),
    press('−', 'zoom out', () => zoom(view, 1 / 0.6)), press('+', 'zoom in', () => zoom(view, 0.6))), canvas, details);
}
