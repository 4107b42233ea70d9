// The flame graph is a timeline too: equal stacks of a track side by side, their time summed.
const MOST_FLAME_TRACKS = 8, MOST_FLAMES = 20000;

// Frames that a number alone tells apart, as ProfilerStep#2 and ProfilerStep#3, are one: [names, the one of each].
function foldNames(names) {
  const folded = [...names], ones = new Map();
  const ids = names.map(({ part, text }, id) => {
    const rest = text.replace(/(?<=[#_ (:])\d+\)?$/, '');
    if (rest === text || !/step|batch|iteration|epoch/i.test(rest)) return id;
    if (!ones.has(rest)) ones.set(rest, folded.push({ part, text: rest + '…' }) - 1);
    return ones.get(rest);
  });
  return [folded, ids];
}

// Adds up the slices of one depth that lie inside [from, to) under a node, and what they hold.
function addCalls(slices, rows, next, depth, to, node) {
  const row = rows[depth];
  for (; row && next[depth] < row.first + row.count && slices.starts[next[depth]] < to; next[depth]++) {
    const i = next[depth], id = slices.folded[slices.ids[i]];
    let child = node.calls.get(id);
    if (!child) node.calls.set(id, child = { id, time: 0, calls: new Map() });
    child.time += slices.durations[i];
    addCalls(slices, rows, next, depth + 1, slices.starts[i] + slices.durations[i], child);
  }
}

function layFlames(node, depth, start, levels) {
  let at = start;
  for (const child of [...node.calls.values()].sort((a, b) => b.time - a.time)) {
    (levels[depth] ||= []).push([at, child.time, child.id]);
    layFlames(child, depth + 1, at, levels);
    at += child.time;
  }
}

function trackFlames(slices, track) {
  const rows = slices.rows.filter((row) => row.track === track);
  const top = { time: 0, calls: new Map() }, levels = [];
  addCalls(slices, rows, rows.map((row) => row.first), 0, Infinity, top);
  layFlames(top, 0, 0, levels);
  return { levels, time: [...top.calls.values()].reduce((sum, call) => sum + call.time, 0) };
}

// In the form of decodeSlices; null where no track has calls inside calls.
function makeFlames(decoded) {
  const [names, folded] = foldNames(decoded.names), slices = { ...decoded, folded };
  const tracks = slices.about.tracks.map((track, at) => ({ track, at })).filter(({ track }) => track.depths.length > 1)
    .map(({ track, at }) => ({ track, ...trackFlames(slices, at) })).sort((a, b) => b.time - a.time).slice(0, MOST_FLAME_TRACKS);
  const rows = [], all = [];
  tracks.forEach(({ levels }, at) => levels.forEach((level, depth) => {
    rows.push({ track: at, depth, first: all.length, count: level.length });
    all.push(...level.slice(0, MOST_FLAMES));
    rows.at(-1).count = all.length - rows.at(-1).first;
  }));
  if (!all.length) return null;
  return { about: { origin_ns: 0, summed: 0, tracks: tracks.map(({ track, levels }) => ({ name: track.name, depths: levels.map((level) => level.length) })) },
    names, rows, count: all.length, starts: Float64Array.from(all, (one) => one[0]),
    durations: Float64Array.from(all, (one) => one[1]), ids: Uint32Array.from(all, (one) => one[2]),
    texts: [''], notes: new Uint32Array(all.length), links: { from: [], to: [] } };
}
