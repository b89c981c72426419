// What parts of a card are called, and which of them are alike.

const FAMILIES = ['model', 'tensor', 'cache', 'group', 'pond', 'other', 'free'];
const TEXTURED = new Set(['cache', 'group', 'pond', 'other']);
const FAMILY_TITLES = {
  model: 'Models',
  tensor: 'Tensors',
  cache: 'Elastic caches',
  group: 'Programs in groups',
  pond: 'Kept by the pond',
  other: 'Other programs',
  free: 'Free',
};
const KINDS = {
  version: ['model', 'version of a model'],
  shared_slabs: ['model', 'slabs that several versions share'],
  tensor: ['tensor', 'tensor'],
  tensors: ['tensor', 'several tensors'],
  ipc: ['tensor', 'ipc memory'],
  slab_room: ['pond', 'room in slabs beside tensors'],
  recycled: ['pond', 'empty slabs, kept for their owners'],
  unlisted: ['pond', 'slabs that no listing names'],
  host_context: ['pond', 'context of a host'],
  mover_context: ['pond', 'context of a mover'],
  group: ['group', 'programs of a group'],
  contexts: ['group', 'CUDA contexts'],
  cache: ['cache', 'pages of an elastic cache'],
  cache_idle: ['cache', 'idle pages of an elastic cache'],
  other: ['other', 'programs that the pond does not know, and the driver'],
  free: ['free', 'in use by nobody'],
};
function family(kind) {
  return (KINDS[kind] || ['other'])[0];
}
function kindTitle(kind) {
  return (KINDS[kind] || [null, seen(kind)])[1];
}

const cellsKept = new WeakMap();
/** The cells of a card: a group's caches, contexts and programs are cells of their own. */
function cellsOf(card) {
  if (cellsKept.has(card)) return cellsKept.get(card);
  const cells = [];
  cellsKept.set(card, cells);
  for (const segment of card.segments) {
    const children = segment.children || [],
      block = family(segment.kind);
    let rest = segment.bytes;
    for (const child of children) {
      rest -= child.bytes;
      cells.push({ ...child, parent: segment.label, family: family(child.kind), block });
    }
    if (rest > 0)
      cells.push({
        ...segment,
        bytes: rest,
        parent: segment.kind === 'group' ? segment.label : null,
        family: block,
        block,
      });
  }
  for (const cell of cells) cell.key = `${cell.kind}/${cell.id || `${cell.parent || ''}/${cell.label}/${cell.user}`}`;
  return cells;
}
function cacheOf(id) {
  return state.overview.caches.find((it) => it.cache === id) || null;
}
function cellTitle(cell) {
  if (cell.gathered) return cell.label;
  if (cell.kind === 'group') return `programs of ${cell.label}`;
  if (cell.kind === 'contexts') return `contexts of ${cell.parent}`;
  const cache = cell.family === 'cache' && cacheOf(cell.id);
  return cache ? `${cache.name}${cell.kind === 'cache_idle' ? ', idle' : ''}` : cell.label;
}
