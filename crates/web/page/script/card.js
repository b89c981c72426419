// A GPU: its readings, its map, its parts as a table, and its memory over time.

class CardView {
  constructor(card) {
    this.id = `gpu${card.index}`;
    this.title = el('h2', { id: `${this.id}-title`, tabindex: '-1' });
    this.name = el('span', { class: 'muted' });
    this.readings = el('div', { class: 'readings' });
    this.map = new CardMap(this.id, () => this.chart.draw(this.card, this.map.width));
    this.chart = new Chart();
    this.legend = el('tbody');
    const heads = ['Part', 'Size', 'Share'].map((title) => el('th', { scope: 'col' }, title));
    const caption = el('caption', { class: 'unseen' }, `Parts of GPU ${card.index}`);
    const head = el('thead', { class: 'unseen' }, el('tr', {}, ...heads));
    const pictures = el('div', {}, this.map.node, this.chart.node);
    const table = el('table', { class: 'legend' }, caption, head, this.legend);
    this.node = el('section', { class: 'panel gpu', 'aria-labelledby': this.title.id });
    this.node.append(
      el('header', {}, this.title, this.name, this.readings),
      el('div', { class: 'body' }, pictures, el('div', {}, table)),
    );
  }

  update(card) {
    this.card = card;
    say(this.title, `GPU ${card.index}`);
    say(this.name, seen(card.name));
    keyed(
      this.readings,
      readingsOf(card),
      ([title]) => title,
      ([title]) => {
        const value = el('b');
        return { node: el('span', {}, `${title} `, value), value };
      },
      (row, [, value]) => say(row.value, value),
    );
    this.map.update(card);
    this.updateLegend();
    this.chart.draw(card, this.map.width);
  }

  updateLegend() {
    const sums = sumsOf(this.card);
    const rows = FAMILIES.filter((kind) => sums.has(kind)).map((kind) => ({ kind, title: FAMILY_TITLES[kind] }));
    keyed(
      this.legend,
      [...rows, { kind: null, title: 'The card' }],
      (row) => row.title,
      ({ kind, title }) => {
        const head = el('th', { scope: 'row' }, kind ? swatch(kind) : '', title);
        const size = el('td');
        const share = el('td', { class: 'muted' });
        return { node: el('tr', kind ? {} : { class: 'sum' }, head, size, share), size, share };
      },
      (row, { kind }) => {
        const held = kind ? sums.get(kind) : this.card.total_bytes;
        say(row.size, bytes(held));
        say(row.share, percent(held, this.card.total_bytes));
      },
    );
  }
}

/** What the card says of itself, without what it does not say. */
function readingsOf(card) {
  const { utilisation_ratio, temperature_celsius, power_watts, power_limit_watts, fan_ratio } = card.readings || {};
  const is = (value) => value !== null && value !== undefined;
  const limit = is(power_limit_watts) ? ` of ${Math.round(power_limit_watts)}` : '';
  return [
    ['Used', is(card.used_bytes) && `${bytes(card.used_bytes)} of ${bytes(card.total_bytes)}`],
    ['Busy', is(utilisation_ratio) && `${Math.round(utilisation_ratio * 100)} %`],
    ['Temperature', is(temperature_celsius) && `${Math.round(temperature_celsius)} °C`],
    ['Power', is(power_watts) && `${Math.round(power_watts)}${limit} W`],
    ['Fan', is(fan_ratio) && `${Math.round(fan_ratio * 100)} %`],
  ].filter(([, value]) => value);
}

function sumsOf(card) {
  const sums = new Map();
  for (const cell of cellsOf(card)) sums.set(cell.family, (sums.get(cell.family) || 0) + cell.bytes);
  return sums;
}

function swatch(kind) {
  const node = svg('svg', { class: 'swatch', viewBox: '0 0 14 14', 'aria-hidden': 'true' });
  node.append(svg('rect', { x: 0.5, y: 0.5, width: 13, height: 13, rx: 3, class: `k-${kind} e-${kind}` }));
  if (TEXTURED.has(kind)) node.append(svg('rect', { x: 1, y: 1, width: 12, height: 12, fill: `url(#p-${kind})` }));
  return node;
}
