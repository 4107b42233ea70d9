// Slices as the page carries them: varint columns, raw deflate, base64 (docs/report.md).
async function inflate(text) {
  const packed = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text)
    : Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function varints(bytes) {
  let at = 0;
  return {
    next() {
      let value = 0, factor = 1, byte;
      do {
        byte = bytes[at++];
        value += (byte & 127) * factor;
        factor *= 128;
      } while (byte > 127);
      return value;
    },
    text(length) {
      const from = at;
      at += length;
      return new TextDecoder().decode(bytes.subarray(from, at));
    },
  };
}

// rows: [{ track, depth, first, count }]; starts in ns from the page's origin.
async function decodeSlices(about, text) {
  const read = varints(await inflate(text));
  const names = [];
  for (let i = 0; i < about.names; i++) {
    const part = about.parts[read.next()];
    names.push({ part, text: read.text(read.next()) });
  }
  const rows = [];
  let count = 0;
  about.tracks.forEach((track, at) => track.depths.forEach((inRow, depth) => {
    rows.push({ track: at, depth, first: count, count: inRow });
    count += inRow;
  }));
  const starts = new Float64Array(count), durations = new Float64Array(count), ids = new Uint32Array(count);
  for (const row of rows)
    for (let i = row.first, start = 0; i < row.first + row.count; i++) starts[i] = start += read.next();
  for (let i = 0; i < count; i++) durations[i] = read.next();
  for (let i = 0; i < count; i++) ids[i] = read.next();
  const texts = [''], notes = new Uint32Array(count);
  for (let i = 0; i < about.texts; i++) texts.push(read.text(read.next()));
  for (let i = 0; i < count; i++) notes[i] = read.next();
  const links = { from: new Uint32Array(about.links), to: new Uint32Array(about.links) };
  for (let i = 0, from = 0, to = 0; i < about.links; i++) {
    links.from[i] = from += read.next();
    const away = read.next();
    links.to[i] = to += away % 2 ? -(away + 1) / 2 : away / 2;
  }
  return { about, names, rows, starts, durations, ids, count, texts, notes, links };
}

// A served page asks where it came from for more of its recording (docs/report.md).
async function askMore(path, words) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(words)) query.set(name, value);
  const answer = await fetch(path + '?' + query);
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

// Slices for a span: of the whole recording, or, where short ones stand together there, of what was asked
// for: the span looked at and as much on both sides, so that what is near is there already.
function makeFiner(whole, origin, end, onArrival) {
  const all = { from: 0, to: end, slices: whole };
  let have = null, wanted = null, isAsking = false, isLost = false;
  const ask = async () => {
    const [from, to] = wanted, side = to - from;
    try {
      const part = await askMore('slices', { from: Math.floor(origin + from - side), to: Math.ceil(origin + to + side) });
      have = { from: from - side, to: to + side, slices: await decodeSlices(part.about, part.block) };
      onArrival();
    } catch (error) {
      isLost = true;
      console.warn('no more slices: ' + error.message);
    }
    isAsking = false;
  };
  return (from, to) => {
    const best = have && have.from <= from && to <= have.to ? have : all;
    if (!isLost && best.slices.about.summed && best.to - best.from > 4 * (to - from)) {
      wanted = [from, to];
      if (!isAsking) setTimeout(ask, 150);
      isAsking = true;
    }
    return best.slices;
  };
}
