// Where parts of a map lie.

/** Squarified treemap; `items` are in falling order of bytes. Calls `place(item, x, y, width, height)`. */
function squarify(items, x, y, width, height, place) {
  let total = 0;
  for (const item of items) total += item.bytes;
  if (!(total > 0) || width <= 0 || height <= 0) return;
  const scale = (width * height) / total;
  let start = 0;
  while (start < items.length) {
    const side = Math.min(width, height);
    let sum = 0,
      worst = Infinity,
      end = start;
    const largest = items[start].bytes * scale;
    while (end < items.length) {
      const area = items[end].bytes * scale,
        all = sum + area;
      const ratio = Math.max((side * side * largest) / (all * all), (all * all) / (side * side * area));
      if (ratio > worst) break;
      worst = ratio;
      sum = all;
      end += 1;
    }
    const thick = side > 0 ? sum / side : 0;
    let along = width >= height ? y : x;
    for (let i = start; i < end; i += 1) {
      const length = sum > 0 ? ((items[i].bytes * scale) / sum) * side : 0;
      if (width >= height) place(items[i], x, along, thick, length);
      else place(items[i], along, y, length, thick);
      along += length;
    }
    if (width >= height) {
      x += thick;
      width -= thick;
    } else {
      y += thick;
      height -= thick;
    }
    start = end;
  }
}

const SMALLEST_AREA = 9;

/** What is too small to see becomes one cell; its parts are in the tables. */
function gather(cells, pixelsPerByte) {
  const sorted = cells.slice().sort((a, b) => b.bytes - a.bytes || (a.key < b.key ? -1 : 1));
  let end = sorted.length;
  while (end > 0 && sorted[end - 1].bytes * pixelsPerByte < SMALLEST_AREA) end -= 1;
  if (sorted.length - end < 2) return sorted;
  const small = sorted.splice(end);
  const sum = { bytes: 0, count: 0, readers: 0 };
  for (const cell of small) {
    sum.bytes += cell.bytes;
    sum.count += cell.count || 1;
    sum.readers += cell.readers || 0;
  }
  sorted.push({
    ...sum,
    kind: small[0].kind,
    family: small[0].family,
    label: `${integer.format(sum.count)} too small to draw`,
    key: `small/${small[0].block}/${small[0].parent || ''}`,
    block: small[0].block,
    gathered: small,
  });
  return sorted;
}

function byGroup(cells) {
  const groups = new Map();
  for (const cell of cells) {
    const group = groups.get(cell.parent) || { name: cell.parent, bytes: 0, cells: [] };
    group.bytes += cell.bytes;
    group.cells.push(cell);
    groups.set(cell.parent, group);
  }
  return [...groups.values()].sort((a, b) => b.bytes - a.bytes || (a.name < b.name ? -1 : 1));
}

function half(number) {
  return Math.round(number * 2) / 2;
}

/** Where everything of a card lies: its cells, the frames around them, and the titles above. */
function arrange(card, width, top, height) {
  const scale = width / card.total_bytes;
  const cells = [];
  const frames = [];
  const titles = [];
  const place = (cell, x, y, w, h) => {
    // Edges lie on half pixels: neighbours share them, and what moves by less needs no change.
    cell.x = half(x);
    cell.y = half(y);
    cell.w = half(x + w) - cell.x;
    cell.h = half(y + h) - cell.y;
    cells.push(cell);
  };
  const fill = (key, block, inside, x, y, w, h) => {
    squarify(gather(inside, scale * height), x, y, w, h, place);
    frames.push({ key, block, x, y, w, h });
  };
  const blocks = new Map(FAMILIES.map((block) => [block, []]));
  for (const cell of cellsOf(card)) blocks.get(cell.block).push(cell);
  let x = 0;
  for (const [block, inside] of blocks) {
    if (!inside.length) continue;
    let sum = 0;
    for (const cell of inside) sum += cell.bytes;
    const wide = sum * scale;
    if (block === 'group') {
      squarify(byGroup(inside), x, top, wide, height, (group, gx, gy, gw, gh) => {
        fill(`group/${group.name}`, block, group.cells, gx, gy, gw, gh);
      });
    } else fill(block, block, inside, x, top, wide, height);
    titles.push({ key: block, x, w: wide, text: block === 'group' ? 'Groups' : FAMILY_TITLES[block], sum });
    x += wide;
  }
  return { cells, frames, titles };
}

/** Places of a scale: powers of two, and the end, which has room for its number. */
function axis(total, most, apart) {
  let step = 1 << 20;
  while (total / step > most) step *= 2;
  const ticks = [];
  for (let value = 0; value <= total - apart; value += step) ticks.push(value);
  ticks.push(total);
  return ticks;
}

/** The next cell in a direction: what overlaps comes first, then what is near. */
function nearest(cells, from, dx, dy) {
  const cx = from.x + from.w / 2,
    cy = from.y + from.h / 2;
  let best = null,
    least = Infinity;
  for (const cell of cells) {
    if (cell === from) continue;
    const far = dx ? dx * (cell.x + cell.w / 2 - cx) : dy * (cell.y + cell.h / 2 - cy);
    const gap =
      dx > 0
        ? cell.x - (from.x + from.w)
        : dx < 0
          ? from.x - (cell.x + cell.w)
          : dy > 0
            ? cell.y - (from.y + from.h)
            : from.y - (cell.y + cell.h);
    if (far <= 0 || gap < -1) continue;
    const aside = dx
      ? Math.max(0, cell.y - cy, cy - (cell.y + cell.h))
      : Math.max(0, cell.x - cx, cx - (cell.x + cell.w));
    const cost = gap + aside * 3;
    if (cost < least) {
      least = cost;
      best = cell;
    }
  }
  return best;
}
