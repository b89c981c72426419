// Tensors one by one, and sums of those that are too many.

const tensors = new Table(
  'b-tensors',
  'Tensors',
  [
    {
      key: 'name',
      title: 'Name',
      row: true,
      class: 'wide',
      by: (it) => it.name || `~${it.id}`,
      paint: nameCell(
        (it) => ({ kind: 'tensor', key: it.id }),
        (it) => it.name || it.id,
      ),
    },
    { key: 'size', title: 'Size', num: true, by: (it) => it.bytes, text: (it) => bytes(it.bytes) },
    {
      key: 'type',
      title: 'Type',
      class: 'p3',
      by: (it) => `${it.dtype} ${it.shape.length}`,
      text: (it) =>
        `${it.dtype} [${it.shape.length > 4 ? `${it.shape.slice(0, 4).join(', ')}, …` : it.shape.join(', ')}]`,
    },
    {
      key: 'state',
      title: 'State',
      by: (it) => it.state,
      paint: (cell, it) =>
        badge(cell, [
          { text: it.state, tone: it.state === 'orphan' ? 'bad' : it.state === 'ready' ? '' : 'warn' },
          ...(it.transport !== 'vmm' ? [{ text: it.transport }] : []),
        ]),
    },
    { key: 'owner', title: 'Owner', class: 'p3', by: (it) => user(it.user), text: (it) => user(it.user) },
    {
      key: 'readers',
      title: 'Readers',
      num: true,
      class: 'p2',
      by: (it) => it.lease_count,
      text: (it) => integer.format(it.lease_count),
    },
    {
      key: 'age',
      title: 'Age',
      num: true,
      class: 'p2',
      by: (it) => -it.created_unix_ms,
      paint: (cell, it) => age(cell, it.created_unix_ms),
    },
  ],
  { name: 'tensors', key: (it) => it.id, sort: 'size', falling: true },
);
const sums = new Table(
  'b-tensors',
  'Tensors that are not shown one by one',
  [
    {
      key: 'name',
      title: 'Others, by the first part of their name',
      row: true,
      class: 'wide',
      by: (it) => it.prefix || '~',
      text: (it) => (it.prefix === null ? (it.user === null ? 'all others' : 'without a name') : `${it.prefix}/…`),
    },
    { key: 'count', title: 'Tensors', num: true, by: (it) => it.count, text: (it) => integer.format(it.count) },
    { key: 'size', title: 'Size', num: true, by: (it) => it.bytes, text: (it) => bytes(it.bytes) },
    {
      key: 'owner',
      title: 'Owner',
      class: 'p3',
      by: (it) => it.user ?? -1,
      text: (it) => (it.user === null ? '–' : user(it.user)),
    },
    {
      key: 'readers',
      title: 'Readers',
      num: true,
      class: 'p2',
      by: (it) => it.lease_count,
      text: (it) => integer.format(it.lease_count),
    },
  ],
  { name: 'sums', key: (it) => `${it.device}/${it.user}/${it.prefix}`, sort: 'size', falling: true, most: 20 },
);
function paintTensors(overview) {
  const fits = fitting(
    overview.tensors,
    (it) => `${it.name || ''} ${it.id} ${user(it.user)} ${it.state} ${it.dtype} ${it.transport} tensor`,
  );
  tensors.update(fits);
  const others = fitting(
    overview.tensor_groups,
    (it) => `${it.prefix || ''} ${it.user === null ? '' : user(it.user)} tensor`,
  );
  sums.update(others);
  const all = overview.tensors_total;
  say(
    $('n-tensors'),
    !all
      ? ''
      : state.words.length
        ? `${integer.format(fits.length)} of ${integer.format(overview.tensors.length)} fit the filter${overview.tensors_shown < all ? `; ${integer.format(all - overview.tensors_shown)} are not shown one by one` : ''}`
        : overview.tensors_shown < all
          ? `${integer.format(all)}, the ${integer.format(overview.tensors_shown)} largest one by one`
          : integer.format(all),
  );
  tensors.says(
    fits.length || others.length
      ? null
      : all
        ? [el('p', {}, 'No tensor fits the filter.')]
        : [
            el('p', {}, 'No tensor yet. Make one; every process finds it by its name:'),
            el(
              'pre',
              {},
              'millpond tensor create acts/x --dtype bf16 --shape 4096,4096 --zero\nmillpond tensor put weights/w0 w0.npy',
            ),
          ],
  );
}
