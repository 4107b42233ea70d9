// What a step would take with less of something: schedules that were made before, one a position of a slider.
const TARGETS = { kernel: 'kernels', op: 'all ops', host: 'host work', copy: 'copies', memset: 'memory sets', comm: 'communication',
  sync: 'blocking calls', input: 'input', launch: 'launch calls' };

function sweepName(what) {
  const type = /^op:\(\^\|\/\)(.*)\(_\[0-9\]\+\)\?\$$/.exec(what);
  return type ? type[1].replace(/\\(.)/g, '$1') : TARGETS[what] || what;
}

function sweepWords(sweep, point) {
  const last = sweep.step_ms.length - 1, factor = 1 - point / last, now = sweep.step_ms[0], step = sweep.step_ms[point];
  if (point === 0) return 'as it is: ' + show(now, 'ms');
  return (factor === 0 ? 'none of it: ' : show(factor, 'share') + ' of its time: ') + show(step, 'ms') + ', saves ' +
    show(now - step, 'ms') + ' (' + show((now - step) / now, 'share') + '), then most is ' + (PARTS[sweep.bottleneck[point]] || sweep.bottleneck[point]);
}

function sweepRow(sweep, i) {
  const last = sweep.step_ms.length - 1, id = 'sweep' + i;
  const words = el('div', { class: 'quiet', 'aria-live': 'polite' }, sweepWords(sweep, 0));
  const slider = el('input', { id, type: 'range', min: 0, max: last, step: 1, value: 0, oninput: () => {
    words.textContent = clean(sweepWords(sweep, Number(slider.value)));
  } });
  return el('div', { class: 'sweep' }, el('label', { for: id }, named(sweepName(sweep.what)),
    el('div', { class: 'quiet' }, show(sweep.selected_ms, 'ms') + ' of work a step')), slider, words);
}

function drawSweeps(sweeps) {
  if (!sweeps.length) return null;
  return el('section', { id: 'whatif' }, el('h2', {}, 'What if it took less'),
    el('p', { class: 'quiet' }, 'To the right, work takes less and less; the step is scheduled again from what was recorded, so that what ' +
      'hides behind it comes to light. Work is summed over threads and devices. One at a time; tfprof whatif combines them.'),
    sweeps.map(sweepRow));
}
