// Groups and caches against their limits.

function groupState(group) {
  if (group.broken) return { text: 'broken', tone: 'bad', why: 'its files are not what they should be' };
  if (group.lying) return { text: 'lying', tone: 'bad', why: 'its programs hold more than they say' };
  if (group.stuck) return { text: 'stuck', tone: 'bad', why: 'a process keeps its lock' };
  if (group.devices.some((it) => it.effective_bytes !== null && it.used_bytes > it.effective_bytes))
    return { text: 'over', tone: 'warn', why: 'it holds more than its limit' };
  return { text: 'ok', tone: 'good', why: '' };
}
const groups = new Table(
  'b-limits',
  'Groups with what they use of their limits',
  [
    {
      key: 'name',
      title: 'Group',
      row: true,
      paint: nameCell(
        (it) => ({ kind: 'group', key: it.group.name }),
        (it) => it.group.name,
      ),
    },
    {
      key: 'used',
      title: 'Used of limit',
      class: 'wide',
      paint: (cell, { group, device }) => {
        const limit = device.effective_bytes ?? device.limit_bytes,
          card = state.overview.cards.find((it) => it.device === device.device);
        const caches = state.overview.caches
          .filter((it) => it.group === group.name && it.device === device.device)
          .reduce((sum, it) => sum + it.held_bytes, 0);
        bar(
          cell,
          [
            { class: 'b-group', bytes: Math.max(0, device.process_bytes - caches) },
            { class: 'b-cache', bytes: Math.min(caches, device.process_bytes) },
            { class: 'b-tensor', bytes: device.pond_bytes },
          ],
          limit ?? (card ? card.total_bytes : 0),
          `${bytes(device.used_bytes)}${limit === null ? ', no limit' : ` of ${bytes(limit)}`}${state.overview.cards.length > 1 ? `, ${gpuOf(device.device)}` : ''}`,
          limit !== null && device.used_bytes > limit ? 'bad' : '',
        );
      },
    },
    { key: 'hour', title: 'Recent', class: 'p3', paint: (cell, { group, device }) => spark(cell, group.name, device) },
    {
      key: 'state',
      title: 'State',
      paint: (cell, { group }) => {
        const it = groupState(group);
        badge(cell, [it]);
        attr(cell, 'title', it.why || null);
      },
    },
    {
      key: 'processes',
      title: 'Processes',
      num: true,
      class: 'p2',
      text: ({ device }) => integer.format(device.process_count),
    },
    {
      key: 'acts',
      title: 'Actions',
      unseen: true,
      paint: (cell, { group, device }) => {
        if (!cell.firstChild) cell.append(el('div', { class: 'acts' }));
        keyed(
          cell.firstChild,
          state.whoami.actions ? [1] : [],
          () => 'limit',
          () => {
            const row = {
              node: el('button', { type: 'button', class: 'button small', onclick: () => row.go() }, 'Limit'),
            };
            return row;
          },
          (row) => {
            row.go = () => askLimit(group, device);
            attr(row.node, 'aria-label', seen(`Change the limit of ${group.name}`));
          },
        );
      },
    },
  ],
  { name: 'groups', key: (it) => `${it.group.name}/${it.device.device}`, fixed: true },
);
const caches = new Table(
  'b-limits',
  'Elastic caches',
  [
    {
      key: 'name',
      title: 'Cache',
      row: true,
      class: 'wide',
      paint: nameCell(
        (it) => ({ kind: 'cache', key: it.cache }),
        (it) => it.name,
      ),
    },
    { key: 'process', title: 'Process', class: 'p2', text: (it) => it.program },
    {
      key: 'held',
      title: 'In use, idle',
      paint: (cell, it) =>
        bar(
          cell,
          [
            { class: 'b-cache', bytes: it.committed_bytes },
            { class: 'b-cache idle', bytes: it.idle_bytes },
          ],
          Math.max(it.held_bytes, limitOf(it)),
          `${bytes(it.committed_bytes)}${it.idle_bytes ? ` + ${bytes(it.idle_bytes)} idle` : ''}`,
        ),
    },
    {
      key: 'wants',
      title: 'Waits for',
      num: true,
      class: 'p2',
      text: (it) => (it.wanted_bytes ? bytes(it.wanted_bytes) : '–'),
    },
    {
      key: 'moved',
      title: 'Given, got',
      num: true,
      class: 'p3',
      text: (it) => (it.given_bytes || it.got_bytes ? `${bytes(it.given_bytes)}, ${bytes(it.got_bytes)}` : '–'),
    },
  ],
  { name: 'caches', key: (it) => it.cache, fixed: true },
);
function limitOf(cache) {
  const group = state.overview.groups.find((it) => it.name === cache.group),
    device = group && group.devices.find((it) => it.device === cache.device);
  return (device && (device.effective_bytes ?? device.limit_bytes)) || cache.reserved_bytes;
}
function spark(cell, name, device) {
  const card = state.overview.cards.find((it) => it.device === device.device);
  const all = card ? samplesUntilNow(card) : [],
    samples = all.filter((it) => it.groups.has(name));
  if (!cell.firstChild) {
    const node = svg('svg', { class: 'spark', viewBox: '0 0 110 26', role: 'img' });
    node.append(svg('path', { class: 'k-group e-group' }), svg('line', { class: 'limit', x1: 0, x2: 110 }));
    cell.append(node);
  }
  const node = cell.firstChild,
    end = now(),
    span = windowOf(all, end),
    limit = device.effective_bytes ?? device.limit_bytes;
  const used = samples.map((it) => it.groups.get(name));
  const most = Math.max(1, limit || 0, ...used) * 1.08;
  const x = (it) => Math.max(0, 110 - (110 * (end - it.at)) / span).toFixed(1);
  attr(
    node.firstChild,
    'd',
    samples.length > 1
      ? `M${x(samples[0])} 26${samples.map((it, i) => `L${x(it)} ${(26 - (26 * used[i]) / most).toFixed(1)}`).join('')}L${x(samples[samples.length - 1])} 26Z`
      : '',
  );
  const y = limit ? (26 - (26 * limit) / most).toFixed(1) : -9;
  attr(node.lastChild, 'y1', y);
  attr(node.lastChild, 'y2', y);
  attr(
    node,
    'aria-label',
    used.length
      ? `The last ${long(span)}: between ${bytes(Math.min(...used))} and ${bytes(Math.max(...used))}`
      : 'No readings yet',
  );
}
function paintLimits(overview) {
  const rows = [];
  for (const group of overview.groups)
    for (const device of group.devices)
      if (matches(`${group.name} group ${groupState(group).text}`)) rows.push({ group, device });
  groups.update(rows);
  const shown = overview.caches.filter((it) => matches(`${it.name} ${it.group} ${it.program} ${it.pid ?? ''} cache`));
  caches.update(shown);
  say(
    $('n-limits'),
    [
      overview.groups.length ? count(overview.groups.length, 'group') : '',
      overview.caches.length ? count(overview.caches.length, 'cache') : '',
    ]
      .filter(Boolean)
      .join(', '),
  );
  groups.says(
    rows.length || shown.length
      ? null
      : overview.groups.length || overview.caches.length
        ? [el('p', {}, 'No group or cache fits the filter.')]
        : [
            el('p', {}, 'No group has a limit. Put any CUDA program under one:'),
            el('pre', {}, 'millpond run --limit 10G -- python train.py\nmillpond group set serving --limit 32G'),
          ],
  );
}
