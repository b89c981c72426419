// Nodes, texts, numbers and times.

function el(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'class') node.className = value;
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}
function svg(tag, attributes) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  return node;
}
/** Sets what differs only: most of an update is equal to the one before. */
function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}
function attr(node, name, value) {
  if (value === null || value === undefined) {
    if (node.hasAttribute(name)) node.removeAttribute(name);
    return;
  }
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}
function show(node, is) {
  if (node.hidden === is) node.hidden = !is;
}

/** A process outside the daemon's pid namespace has no number here. */
function pidText(pid) {
  return pid === null ? '-' : String(pid);
}

const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb]/g;
/** What nobody sees, or what turns the text around it, is written out. */
function seen(text) {
  return String(text ?? '').replace(
    INVISIBLE,
    (it) => `‹U+${it.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}›`,
  );
}
function bdi(text, more) {
  const node = el('bdi', more);
  node.textContent = seen(text);
  return node;
}

/** Words of a program in a sentence's form, with what stands between backticks as code. */
function words(...sentences) {
  const node = el('span');
  for (const sentence of sentences.filter(Boolean)) {
    const text = seen(sentence),
      whole = text[0].toUpperCase() + text.slice(1);
    `${whole}${/[.!?]$/.test(whole) ? '' : '.'}`
      .split('`')
      .forEach((part, i) => node.append(i % 2 ? el('code', {}, part) : part));
    node.append(' ');
  }
  return node;
}

/** Children by key: rows that stay are kept, so that focus, selection and scrolling stay as well. */
const kept = new WeakMap();
function keyed(parent, items, keyOf, make, update) {
  const before = kept.get(parent) || new Map();
  const after = new Map();
  let at = parent.firstChild;
  for (const item of items) {
    let key = keyOf(item);
    while (after.has(key)) key += '\u0001';
    let row = before.get(key);
    if (row) before.delete(key);
    else row = make(item);
    after.set(key, row);
    update(row, item);
    if (row.node === at) at = at.nextSibling;
    else parent.insertBefore(row.node, at);
  }
  for (const row of before.values()) row.node.remove();
  kept.set(parent, after);
  return after;
}

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
function bytes(number) {
  if (number === null || number === undefined) return '–';
  if (number < 0) return `-${bytes(-number)}`;
  if (number < 1024) return `${number} B`;
  let value = number,
    unit = -1;
  do {
    value /= 1024;
    unit += 1;
  } while (unit < UNITS.length - 1 && Math.round(value * 10) >= 10240);
  return `${(Math.round(value * 10) / 10).toString()} ${UNITS[unit]}`;
}
const integer = new Intl.NumberFormat('en-US');
function count(number, word, plural) {
  return `${integer.format(number)} ${number === 1 ? word : plural || `${word}s`}`;
}
function percent(part, whole) {
  if (!whole) return '–';
  const value = (100 * part) / whole;
  return value > 0 && value < 0.1 ? '<0.1 %' : `${value < 10 ? value.toFixed(1) : Math.round(value)} %`;
}
function long(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return count(seconds, 'second');
  if (seconds < 7200) return count(Math.floor(seconds / 60), 'minute');
  if (seconds < 172800) return count(Math.floor(seconds / 3600), 'hour');
  return count(Math.floor(seconds / 86400), 'day');
}
function short(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 172800) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}
/** The pond's clock: ages stay right where the browser's clock is wrong. */
function now() {
  return state.overview ? state.overview.at_unix_ms + (performance.now() - state.receivedAt) : Date.now();
}
const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' });
function at(ms) {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? '–' : moment.format(date);
}
function user(id) {
  if (id === null || id === undefined) return '–';
  const name = state.overview && state.overview.user_names && state.overview.user_names[id];
  return name ? seen(name) : id === 0 ? 'root' : `user ${id}`;
}
function gpuOf(uuid) {
  const card = state.overview.cards.find((it) => it.device === uuid);
  return card ? `GPU ${card.index}` : seen(uuid).slice(0, 12);
}

const ICONS = {
  warn: 'M8 1.8 15 14H1zM8 6v4M8 12v.100',
  bad: 'M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2zM8 4.5v4.5M8 11.2v.100',
  good: 'M2.5 8.5 6.2 12 13.5 4.5',
  plain: 'M8 6.5a1.5 1.5 0 1 0 0 3 1.5 1.5 0 0 0 0-3z',
};
function icon(name) {
  const node = svg('svg', {
    width: 15,
    height: 15,
    viewBox: '0 0 16 16',
    'aria-hidden': 'true',
    fill: 'none',
    stroke: 'currentColor',
    'stroke-width': 1.6,
    'stroke-linecap': 'round',
    'stroke-linejoin': 'round',
  });
  node.append(svg('path', { d: ICONS[name] || ICONS.plain }));
  return node;
}
