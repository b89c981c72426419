// Memory over time.

const CHART_HEIGHT = 64;

/** A ring of samples as points of this card: time is the clock's that never goes back, counted from the newest one. */
function samplesOf(series) {
  const points = series.points || [],
    last = points[points.length - 1];
  return points.map((point) => {
    const by = {},
      groups = new Map();
    series.holders.forEach((holder, i) => {
      const held = point.bytes[i] || 0,
        kind = holder.kind ? family(holder.kind) : 'other';
      by[kind] = (by[kind] || 0) + held;
      if (holder.kind === 'group') groups.set(holder.label, held);
    });
    return { at: last.at_unix_ms - (last.monotonic_ms - point.monotonic_ms), by, groups };
  });
}

/** The readings of a card, the one that is shown included. */
function samplesUntilNow(card) {
  const samples = state.history.get(`gpu${card.index}`) || [],
    by = {},
    groups = new Map(),
    at = state.link === 'live' ? now() : state.overview.at_unix_ms;
  for (const segment of card.segments) {
    const kind = family(segment.kind);
    by[kind] = (by[kind] || 0) + segment.bytes;
    if (segment.kind === 'group') groups.set(segment.label, segment.bytes);
  }
  return samples.filter((it) => it.at < at).concat({ at, by, groups });
}

/** The last hour, or less while less is known: a minute at least. */
function windowOf(samples, end) {
  return samples.length
    ? Math.min(HISTORY_SECONDS * 1000, Math.max(60000, end - samples[0].at))
    : HISTORY_SECONDS * 1000;
}

/** Memory of a card over time: an area for each kind, one on the other. */
class Chart {
  constructor() {
    this.samples = [];
    this.caption = el('figcaption');
    this.picture = svg('svg', { class: 'chart', role: 'img' });
    this.node = el('figure', {}, this.caption, this.picture);
    this.areas = svg('g');
    this.lines = [svg('line', { class: 'top-line', x1: 0, y1: 0.5, y2: 0.5 })];
    this.lines.push(svg('line', { class: 'base', x1: 0, y1: CHART_HEIGHT - 0.5, y2: CHART_HEIGHT - 0.5 }));
    this.hand = svg('line', { class: 'hand', y1: 0, y2: CHART_HEIGHT, visibility: 'hidden' });
    this.picture.append(this.lines[0], this.areas, this.lines[1], this.hand);
    this.picture.addEventListener('pointermove', (event) => this.read(event));
    this.picture.addEventListener('pointerleave', () => {
      hideTip();
      attr(this.hand, 'visibility', 'hidden');
    });
  }

  draw(card, width) {
    if (!width) return;
    const samples = samplesUntilNow(card);
    const end = now();
    const begin = end - windowOf(samples, end);
    const total = card.total_bytes;
    attr(this.picture, 'viewBox', `0 0 ${width} ${CHART_HEIGHT}`);
    for (const line of this.lines) attr(line, 'x2', width);
    this.samples = samples.filter((sample) => sample.at >= begin && sample.at <= end);
    this.across = (sample) => ((sample.at - begin) / (end - begin)) * width;
    keyed(
      this.areas,
      this.paths(total),
      (path) => path.kind,
      (path) => ({ node: svg('path', { class: `k-${path.kind} e-${path.kind}` }) }),
      (row, path) => attr(row.node, 'd', path.d),
    );
    const span = end - begin >= HISTORY_SECONDS * 1000 ? 'The last hour' : `The last ${long(end - begin)}`;
    const used = this.samples.map(usedIn);
    say(this.caption, span);
    const range = used.length
      ? `between ${bytes(Math.min(...used))} and ${bytes(Math.max(...used))}`
      : 'no readings yet';
    attr(
      this.picture,
      'aria-label',
      `${span}, memory in use: ${range}, now ${bytes(used.at(-1) || 0)} of ${bytes(total)}`,
    );
  }

  paths(total) {
    const floor = this.samples.map(() => 0);
    const y = (held) => (CHART_HEIGHT - (CHART_HEIGHT * held) / total).toFixed(1);
    const paths = [];
    for (const kind of FAMILIES) {
      if (kind === 'free' || !this.samples.some((sample) => sample.by[kind] > 0)) continue;
      let forth = '';
      let back = '';
      this.samples.forEach((sample, i) => {
        const low = floor[i];
        floor[i] += sample.by[kind] || 0;
        const x = this.across(sample).toFixed(1);
        forth += `${i ? 'L' : 'M'}${x} ${y(floor[i])}`;
        back = `L${x} ${y(low)}${back}`;
      });
      paths.push({ kind, d: `${forth}${back}Z` });
    }
    return paths;
  }

  /** What was held at the moment that the pointer is over. */
  read(event) {
    if (!this.samples.length) return;
    const at = event.clientX - this.picture.getBoundingClientRect().left;
    let best = this.samples[0];
    for (const sample of this.samples) {
      if (Math.abs(this.across(sample) - at) < Math.abs(this.across(best) - at)) best = sample;
    }
    for (const name of ['x1', 'x2']) attr(this.hand, name, this.across(best).toFixed(1));
    attr(this.hand, 'visibility', 'visible');
    const held = FAMILIES.filter((kind) => kind !== 'free' && best.by[kind] > 0);
    const list = held.map((kind) => [FAMILY_TITLES[kind], bytes(best.by[kind])]);
    tip({ title: clock.format(new Date(best.at)), facts: list }, event.clientX, event.clientY);
  }
}

function usedIn(sample) {
  return FAMILIES.reduce((sum, kind) => sum + (kind === 'free' ? 0 : sample.by[kind] || 0), 0);
}
