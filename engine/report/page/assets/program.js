// The compiled program that takes most time: its instructions, and what one of them needs and is needed by.
const MOST_INSTRUCTIONS = 40, MOST_NEIGHBOURS = 7;

function consumersOf(ops) {
  const consumers = ops.map(() => []);
  ops.forEach((op, at) => op.needs.forEach((other) => consumers[other].push(at)));
  return consumers;
}

function instructionWords(op) {
  return [op.type, op.ns > 0 ? show(op.ns, 'ns') : null, op.flops ? show(op.flops, 'flops') : null, op.place].filter(Boolean).join(' · ');
}

// One side of the neighbourhood: those that take most time first. left: how many there are that the page does not hold.
function neighbourList(title, ops, list, left, choose) {
  const order = [...new Set(list)].sort((a, b) => (ops[b].ns || 0) - (ops[a].ns || 0) || a - b);
  const shown = order.slice(0, MOST_NEIGHBOURS), more = order.length - shown.length + left;
  return el('div', { class: 'side' }, el('h3', {}, title),
    shown.length || more ? null : el('p', { class: 'quiet' }, 'nothing'),
    shown.map((at) => el('button', { type: 'button', class: 'instruction', onclick: () => choose(at) }, named(ops[at].name, 60),
      el('span', { class: 'quiet' }, cut(instructionWords(ops[at]), 120)))),
    more ? el('p', { class: 'quiet' }, more + ' more' + (left ? ': tfprof hlo shows them' : '')) : null);
}

function drawProgram(program) {
  if (!program || !program.ops.length) return null;
  const { ops } = program, consumers = consumersOf(ops);
  const around = el('div', { class: 'around', 'aria-live': 'polite' });
  const choose = (at) => around.replaceChildren(
    neighbourList('It needs', ops, ops[at].needs, ops[at].more_needs || 0, choose),
    el('div', { class: 'side chosen' }, el('h3', {}, 'Instruction'), el('p', { class: 'instruction' }, named(ops[at].name, 120),
      el('span', { class: 'quiet' }, cut(instructionWords(ops[at]), 200)))),
    neighbourList('Needed by', ops, consumers[at], ops[at].more_needed_by || 0, choose));
  const list = ops.map((op, at) => at).sort((a, b) => (ops[b].ns || 0) - (ops[a].ns || 0) || a - b);
  const select = el('select', { id: 'instruction', onchange: () => choose(Number(select.value)) });
  const fillList = (wanted) => {
    const fits = list.filter((at) => ops[at].name.toLowerCase().includes(wanted)).slice(0, MOST_INSTRUCTIONS);
    select.replaceChildren(...fits.map((at) => el('option', { value: at }, cut(ops[at].name, 60) + (ops[at].ns > 0 ? ' · ' + show(ops[at].ns, 'ns') : ''))));
    if (fits.length) choose(fits[0]);
  };
  fillList('');
  return el('section', { id: 'program' }, el('h2', {}, 'Program'),
    el('p', { class: 'quiet' }, named(program.module, 80), ': ' + program.instructions + ' instructions' +
      (program.instructions > ops.length ? ', of which the ' + ops.length + ' around those with most time are here' : '') +
      '. Times are a step’s. tfprof hlo prints all of it.'),
    el('div', { class: 'tools' }, el('label', { for: 'instruction' }, 'Show'), select,
      el('input', { type: 'search', placeholder: 'search names', 'aria-label': 'instructions whose names contain', autocomplete: 'off',
        oninput: (event) => fillList(event.target.value.trim().toLowerCase()) })), around);
}
