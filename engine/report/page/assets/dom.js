// Elements are made here and nowhere else: names from recordings go in as text, never as markup.
const ATTRIBUTES = new Set(['class', 'id', 'type', 'role', 'tabindex', 'aria-label', 'aria-sort', 'aria-live',
  'aria-rowcount', 'aria-rowindex', 'aria-pressed', 'aria-selected', 'aria-hidden', 'colspan', 'placeholder', 'value',
  'open', 'title', 'scope', 'download', 'href', 'for', 'viewBox', 'width', 'height', 'x', 'y', 'fill', 'data-part',
  'style', 'dir', 'hidden', 'spellcheck', 'autocomplete', 'd', 'cx', 'cy', 'r', 'x1', 'x2', 'y1', 'y2', 'min', 'max', 'step']);
const SHOWN_LETTERS = 300;

function clean(text) {
  let shown = '';
  for (const letter of String(text)) {
    const code = letter.codePointAt(0);
    const isControl = code < 32 && code !== 10 || code >= 127 && code < 160 || code >= 0x202a && code <= 0x202e ||
      code >= 0x2066 && code <= 0x2069 || code >= 0xd800 && code <= 0xdfff;
    shown += isControl ? '\\u' + code.toString(16).padStart(4, '0') : letter;
  }
  return shown;
}

function cut(text, most = SHOWN_LETTERS) {
  const shown = clean(text);
  return shown.length > most ? shown.slice(0, most) + '…' : shown;
}

function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (ATTRIBUTES.has(name)) made.setAttribute(name, value === true ? '' : value);
    else throw new Error('attribute ' + name);
  }
  for (const child of children.flat(3))
    if (child !== null && child !== undefined) made.append(child instanceof Node ? child : clean(child));
  return made;
}

const el = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
const svg = (tag, attributes, ...children) =>
  fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
// A name of the recording: its own direction, and not endless.
const named = (text, most) => el('bdi', { title: cut(text, 2000) }, cut(text, most));
// A path of scopes, broken behind them where there is room for some.
const scoped = (text, most) => el('bdi', { title: cut(text, 2000) },
  cut(text, most).split(/(?<=\/)/).flatMap((part, at) => at ? [document.createElement('wbr'), part] : [part]));
