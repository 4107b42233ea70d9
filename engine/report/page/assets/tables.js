// Every table of the recording, one at a time: sorted, filtered, and only the rows on the screen drawn.
const ROW_HEIGHT = 28, ROWS_AROUND = 12;
const FIRST_TABLES = ['ops', 'kernels', 'iterators', 'op_types', 'path', 'memory_owners', 'allocators', 'collectives', 'copies'];

function compareCells(a, b, turned) {
  const isAbsent = (value) => value === null || value === undefined;
  if (isAbsent(a) || isAbsent(b)) return isAbsent(a) - isAbsent(b);
  const order = typeof a === 'string' ? (a < b ? -1 : a > b ? 1 : 0) : b - a;
  return turned ? -order : order;
}

// Columns that hold nothing are left out, as is a text that repeats the one before. Numbers stand
// behind the first column, so that they are on the screen.
function usedColumns(table) {
  const columns = table.columns.map((column, at) => ({ ...column, at }))
    .filter(({ at }) => table.rows.some((row) => row[at] !== null && row[at] !== undefined));
  const repeats = (column, i) => i > 0 && column.unit === 'name' && columns[i - 1].unit === 'name' &&
    table.rows.every((row) => row[column.at] === row[columns[i - 1].at]);
  const [first, ...others] = columns.filter((column, i) => !repeats(column, i));
  const isText = (column) => column.unit === 'name' || column.unit === 'bool' || column.name === 'source_line';
  return first ? [first, ...others.filter((column) => !isText(column)), ...others.filter(isText)] : [];
}

function tableState(table) {
  const columns = usedColumns(table);
  return { table, columns, sort: null, turned: false, filter: '', rows: table.rows };
}

function selectRows(state) {
  const wanted = state.filter.toLowerCase();
  const texts = state.columns.filter((column) => column.unit === 'name').map((column) => column.at);
  const rows = state.table.rows.filter((row) => !wanted || texts.some((at) => String(row[at] ?? '').toLowerCase().includes(wanted)));
  if (state.sort !== null)
    rows.sort((a, b) => compareCells(a[state.sort], b[state.sort], state.turned));
  state.rows = rows;
}

// Cells carry their units, so that a header need not.
const title = (name) => name.replace(/_(ns|bytes)$/, '').replaceAll('_', ' ');

function headerCell(state, column, redraw) {
  const isSorted = state.sort === column.at;
  const isNumber = column.unit !== 'name' && column.unit !== 'bool';
  const direction = isNumber === state.turned ? 'ascending' : 'descending';
  return el('th', { scope: 'col', class: isNumber ? 'number' : '', 'aria-sort': isSorted ? direction : 'none', title: column.help },
    el('button', { type: 'button', onclick: () => {
      state.turned = isSorted && !state.turned;
      state.sort = column.at;
      redraw();
    } }, title(column.name) + (isSorted ? (direction === 'ascending' ? ' ▲' : ' ▼') : '')));
}

function bodyRow(state, index) {
  return el('tr', { 'aria-rowindex': index + 2 }, state.columns.map((column) => {
    const value = state.rows[index][column.at];
    const isNumber = column.unit !== 'name' && column.unit !== 'bool';
    return el('td', { class: isNumber ? 'number' : '' },
      isNumber ? show(value, shownUnit(column.unit, column.name)) : named(show(value, column.unit), 120));
  }));
}

function spacer(rows) {
  return el('tr', { 'aria-hidden': 'true', style: 'height:' + rows * ROW_HEIGHT + 'px' });
}

function drawBody(state, box, body) {
  const first = Math.max(0, Math.floor(box.scrollTop / ROW_HEIGHT) - ROWS_AROUND);
  const last = Math.min(state.rows.length, first + Math.ceil(box.clientHeight / ROW_HEIGHT) + 2 * ROWS_AROUND);
  const rows = [];
  for (let i = first; i < last; i++) rows.push(bodyRow(state, i));
  body.replaceChildren(spacer(first), ...rows, spacer(state.rows.length - last));
}

function downloadCsv(state) {
  const lines = [state.columns.map((column) => column.name).join(','),
    ...state.rows.map((row) => state.columns.map((column) => csvCell(row[column.at])).join(','))];
  const link = el('a', { download: state.table.name + '.csv', href: URL.createObjectURL(new Blob([lines.join('\r\n') + '\r\n'], { type: 'text/csv' })) });
  link.click();
  URL.revokeObjectURL(link.href);
}

// Of a served page: all rows of a table that it holds a part of.
function rowsButton(table, onRows) {
  const button = el('button', { type: 'button', onclick: async () => {
    button.disabled = true;
    try {
      onRows(await askMore('table', { name: table.name }));
    } catch (error) {
      button.replaceWith(el('span', { class: 'failed' }, error.message));
    }
  } }, 'load all ' + table.matched + ' rows');
  return button;
}

function tableView(state, isServed) {
  const { table } = state;
  const head = el('thead', {}), body = el('tbody', {});
  const box = el('div', { class: 'scroll rows', tabindex: 0, role: 'region', 'aria-label': table.name + ': ' + table.help });
  const count = el('span', { class: 'quiet', role: 'status' });
  const grid = el('table', { class: 'data', 'aria-rowcount': table.rows.length + 1 }, head, body);
  const redraw = () => {
    selectRows(state);
    head.replaceChildren(el('tr', {}, state.columns.map((column) => headerCell(state, column, redraw))));
    count.textContent = state.rows.length + ' of ' + table.matched + ' rows';
    box.scrollTop = 0;
    drawBody(state, box, body);
  };
  box.append(grid);
  box.addEventListener('scroll', () => requestAnimationFrame(() => drawBody(state, box, body)));
  const filter = el('input', { type: 'search', placeholder: 'filter', 'aria-label': 'rows whose names contain', autocomplete: 'off',
    oninput: (event) => { state.filter = event.target.value; redraw(); } });
  requestAnimationFrame(redraw);
  const more = isServed && table.rows.length < table.matched ? rowsButton(table, (whole) => {
    table.rows = whole.rows;
    more.remove();
    redraw();
  }) : null;
  return el('div', { class: 'table' }, el('p', { class: 'quiet' }, table.help + '; numbers a step are means over the steps looked at.'),
    el('div', { class: 'tools' }, filter, count, more, el('button', { type: 'button', onclick: () => downloadCsv(state) }, 'save as CSV')), box);
}

function drawTables(tables, isServed) {
  const rank = (table) => (FIRST_TABLES.indexOf(table.name) + FIRST_TABLES.length + 1) % (FIRST_TABLES.length + 1);
  const shown = tables.filter((table) => table.rows.length).sort((a, b) => rank(a) - rank(b));
  if (!shown.length) return null;
  const place = el('div', {});
  const choice = el('select', { id: 'table-choice', onchange: (event) => {
    place.replaceChildren(tableView(tableState(shown[Number(event.target.value)]), isServed));
  } }, shown.map((table, i) => el('option', { value: i }, table.name.replaceAll('_', ' ') + ' (' + table.matched + ')')));
  place.append(tableView(tableState(shown[0]), isServed));
  return el('section', { id: 'tables' }, el('h2', {}, 'Tables'), el('p', { class: 'choice' }, el('label', { for: 'table-choice' }, 'Show '), choice), place);
}
