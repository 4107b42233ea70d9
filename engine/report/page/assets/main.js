// Text first, then tables, then the timeline; a section that fails says so and leaves the others alone.
function section(main, name, make) {
  try {
    const made = make();
    if (made) main.append(made);
    return made;
  } catch (error) {
    main.append(el('p', { class: 'failed' }, name + ' cannot be shown: ' + error.message));
    console.error(error);
    return null;
  }
}

function stepTimes(tables, number) {
  const table = tables.find((one) => one.name === 'steps');
  const at = (name) => table.columns.findIndex((column) => column.name === name);
  const row = table && table.rows.find((one) => one[at('number')] === number);
  return row && [row[at('start_ns')], row[at('start_ns')] + row[at('duration_ns')]];
}

// From the first to the last step that is looked at.
function usedSpan(tables) {
  const table = tableOf(tables, 'steps');
  const used = table ? records(table, 'start_ns', 'duration_ns', 'used').filter((step) => step.used) : [];
  return used.length ? [Math.min(...used.map((step) => step.start_ns)), Math.max(...used.map((step) => step.start_ns + step.duration_ns))] : null;
}

async function start() {
  const data = JSON.parse(document.getElementById('data').textContent);
  const { advice, change, tables, facts, program, sweeps, slices } = data;
  const main = document.querySelector('main');
  const packed = document.getElementById('slices').textContent.trim();
  let timeline = null;
  const find = slices ? (name, seen) => { if (seen) timeline?.go(seen.start_ns, seen.end_ns); if (name) timeline?.find(name); } : null;
  const go = slices ? (number) => { const times = stepTimes(tables, number); if (times) timeline?.go(...times); } : null;
  main.replaceChildren();
  if (data.gate) {
    drawGate(main, data.gate);
    return { gate: data.gate };
  }
  document.title = (advice.profile.name || 'profile') + ' · tfprof';
  section(main, 'The verdict', () => drawHead(advice));
  section(main, 'The change', () => drawChange(change));
  section(main, 'The findings', () => drawFindings(advice, find));
  section(main, 'The sliders', () => drawSweeps(sweeps));
  section(main, 'The composition', () => drawComposition(advice));
  section(main, 'The input pipeline', () => drawInput(tables, advice.steps.wall_ms.median * 1e6));
  section(main, 'The steps', () => drawSteps(tables, go));
  const place = slices ? main.appendChild(el('div', { class: 'stack' })) : null;
  section(main, 'The ranks', () => drawRanks(tables, go) || drawRankBars(tables));
  section(main, 'The memory', () => drawMemory(tables, slices ? (ns) => timeline?.go(ns - 1e6, ns + 1e6) : null));
  section(main, 'The roofline', () => drawRoofline(tables, facts));
  section(main, 'The program', () => drawProgram(program));
  section(main, 'The tables', () => drawTables(tables, data.served));
  section(main, 'The coverage', () => drawCoverage(advice));
  main.append(el('footer', { class: 'quiet' }, 'tfprof ' + advice.tool.version));
  if (slices) {
    await new Promise(requestAnimationFrame);
    const decoded = await decodeSlices(slices, packed);
    section(place, 'The timeline', () => {
      timeline = drawTimeline(decoded, slices, { id: 'timeline', title: 'Timeline', isServed: data.served });
      const span = usedSpan(tables);
      if (span) timeline.open(...span);
      return timeline.section;
    });
    section(place, 'The parts of the timeline', () => addCutouts(decoded, slices.origin_ns));
    section(place, 'The flame graph', () => {
      const flames = makeFlames(decoded);
      return flames && drawTimeline(flames, flames.about, { id: 'flames', title: 'Flame graph',
        help: 'Time by call stack over the whole recording, the busiest tracks first: width is time, below a call what it called.' }).section;
    });
  }
  addEventListener('beforeprint', () => document.querySelectorAll('details.finding').forEach((one) => { one.open = true; }));
  return { advice, tables, timeline };
}

start().then((page) => { globalThis.page = page; document.documentElement.dataset.ready = 'yes'; },
  (error) => { console.error(error); document.documentElement.dataset.ready = 'failed'; });
