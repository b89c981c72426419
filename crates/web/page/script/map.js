// A card to scale: a column for each kind, and in it a treemap.

class CardView {
  constructor(card) {
    this.id = `gpu${card.index}`;
    this.cells = [];
    this.cursor = null;
    this.node = el('section', { class: 'panel gpu', 'aria-labelledby': `${this.id}-title` });
    this.title = el('h2', { id: `${this.id}-title`, tabindex: '-1' });
    this.name = el('span', { class: 'muted' });
    this.readings = el('div', { class: 'readings' });
    this.map = svg('svg', {
      class: 'map',
      id: `${this.id}-map`,
      tabindex: '0',
      role: 'listbox',
      'aria-labelledby': `${this.id}-title`,
      'aria-describedby': `${this.id}-says`,
    });
    this.says = el('span', { class: 'unseen', id: `${this.id}-says` });
    this.layers = ['cells', 'patterns', 'frames', 'texts', 'ticks'].map((name) => {
      const layer = svg('g', name === 'cells' ? { role: 'none' } : { 'aria-hidden': 'true' });
      this[name] = layer;
      return layer;
    });
    this.hand = svg('rect', { class: 'cursor', visibility: 'hidden', 'aria-hidden': 'true', rx: 2 });
    this.map.append(...this.layers, this.hand);
    this.chart = new Chart(this.id);
    this.legend = el('tbody');
    const table = el(
      'table',
      { class: 'legend' },
      el('caption', { class: 'unseen' }, `Parts of GPU ${card.index}`),
      el(
        'thead',
        { class: 'unseen' },
        el(
          'tr',
          {},
          el('th', { scope: 'col' }, 'Part'),
          el('th', { scope: 'col' }, 'Size'),
          el('th', { scope: 'col' }, 'Share'),
        ),
      ),
      this.legend,
    );
    this.node.append(
      el('header', {}, this.title, this.name, this.readings),
      el(
        'div',
        { class: 'body' },
        el('div', {}, el('figure', {}, this.map, this.says), this.chart.node),
        el('div', {}, table),
      ),
    );
    this.map.addEventListener('pointermove', (event) => this.hover(event));
    this.map.addEventListener('pointerleave', () => {
      this.point(null);
      hideTip();
    });
    this.map.addEventListener('click', (event) => {
      const cell = this.under(event);
      if (cell) {
        this.point(cell);
        inspectCell(this.card, cell);
      }
    });
    this.map.addEventListener('keydown', (event) => this.key(event));
    this.map.addEventListener('focus', () => {
      if (this.map.matches(':focus-visible')) {
        this.point(this.cursor || this.cells[0]);
        this.tipAtCursor();
      }
    });
    this.map.addEventListener('blur', () => {
      this.point(null);
      hideTip();
    });
    // Sizes are told, not asked for: to ask after a change has the browser lay everything out within the update.
    new ResizeObserver(([entry]) => {
      const width = Math.round(entry.contentRect.width);
      if (width && width !== this.width) {
        this.width = width;
        if (this.card) {
          this.draw();
          this.chart.draw(this.card, this.width);
        }
      }
    }).observe(this.map);
  }

  update(card) {
    this.card = card;
    say(this.title, `GPU ${card.index}`);
    say(this.name, seen(card.name));
    const readings = card.readings || {};
    const shown = [
      ['Used', card.used_bytes === null ? null : `${bytes(card.used_bytes)} of ${bytes(card.total_bytes)}`],
      ['Busy', ratio(readings.utilisation_ratio)],
      ['Temperature', readings.temperature_celsius == null ? null : `${Math.round(readings.temperature_celsius)} °C`],
      [
        'Power',
        readings.power_watts == null
          ? null
          : `${Math.round(readings.power_watts)}${readings.power_limit_watts == null ? '' : ` of ${Math.round(readings.power_limit_watts)}`} W`,
      ],
      ['Fan', ratio(readings.fan_ratio)],
    ].filter(([, value]) => value !== null);
    keyed(
      this.readings,
      shown,
      ([title]) => title,
      ([title]) => {
        const value = el('b');
        return { node: el('span', {}, `${title} `, value), value };
      },
      (row, [, value]) => say(row.value, value),
    );
    this.draw();
    this.drawLegend();
    this.chart.draw(this.card, this.width);
  }

  draw() {
    if (!this.width) this.width = this.map.clientWidth;
    const card = this.card,
      width = this.width;
    if (!width) return;
    const height = width < 560 ? 210 : 176,
      top = 20,
      bottom = 18;
    attr(this.map, 'viewBox', `0 0 ${width} ${top + height + bottom}`);
    attr(this.map, 'height', top + height + bottom);
    const scale = width / card.total_bytes;
    const blocks = new Map();
    for (const cell of cellsOf(card)) {
      if (!blocks.has(cell.block)) blocks.set(cell.block, []);
      blocks.get(cell.block).push(cell);
    }
    const cells = [],
      frames = [],
      titles = [];
    let x = 0;
    for (const block of FAMILIES) {
      const inside = blocks.get(block);
      if (!inside) continue;
      let sum = 0;
      for (const cell of inside) sum += cell.bytes;
      const wide = sum * scale;
      const place = (cell, cx, cy, cw, ch) => {
        // Edges lie on half pixels: neighbours share them, and what moves by less needs no change.
        cell.x = half(cx);
        cell.y = half(cy);
        cell.w = half(cx + cw) - cell.x;
        cell.h = half(cy + ch) - cell.y;
        cells.push(cell);
      };
      if (block !== 'group') squarify(gather(inside, scale * height), x, top, wide, height, place);
      else {
        squarify(byGroup(inside), x, top, wide, height, (group, gx, gy, gw, gh) => {
          squarify(gather(group.cells, scale * height), gx, gy, gw, gh, place);
          frames.push({ key: `g/${group.name}`, family: block, x: gx, y: gy, w: gw, h: gh });
        });
      }
      if (block !== 'group') frames.push({ key: block, family: block, x, y: top, w: wide, h: height });
      titles.push({
        key: block,
        x,
        w: wide,
        text: block === 'group' ? 'Groups' : FAMILY_TITLES[block],
        sub: bytes(sum),
      });
      x += wide;
    }
    this.cells = cells;
    this.filterCells();
    const rects = keyed(
      this.cells_(),
      cells,
      (cell) => cell.key,
      () => ({ node: svg('rect', { role: 'option', rx: 1.5, 'aria-selected': 'false' }) }),
      (row, cell) => {
        cell.node = row.node;
        row.node.__cell = cell;
        box(row.node, cell);
        const said = row.said;
        if (
          said &&
          said.bytes === cell.bytes &&
          said.readers === cell.readers &&
          said.state === cell.state &&
          said.dim === cell.dim
        )
          return;
        row.said = { bytes: cell.bytes, readers: cell.readers, state: cell.state, dim: cell.dim };
        attr(
          row.node,
          'class',
          `cell k-${cell.family}${cell.state === 'staging' || cell.state === 'writing' || cell.kind === 'cache_idle' || cell.kind === 'recycled' ? ' pending' : ''}${cell.state === 'draining' || cell.state === 'deleted' ? ' draining' : ''}${isLost(cell) ? ' lost' : ''}${cell.dim ? ' dim' : ''}`,
        );
        attr(
          row.node,
          'aria-label',
          `${seen(cellTitle(cell))}: ${kindTitle(cell.kind)}, ${bytes(cell.bytes)}${cell.readers ? `, ${count(cell.readers, 'reader')}` : ''}`,
        );
      },
    );
    for (const row of rects.values())
      if (!row.node.id) {
        this.made = (this.made || 0) + 1;
        row.node.id = `${this.id}-c${this.made}`;
      }
    const textured = cells
      .filter((cell) => TEXTURED.has(cell.family) && cell.w > 5 && cell.h > 5 && !cell.dim)
      .slice(0, 200);
    keyed(
      this.patterns,
      textured,
      (cell) => cell.key,
      () => ({ node: svg('rect', { class: 'pattern' }) }),
      (row, cell) => {
        box(row.node, cell);
        attr(row.node, 'fill', `url(#p-${cell.family})`);
      },
    );
    keyed(
      this.frames,
      frames,
      (frame) => frame.key,
      (frame) => ({ node: svg('rect', { class: `frame e-${frame.family}`, rx: 2 }) }),
      (row, frame) =>
        box(row.node, { x: frame.x + 0.5, y: frame.y + 0.5, w: Math.max(0, frame.w - 1), h: frame.h - 1 }),
    );
    const written = [];
    for (const title of titles) {
      const fits = Math.floor((title.w - 4) / 6.6);
      const full = `${title.text} ${title.sub}`;
      const text = full.length <= fits ? full : title.text.length <= fits ? title.text : '';
      if (text) written.push({ key: `t/${title.key}`, x: title.x + 1, y: 13, text });
    }
    for (const cell of cells) {
      if (cell.w < 46 || cell.h < 19 || cell.family === 'free' || cell.family === 'other') continue;
      const fits = Math.floor((cell.w - 13) / 6.5);
      const name = cellName(cell, fits);
      written.push({
        key: `n/${cell.key}`,
        x: cell.x + 7,
        y: cell.y + 16,
        text: name,
        dim: cell.dim,
        on: TEXTURED.has(cell.family) ? cell.family : '',
      });
      const under = `${bytes(cell.bytes)}${cell.state === 'current' ? ', current' : ''}`;
      if (cell.h >= 34)
        written.push({
          key: `s/${cell.key}`,
          x: cell.x + 7,
          y: cell.y + 30,
          text: under.length <= fits ? under : cut(bytes(cell.bytes), fits),
          sub: true,
          dim: cell.dim,
          on: TEXTURED.has(cell.family) ? cell.family : '',
        });
      if (cell.h >= 50 && cell.readers)
        written.push({
          key: `r/${cell.key}`,
          x: cell.x + 7,
          y: cell.y + 44,
          text: cut(count(cell.readers, 'reader'), fits),
          sub: true,
          dim: cell.dim,
          on: TEXTURED.has(cell.family) ? cell.family : '',
        });
    }
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
    const ticks = axis(card.total_bytes, width < 560 ? 4 : 9, 56 / scale).map((value) => ({
      key: value,
      x: value * scale,
      value,
    }));
    keyed(
      this.ticks,
      ticks,
      (tick) => String(tick.key),
      () => {
        const line = svg('line', { class: 'tick' }),
          text = svg('text', { class: 'tick' }),
          node = svg('g');
        node.append(line, text);
        return { node, line, text };
      },
      (row, tick) => {
        const end = tick.x > width - 44;
        for (const [name, value] of [
          ['x1', tick.x],
          ['x2', tick.x],
          ['y1', top + height],
          ['y2', top + height + 4],
        ])
          attr(row.line, name, value.toFixed(1));
        attr(row.text, 'x', Math.min(width, tick.x).toFixed(1));
        attr(row.text, 'y', top + height + 15);
        attr(row.text, 'text-anchor', tick.x === 0 ? 'start' : end ? 'end' : 'middle');
        say(row.text, bytes(tick.value));
      },
    );
    const parts = titles.map((title) => `${title.text} ${title.sub}`).join(', ');
    say(this.says, `Memory to scale: ${parts}. Arrow keys go from part to part, Enter shows all about one.`);
    if (this.cursor) this.point(this.cells.find((cell) => cell.key === this.cursor.key) || null);
  }
  cells_() {
    return this.layers[0];
  }

  filterCells() {
    for (const cell of this.cells)
      cell.dim =
        state.words.length > 0 &&
        !(cell.gathered || [cell]).some((it) =>
          matches(`${it.label} ${it.parent || ''} ${it.owner || ''} ${it.state || ''} ${kindTitle(it.kind)}`),
        );
  }

  point(cell) {
    if (this.cursor && this.cursor.node) attr(this.cursor.node, 'aria-selected', 'false');
    this.cursor = cell || this.cursor;
    attr(this.hand, 'visibility', cell ? 'visible' : 'hidden');
    if (!cell) {
      attr(this.map, 'aria-activedescendant', null);
      return;
    }
    box(this.hand, { x: cell.x + 1, y: cell.y + 1, w: Math.max(1, cell.w - 2), h: Math.max(1, cell.h - 2) });
    attr(cell.node, 'aria-selected', 'true');
    attr(this.map, 'aria-activedescendant', cell.node.id);
  }
  under(event) {
    return event.target.__cell || null;
  }
  hover(event) {
    const cell = this.under(event);
    if (!cell) {
      hideTip();
      this.point(null);
      return;
    }
    this.point(cell);
    tip(cellFacts(this.card, cell), event.clientX, event.clientY);
  }
  tipAtCursor() {
    if (!this.cursor || !this.cursor.node) return;
    const place = this.cursor.node.getBoundingClientRect();
    tip(cellFacts(this.card, this.cursor), place.left + place.width / 2, place.bottom - 4);
  }
  key(event) {
    const from = this.cursor || this.cells[0];
    if (!from) return;
    const order = this.cells,
      place = order.indexOf(from);
    let to = null;
    if (event.key === 'ArrowRight') to = nearest(order, from, 1, 0) || order[place + 1];
    else if (event.key === 'ArrowLeft') to = nearest(order, from, -1, 0) || order[place - 1];
    else if (event.key === 'ArrowDown') to = nearest(order, from, 0, 1);
    else if (event.key === 'ArrowUp') to = nearest(order, from, 0, -1);
    else if (event.key === 'Home') to = order[0];
    else if (event.key === 'End') to = order[order.length - 1];
    else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      inspectCell(this.card, from);
      return;
    } else return;
    event.preventDefault();
    this.point(to || from);
    this.tipAtCursor();
  }

  drawLegend() {
    const sums = new Map();
    for (const cell of cellsOf(this.card)) {
      const sum = sums.get(cell.family) || { bytes: 0 };
      sum.bytes += cell.bytes;
      sums.set(cell.family, sum);
    }
    const rows = FAMILIES.filter((it) => sums.has(it)).map((it) => ({
      family: it,
      title: FAMILY_TITLES[it],
      bytes: sums.get(it).bytes,
    }));
    rows.push({ family: null, title: 'The card', bytes: this.card.total_bytes });
    keyed(
      this.legend,
      rows,
      (row) => row.title,
      (row) => {
        const size = el('td'),
          share = el('td', { class: 'muted' });
        return {
          node: el(
            'tr',
            row.family ? {} : { class: 'sum' },
            el('th', { scope: 'row' }, row.family ? swatch(row.family) : '', row.title),
            size,
            share,
          ),
          size,
          share,
        };
      },
      (row, { bytes: value }) => {
        say(row.size, bytes(value));
        say(row.share, percent(value, this.card.total_bytes));
      },
    );
  }
}
function isLost(cell) {
  return (
    cell.state === 'lost' ||
    cell.state === 'orphan' ||
    cell.state === 'over' ||
    cell.state === 'lying' ||
    cell.state === 'broken'
  );
}
function ratio(value) {
  return value === null || value === undefined ? null : `${Math.round(value * 100)} %`;
}
function half(number) {
  return Math.round(number * 2) / 2;
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
function swatch(kind) {
  const node = svg('svg', { class: 'swatch', viewBox: '0 0 14 14', 'aria-hidden': 'true' });
  node.append(svg('rect', { x: 0.5, y: 0.5, width: 13, height: 13, rx: 3, class: `k-${kind} e-${kind}` }));
  if (TEXTURED.has(kind)) node.append(svg('rect', { x: 1, y: 1, width: 12, height: 12, fill: `url(#p-${kind})` }));
  return node;
}
