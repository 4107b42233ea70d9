// The input pipeline as its stages are nested: the root hands batches to the step, each stage asks those below it.
const MOST_STAGES = 60;

// Parents before children, as the table has them by depth; a child stands right below its parent.
function nestStages(stages) {
  const below = new Map(stages.map((stage) => [stage.name, []]));
  const roots = stages.filter((stage) => !below.has(stage.parent) || stage.parent === stage.name);
  for (const stage of stages) if (!roots.includes(stage)) below.get(stage.parent).push(stage);
  const order = [], open = roots.map((stage) => [stage, 0]).reverse();
  while (open.length) {
    const [stage, depth] = open.pop();
    order.push({ ...stage, depth });
    for (const child of below.get(stage.name).toReversed()) open.push([child, depth + 1]);
  }
  return order;
}

function stageWords(stage) {
  const words = [show(stage.calls, 'count') + (stage.calls === 1 ? ' call' : ' calls') + ' of ' + show(stage.call_ns, 'ns')];
  if (stage.is_async) words.push('makes elements ahead' + (stage.parallelism > 1 ? ', ' + show(stage.parallelism, 'count') + ' at once' : ''));
  if (stage.cpu_ns > 0) words.push(show(stage.cpu_ns, 'ns') + ' on pool threads');
  if (stage.top_op) words.push('mostly ' + stage.top_op);
  return words.join(' · ');
}

function stageRow(stage, step, worst) {
  const share = step > 0 ? stage.path_ns / step : 0;
  return el('tr', { class: stage === worst ? 'worst' : null },
    el('td', { style: 'padding-left:calc(10px + ' + Math.min(stage.depth, 20) + ' * var(--nested))' },
      stage.depth ? el('span', { class: 'quiet', 'aria-hidden': 'true' }, '└ ') : null, el('span', { class: 'stage' }, named(stage.type)),
      stage === worst ? el('span', { class: 'badge' }, 'bottleneck') : null, el('div', { class: 'quiet' }, clean(cut(stageWords(stage))))),
    el('td', { class: 'number' }, show(stage.self_ns, 'ns')),
    el('td', { class: 'number' }, show(stage.path_ns, 'ns'),
      el('div', { class: 'meter', 'aria-hidden': 'true' }, el('i', { 'data-part': 'input', style: 'left:0;width:' +
        Math.min(100, 100 * share).toFixed(2) + '%' }))));
}

function drawInput(tables, step) {
  const table = tableOf(tables, 'iterators');
  if (!table) return null;
  const stages = nestStages(records(table, 'name', 'type', 'parent', 'is_async', 'calls', 'self_ns', 'cpu_ns', 'path_ns', 'call_ns',
    'parallelism', 'top_op'));
  const shown = stages.slice(0, MOST_STAGES);
  const worst = stages.reduce((most, stage) => stage.path_ns > (most?.path_ns || 0) ? stage : most, null);
  return el('section', { id: 'input' }, el('h2', {}, 'Input pipeline'),
    el('p', { class: 'quiet' }, 'Each stage asks the ones below it. Own work: time a step in the stage itself. What the step waits for is what fixing a stage can save.'),
    el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'Stages of the input pipeline' }, el('table', { class: 'changes' },
      el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Stage'), el('th', { scope: 'col', class: 'number' }, 'own work'),
        el('th', { scope: 'col', class: 'number' }, 'step waits'))),
      el('tbody', {}, shown.map((stage) => stageRow(stage, step, worst))))),
    stages.length > shown.length ? el('p', { class: 'quiet' }, (stages.length - shown.length) + ' more in the table iterators.') : null);
}
