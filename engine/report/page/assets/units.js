// Numbers as the command line prints them: three digits that matter.
const SCALES = {
  ns: [[1e9, 's'], [1e6, 'ms'], [1e3, 'µs'], [1, 'ns']],
  bytes: [[1e12, 'TB'], [1e9, 'GB'], [1e6, 'MB'], [1e3, 'kB'], [1, 'B']],
  flops: [[1e15, 'PFLOP'], [1e12, 'TFLOP'], [1e9, 'GFLOP'], [1e6, 'MFLOP'], [1, 'FLOP']],
  flops_per_s: [[1e15, 'PFLOP/s'], [1e12, 'TFLOP/s'], [1e9, 'GFLOP/s'], [1e6, 'MFLOP/s'], [1, 'FLOP/s']],
  bytes_per_s: [[1e12, 'TB/s'], [1e9, 'GB/s'], [1e6, 'MB/s'], [1e3, 'kB/s'], [1, 'B/s']],
  hz: [[1e9, 'GHz'], [1e6, 'MHz'], [1e3, 'kHz'], [1, '/s']],
};

function digits(number) {
  const size = Math.abs(number);
  if (size >= 999.95 || number === Math.round(number)) return number.toFixed(0);
  return number.toFixed(size >= 9.995 ? 1 : 2);
}

function show(value, unit) {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (unit === 'bool') return value ? 'yes' : 'no';
  if (unit === 'share') return value > 0 && value < 5e-5 ? '< 0.01 %' : digits(value * 100) + ' %';
  if (unit === 'ratio') return digits(value) + 'x';
  if (unit === 'ms') return show(value * 1e6, 'ns');
  if (unit === 'when') return (value / 1e6).toFixed(3) + ' ms';
  if (unit === 'ns' && value === 0) return '0 ms';
  const scale = SCALES[unit] && SCALES[unit].find(([factor]) => Math.abs(value) >= factor * 0.99995);
  if (scale) return digits(value / scale[0]) + ' ' + scale[1];
  return digits(value);
}

// How to print what `name` names: a share that may be above 1 is a ratio to those who compute, and when something began
// needs more digits than how long it took.
const shownUnit = (unit, name) => (unit === 'ratio' && name.endsWith('share') ? 'share'
  : ['start_ns', 'time_ns', 'peak_time_ns'].includes(name) ? 'when' : unit);

// Numbers and their units stay on one line.
const keepUnits = (text) => text.replace(/(\d) (?=(%|[µmn]?s|[kMGT]?B)(?![\w/]))/g, '$1\u00a0');

// "3.36 … 4.56 ms": one unit for both ends.
function showRange(low, high) {
  const [factor, name] = SCALES.ns.find(([size]) => Math.abs(high * 1e6) >= size) || [1, 'ns'];
  const from = digits(low * 1e6 / factor), to = digits(high * 1e6 / factor);
  return (from === to ? from : from + ' … ' + to) + ' ' + name;
}

// Columns that a page sorts and spreadsheets read: RFC 4180, and no cell that would run as a formula.
function csvCell(value) {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'string') return String(Number(value));
  const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : value;
  return /[",\r\n]/.test(text) || text !== value ? '"' + text.replaceAll('"', '""') + '"' : text;
}
