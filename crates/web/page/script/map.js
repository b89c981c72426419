// A card to scale: a column for each kind, and in it a treemap.

const MAP_TOP = 20;
const MAP_BOTTOM = 18;
// A letter is about so wide, in pixels.
const LETTER = 6.5;
const MOST_TEXTURED = 200;
const PENDING = new Set(['staging', 'writing']);
const ENDING = new Set(['draining', 'deleted']);
const BROKEN = new Set(['lost', 'orphan', 'over', 'lying', 'broken']);
const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };

class CardMap {
  /** `resized` is called after the map was drawn in another width. */
  constructor(id, resized) {
    this.id = id;
    this.cells = [];
    // The part that is or was last pointed at, by the pointer or by keys.
    this.cursor = null;
    this.isPointed = false;
    this.made = 0;
    const names = { 'aria-labelledby': `${id}-title`, 'aria-describedby': `${id}-says` };
    this.picture = svg('svg', { class: 'map', id: `${id}-map`, tabindex: '0', role: 'listbox', ...names });
    this.says = el('span', { class: 'unseen', id: `${id}-says` });
    this.rects = svg('g', { role: 'none' });
    [this.patterns, this.frames, this.texts, this.ticks] = [0, 1, 2, 3].map(() => svg('g', { 'aria-hidden': 'true' }));
    this.hand = svg('rect', { class: 'cursor', visibility: 'hidden', 'aria-hidden': 'true', rx: 2 });
    this.picture.append(this.rects, this.patterns, this.frames, this.texts, this.ticks, this.hand);
    this.node = el('figure', {}, this.picture, this.says);
    this.listen();
    // Sizes are told, not asked for: to ask after a change has the browser lay everything out within the update.
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (!width || width === this.width) return;
      this.width = width;
      if (this.card) {
        this.update(this.card);
        resized();
      }
    }).observe(this.picture);
  }

  listen() {
    const on = (kind, act) => this.picture.addEventListener(kind, act);
    on('pointermove', (event) => this.hover(event.target.__cell, event));
    on('pointerleave', () => this.hover(null));
    on('blur', () => this.hover(null));
    on('focus', () => {
      if (this.picture.matches(':focus-visible')) this.step(this.cursor || this.cells[0]);
    });
    on('click', (event) => {
      const cell = event.target.__cell;
      if (!cell) return;
      this.point(cell);
      inspectCell(this.card, cell);
    });
    on('keydown', (event) => this.key(event));
  }

  update(card) {
    this.card = card;
    this.width ||= this.picture.clientWidth;
    if (!this.width) return;
    this.height = this.width < 560 ? 210 : 176;
    const whole = MAP_TOP + this.height + MAP_BOTTOM;
    attr(this.picture, 'viewBox', `0 0 ${this.width} ${whole}`);
    attr(this.picture, 'height', whole);
    const { cells, frames, titles } = arrange(card, this.width, MAP_TOP, this.height);
    this.cells = cells;
    for (const cell of cells) cell.dim = state.words.length > 0 && !(cell.gathered || [cell]).some(fitsFilter);
    this.paintCells();
    this.paintFrames(frames);
    this.paintTexts(titles);
    this.paintTicks();
    const parts = titles.map((title) => `${title.text} ${bytes(title.sum)}`).join(', ');
    say(this.says, `Memory to scale: ${parts}. Arrow keys go from part to part, Enter shows all about one.`);
    if (this.cursor) {
      this.cursor = cells.find((cell) => cell.key === this.cursor.key) || null;
      this.point(this.isPointed ? this.cursor : null);
    }
  }

  paintCells() {
    keyed(
      this.rects,
      this.cells,
      (cell) => cell.key,
      () => {
        this.made += 1;
        const id = `${this.id}-c${this.made}`;
        return { node: svg('rect', { id, role: 'option', rx: 1.5, 'aria-selected': 'false' }), said: {} };
      },
      (row, cell) => {
        cell.node = row.node;
        row.node.__cell = cell;
        box(row.node, cell);
        const said = row.said;
        const same = ['bytes', 'readers', 'state', 'dim', 'label'].every((field) => said[field] === cell[field]);
        if (same) return;
        row.said = { bytes: cell.bytes, readers: cell.readers, state: cell.state, dim: cell.dim, label: cell.label };
        attr(row.node, 'class', cellClass(cell));
        const readers = cell.readers ? `, ${count(cell.readers, 'reader')}` : '';
        attr(
          row.node,
          'aria-label',
          `${seen(cellTitle(cell))}: ${kindTitle(cell.kind)}, ${bytes(cell.bytes)}${readers}`,
        );
      },
    );
    const large = (cell) => TEXTURED.has(cell.family) && cell.w > 5 && cell.h > 5 && !cell.dim;
    keyed(
      this.patterns,
      this.cells.filter(large).slice(0, MOST_TEXTURED),
      (cell) => cell.key,
      (cell) => ({ node: svg('rect', { class: 'pattern', fill: `url(#p-${cell.family})` }) }),
      (row, cell) => box(row.node, cell),
    );
  }

  paintFrames(frames) {
    keyed(
      this.frames,
      frames,
      (frame) => frame.key,
      (frame) => ({ node: svg('rect', { class: `frame e-${frame.block}`, rx: 2 }) }),
      (row, { x, y, w, h }) => box(row.node, { x: x + 0.5, y: y + 0.5, w: Math.max(0, w - 1), h: h - 1 }),
    );
  }

  paintTexts(titles) {
    const written = [];
    for (const { key, x, w, text, sum } of titles) {
      const fits = Math.floor((w - 4) / LETTER);
      const shown = [`${text} ${bytes(sum)}`, text].find((it) => it.length <= fits);
      if (shown) written.push({ key: `title/${key}`, x: x + 1, y: 13, text: shown });
    }
    for (const cell of this.cells) written.push(...textsIn(cell));
    keyed(
      this.texts,
      written,
      (text) => text.key,
      (text) => ({ node: svg('text', { class: `${text.sub ? 'sub' : ''} ${text.on ? `on-${text.on}` : ''}`.trim() }) }),
      (row, text) => {
        attr(row.node, 'x', text.x.toFixed(1));
        attr(row.node, 'y', text.y.toFixed(1));
        attr(row.node, 'opacity', text.dim ? 0.35 : null);
        say(row.node, text.text);
      },
    );
  }

  paintTicks() {
    const total = this.card.total_bytes;
    const scale = this.width / total;
    const y = MAP_TOP + this.height;
    keyed(
      this.ticks,
      axis(total, this.width < 560 ? 4 : 9, 56 / scale),
      (value) => String(value),
      () => {
        const row = { node: svg('g'), line: svg('line', { class: 'tick' }), text: svg('text', { class: 'tick' }) };
        row.node.append(row.line, row.text);
        return row;
      },
      (row, value) => {
        const x = (value * scale).toFixed(1);
        for (const [name, at] of [
          ['x1', x],
          ['x2', x],
          ['y1', y],
          ['y2', y + 4],
        ])
          attr(row.line, name, at);
        attr(row.text, 'x', x);
        attr(row.text, 'y', y + 15);
        attr(row.text, 'text-anchor', value === 0 ? 'start' : value === total ? 'end' : 'middle');
        say(row.text, bytes(value));
      },
    );
  }

  /** Shows which part is meant, or none. */
  point(cell) {
    if (this.cursor && this.cursor.node) attr(this.cursor.node, 'aria-selected', 'false');
    this.isPointed = Boolean(cell);
    attr(this.hand, 'visibility', cell ? 'visible' : 'hidden');
    attr(this.picture, 'aria-activedescendant', cell ? cell.node.id : null);
    if (!cell) return;
    this.cursor = cell;
    attr(cell.node, 'aria-selected', 'true');
    box(this.hand, { x: cell.x + 1, y: cell.y + 1, w: Math.max(1, cell.w - 2), h: Math.max(1, cell.h - 2) });
  }

  hover(cell, event) {
    this.point(cell || null);
    if (cell) tip(cellFacts(this.card, cell), event.clientX, event.clientY);
    else hideTip();
  }

  /** Goes to a part by keys. */
  step(cell) {
    if (!cell) return;
    this.point(cell);
    const place = cell.node.getBoundingClientRect();
    tip(cellFacts(this.card, cell), place.left + place.width / 2, place.bottom - 4);
  }

  key(event) {
    const from = this.cursor || this.cells[0];
    if (!from) return;
    const arrow = ARROWS[event.key];
    let to = null;
    if (arrow) to = nearest(this.cells, from, ...arrow) || this.cells[this.cells.indexOf(from) + arrow[0]];
    else if (event.key === 'Home') to = this.cells[0];
    else if (event.key === 'End') to = this.cells.at(-1);
    else if (event.key !== 'Enter' && event.key !== ' ') return;
    event.preventDefault();
    if (arrow || to) this.step(to || from);
    else inspectCell(this.card, from);
  }
}

function fitsFilter(cell) {
  return matches(`${cell.label} ${cell.parent || ''} ${cell.owner || ''} ${cell.state || ''} ${kindTitle(cell.kind)}`);
}

function cellClass(cell) {
  const words = ['cell', `k-${cell.family}`];
  if (PENDING.has(cell.state) || cell.kind === 'cache_idle' || cell.kind === 'recycled') words.push('pending');
  if (ENDING.has(cell.state)) words.push('draining');
  if (BROKEN.has(cell.state)) words.push('lost');
  if (cell.dim) words.push('dim');
  return words.join(' ');
}

/** What is written into a part, as far as there is room. */
function textsIn(cell) {
  if (cell.w < 46 || cell.h < 19 || cell.family === 'free' || cell.family === 'other') return [];
  const fits = Math.floor((cell.w - 13) / LETTER);
  const on = TEXTURED.has(cell.family) ? cell.family : '';
  const line = (key, number, text, sub) => ({
    key: `${key}/${cell.key}`,
    x: cell.x + 7,
    y: cell.y + 16 + 14 * number,
    text,
    sub,
    on,
    dim: cell.dim,
  });
  const size = bytes(cell.bytes);
  const state = cell.state === 'current' && size.length + 9 <= fits ? ', current' : '';
  const lines = [line('name', 0, cellName(cell, fits))];
  if (cell.h >= 34) lines.push(line('size', 1, cut(`${size}${state}`, fits), true));
  if (cell.h >= 50 && cell.readers) lines.push(line('readers', 2, cut(count(cell.readers, 'reader'), fits), true));
  return lines;
}

const boxes = new WeakMap();
function box(node, { x, y, w, h }) {
  const was = boxes.get(node) || {};
  if (was.x !== x) node.setAttribute('x', x);
  if (was.y !== y) node.setAttribute('y', y);
  if (was.w !== w) node.setAttribute('width', Math.max(0.5, w));
  if (was.h !== h) node.setAttribute('height', Math.max(0.5, h));
  boxes.set(node, { x, y, w, h });
}

/** The part of a name that tells it from its neighbours: a version's tag, a path's end. */
function cellName(cell, most) {
  const title = seen(cellTitle(cell));
  if (title.length <= most) return title;
  const at = cell.kind === 'version' ? title.lastIndexOf('@') : -1;
  if (at > 0) {
    const tag = title.slice(at),
      left = most - tag.length;
    return left > 3 ? `${cut(title.slice(0, at), left)}${tag}` : cut(tag.slice(1), most);
  }
  if (cell.kind === 'group') return cut(seen(cell.label), most);
  const path = cell.family === 'tensor' || cell.family === 'cache' ? title.lastIndexOf('/') : -1;
  return cut(path > 0 ? title.slice(path + 1) : title, most);
}

function cut(text, most) {
  const letters = [...text];
  return letters.length <= most ? text : most < 2 ? '' : `${letters.slice(0, most - 1).join('')}…`;
}
