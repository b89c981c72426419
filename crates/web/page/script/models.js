// Models with their versions.

function versionState(version) {
  return version.lost ? 'lost' : version.state;
}
function rollbackTo(model) {
  return model.versions.find((it) => it.previous && !it.current && it.state === 'ready' && !it.lost) || null;
}
const models = new Table(
  'b-models',
  'Versions of models',
  [
    {
      key: 'name',
      title: 'Version',
      row: true,
      class: 'wide',
      paint: nameCell(
        (row) => ({ kind: 'version', key: row.version.id }),
        (row) => `${row.version.model}@${row.version.version}`,
      ),
    },
    {
      key: 'state',
      title: 'State',
      paint: (cell, { version }) =>
        badge(cell, [
          version.lost
            ? { text: 'lost', tone: 'bad' }
            : version.current
              ? { text: 'current', tone: 'now' }
              : { text: version.state, tone: version.state === 'ready' ? '' : 'warn' },
          ...(version.previous && !version.current ? [{ text: 'rollback' }] : []),
        ]),
    },
    { key: 'size', title: 'Size', num: true, text: ({ version }) => bytes(version.bytes || version.slab_bytes) },
    {
      key: 'shared',
      title: 'Shared',
      num: true,
      class: 'p3',
      text: ({ version }) => (version.shared_bytes ? bytes(version.shared_bytes) : '–'),
    },
    { key: 'readers', title: 'Readers', num: true, text: ({ version }) => integer.format(version.readers) },
    { key: 'owner', title: 'Owner', class: 'p3', text: ({ version }) => user(version.user) },
    {
      key: 'age',
      title: 'Age',
      num: true,
      class: 'p2',
      paint: (cell, { version }) => age(cell, version.created_unix_ms),
    },
    { key: 'acts', title: 'Actions', unseen: true, paint: paintVersionActs },
  ],
  { name: 'versions', key: (row) => row.version.id, fixed: true, most: 200 },
);

function paintVersionActs(cell, { model, version }) {
  const acts = [];
  if (state.whoami.actions) {
    const previous = rollbackTo(model);
    if (version.current && previous)
      acts.push([
        'Roll back',
        () => askRollback(model, version, previous),
        `Roll ${model.name} back to ${previous.version}`,
      ]);
    if (!version.current && version.state === 'ready' && !version.lost)
      acts.push(['Swap', () => askSwap(model, version), `Make ${model.name}@${version.version} current`]);
    if (version.state !== 'draining' && (!version.current || (model.versions.length === 1 && !version.readers)))
      acts.push(['Retire', () => askRetire(model, version), `Retire ${model.name}@${version.version}`]);
  }
  if (!cell.firstChild) cell.append(el('div', { class: 'acts' }));
  keyed(
    cell.firstChild,
    acts,
    (act) => act[0],
    () => {
      const row = { node: el('button', { type: 'button', class: 'button small', onclick: () => row.go() }) };
      return row;
    },
    (row, act) => {
      row.go = act[1];
      say(row.node, act[0]);
      attr(row.node, 'aria-label', seen(act[2]));
    },
  );
}
function paintModels(overview) {
  const rows = [];
  for (const model of overview.models)
    for (const version of model.versions) {
      if (
        matches(
          `${model.name}@${version.version} ${user(version.user)} ${version.state} ${version.current ? 'current' : ''} model`,
        )
      )
        rows.push({ model, version });
    }
  models.update(rows);
  const swaps = overview.status.counters.swaps || 0;
  say(
    $('n-models'),
    overview.models.length
      ? `${count(overview.models.length, 'model')}, ${count(
          overview.models.reduce((sum, it) => sum + it.versions.length, 0),
          'version',
        )}${swaps ? `, ${count(swaps, 'swap')} since the daemon's start` : ''}${lastSwap()}`
      : '',
  );
  models.says(
    rows.length
      ? null
      : overview.models.length
        ? [el('p', {}, 'No model fits the filter.')]
        : [
            el('p', {}, 'No model is loaded. One copy serves every process that attaches it:'),
            el('pre', {}, 'millpond load llama ./checkpoint --activate'),
          ],
  );
}
function lastSwap() {
  for (let i = state.events.length - 1; i >= 0; i -= 1)
    if (state.events[i].kind === 'model_swapped') return `, the last ${long(now() - state.events[i].unix_ms)} ago`;
  return '';
}
