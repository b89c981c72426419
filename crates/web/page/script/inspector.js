// What is said of one thing: in a tip, and in the panel at the side.

function tip(content, x, y) {
  const node = $('tip');
  node.replaceChildren(el('b', {}, bdi(content.title)), facts(content.facts));
  show(node, true);
  const size = node.getBoundingClientRect();
  const left = Math.max(8, Math.min(x + 14, innerWidth - size.width - 8));
  const top = y + 18 + size.height > innerHeight - 8 ? Math.max(8, y - size.height - 12) : y + 18;
  node.style.transform = `translate(${Math.round(left)}px, ${Math.round(top)}px)`;
}
function hideTip() {
  show($('tip'), false);
}
function facts(list) {
  const node = el('dl', { class: 'facts' });
  for (const [title, value] of list)
    if (value !== null && value !== undefined && value !== '')
      node.append(el('dt', {}, title), el('dd', {}, bdi(value)));
  return node;
}
function versionOf(id) {
  for (const model of state.overview.models) {
    const version = model.versions.find((it) => it.id === id);
    if (version) return version;
  }
  return null;
}
function tensorOf(id) {
  return state.overview.tensors.find((it) => it.id === id) || null;
}
function holdersOf(name) {
  return state.overview.processes.filter((process) => process.holds.includes(name));
}
function processText(process) {
  return `${process.program}, pid ${pidText(process.pid)}${process.silent ? ', silent' : ''}`;
}

function cellFacts(card, cell) {
  const list = [
    ['What', kindTitle(cell.kind)],
    ['Size', `${bytes(cell.bytes)}, ${percent(cell.bytes, card.total_bytes)} of the card`],
  ];
  if (cell.parent && !cell.gathered) list.push(['Group', cell.parent]);
  const cache = cell.family === 'cache' && cacheOf(cell.id);
  if (cache) list.push(['Process', `${cache.program}, pid ${pidText(cache.pid)}`]);
  if (cell.user !== null && cell.user !== undefined) list.push(['Owner', user(cell.user)]);
  const tensor = cell.id && tensorOf(cell.id),
    version = cell.id && versionOf(cell.id);
  if (tensor) list.push(['Type', `${tensor.dtype} [${tensor.shape.join(', ')}]`]);
  if (version) list.push(['Version', `${version.version}, ${count(version.tensor_count, 'tensor')}`]);
  if (cell.state && cell.state !== 'ok') list.push(['State', cell.state]);
  if (cell.count > 1 && !version) list.push(['Count', integer.format(cell.count)]);
  if (cell.readers !== null && cell.readers !== undefined) {
    const holders = tensor || version ? holdersOf(cell.label) : [];
    list.push([
      'Readers',
      cell.readers
        ? `${cell.readers}${holders.length ? `: ${holders.slice(0, 4).map(processText).join('; ')}${holders.length > 4 ? '; …' : ''}` : ''}`
        : 'none',
    ]);
  }
  if (cell.limit_bytes) list.push(['Limit', bytes(cell.limit_bytes)]);
  if (cell.survives && cell.survives !== 'everything')
    list.push(['Survives', `everything but the end of its ${cell.survives}`]);
  return { title: cellTitle(cell), facts: list };
}

function inspectCell(card, cell) {
  hideTip();
  if (cell.gathered) {
    select({ kind: 'cells', title: cellTitle(cell), key: cell.key, cell, card });
    return;
  }
  if (cell.kind === 'tensor' || cell.kind === 'ipc') {
    if (tensorOf(cell.id)) {
      select({ kind: 'tensor', key: cell.id });
      return;
    }
  }
  if (cell.kind === 'version' && versionOf(cell.id)) {
    select({ kind: 'version', key: cell.id });
    return;
  }
  if (cell.kind === 'group') {
    select({ kind: 'group', key: cell.label });
    return;
  }
  if (cell.kind === 'cache' || cell.kind === 'cache_idle') {
    select({ kind: 'cache', key: cell.id });
    return;
  }
  select({ kind: 'cell', key: cell.key, cell, card });
}
function select(what) {
  state.selected = what;
  paintInspector();
  if (!$('inspector').open) $('inspector').showModal();
}

const INSPECT = {
  tensor(id) {
    const it = tensorOf(id);
    if (!it) return null;
    const life = it.life || {};
    return {
      kind: 'Tensor',
      title: it.name || `tensor ${it.id}`,
      facts: [
        ['Size', `${bytes(it.bytes)} (${integer.format(it.bytes)} bytes)`],
        ['Type', it.dtype],
        ['Shape', `[${it.shape.join(', ')}]`],
        ['State', it.state],
        ['Owner', user(it.user)],
        ['Shared with', it.share],
        ['GPU', gpuOf(it.device)],
        ['Readers', count(it.lease_count, 'lease')],
        ['Published', count(it.generation, 'time')],
        ['Made', `${long(now() - it.created_unix_ms)} ago, ${at(it.created_unix_ms)}`],
        ['Transport', it.transport],
        ['Survives', it.survives === 'everything' ? 'everything' : `everything but the end of its ${it.survives}`],
        ['Slab', `${it.slab}, at ${bytes(it.slab_offset_bytes)} of ${bytes(it.slab_bytes)}`],
        [
          'Ends',
          [
            it.ephemeral ? 'with its creator' : null,
            life.ttl_left_ms == null ? null : `in ${long(life.ttl_left_ms)}`,
            life.linger_left_ms == null ? null : `${long(life.linger_left_ms)} after its last lease`,
            life.accesses_left == null ? null : `after ${count(life.accesses_left, 'more get')}`,
          ]
            .filter(Boolean)
            .join(', '),
        ],
        ['Identity', it.id],
      ],
      holders: holdersOf(it.name || it.id),
      commands: [`millpond inspect ${shell(it.name || it.id)}`],
    };
  },
  version(id) {
    const it = versionOf(id);
    if (!it) return null;
    const name = `${it.model}@${it.version}`;
    return {
      kind: 'Version of a model',
      title: name,
      facts: [
        ['State', versionState(it)],
        ['Size', `${bytes(it.bytes)} in ${count(it.tensor_count, 'tensor')}`],
        ['Memory', `${bytes(it.own_bytes)} of its own, ${bytes(it.shared_bytes)} shared with other versions`],
        ['Slabs', integer.format(it.slab_count)],
        ['Owner', user(it.user)],
        ['Shared with', it.share],
        ['GPU', gpuOf(it.device)],
        ['Readers', count(it.readers, 'lease')],
        ['Made', `${long(now() - it.created_unix_ms)} ago, ${at(it.created_unix_ms)}`],
        [
          'Ready',
          it.ready_unix_ms
            ? at(it.ready_unix_ms)
            : it.stager_pid
              ? `not yet; process ${it.stager_pid} writes it`
              : 'not yet',
        ],
        ['Source', it.source],
        ['Content', it.content_hash],
        ['Layout', it.layout_hash],
        ['Identity', it.id],
      ],
      holders: holdersOf(name),
      commands: [`millpond inspect ${shell(name)}`, `millpond verify ${shell(name)}`],
    };
  },
  group(name) {
    const it = state.overview.groups.find((group) => group.name === name);
    if (!it) return null;
    const list = [
      ['State', groupState(it).text],
      ['Processes', integer.format(it.process_count)],
      ['Owner', it.owner === null ? null : user(it.owner)],
      ['Users', it.users.map(user).join(', ')],
      ['Folder', it.folder],
    ];
    for (const device of it.devices) {
      list.push(
        [
          gpuOf(device.device),
          `${bytes(device.used_bytes)} of ${device.limit_bytes === null ? 'no limit' : bytes(device.limit_bytes)}${device.effective_bytes !== null && device.effective_bytes !== device.limit_bytes ? `, of which ${bytes(device.effective_bytes)} hold now` : ''}`,
        ],
        ['Programs', bytes(device.process_bytes)],
        ['In the pond', bytes(device.pond_bytes)],
        ['Contexts', bytes(device.context_bytes)],
        ['Folded in', bytes(device.folded_bytes)],
        ['Minimum', bytes(device.min_bytes)],
        ['Weight', String(device.weight)],
      );
    }
    const members = (state.overview.members || []).find((group) => group.group === name);
    return {
      kind: 'Group',
      title: it.name,
      facts: list,
      members: members ? members.processes : [],
      commands: [`millpond ps --group ${shell(it.name)}`],
    };
  },
  cache(id) {
    const it = cacheOf(id);
    if (!it) return null;
    return {
      kind: 'Elastic cache',
      title: it.name,
      facts: [
        ['Group', it.group],
        ['Process', `${it.program}, pid ${pidText(it.pid)}`],
        ['Owner', user(it.user)],
        ['GPU', gpuOf(it.device)],
        ['Addresses', bytes(it.reserved_bytes)],
        ['Held', bytes(it.held_bytes)],
        ['In use', bytes(it.committed_bytes)],
        ['Idle', bytes(it.idle_bytes)],
        ['Waits for', it.wanted_bytes ? bytes(it.wanted_bytes) : null],
        ['Asked to give', it.asked_bytes ? bytes(it.asked_bytes) : null],
        ['Has given', bytes(it.given_bytes)],
        ['Has got', bytes(it.got_bytes)],
        ['Minimum', bytes(it.min_bytes)],
        ['Weight', String(it.weight)],
        ['Page', bytes(it.granule_bytes)],
        ['Segments', String(it.segments)],
        ['Identity', it.cache],
      ],
      commands: [`millpond elastic inspect ${shell(it.name)}`],
    };
  },
  process(key) {
    const it = state.overview.processes.find((process) => processKey(process) === key);
    if (!it) return null;
    return {
      kind: 'Process',
      title: it.program,
      facts: [
        ['Pid', pidText(it.pid)],
        ['User', user(it.user)],
        ['State', processState(it)],
        ['Known for', long(now() - it.since_unix_ms)],
        ['Connections', String(it.connections)],
        ['Leases', integer.format(it.lease_count)],
        ['Holds', bytes(it.held_bytes)],
      ],
      list: ['Holds', it.holds],
      commands: ['millpond ps'],
    };
  },
  cell(_, what) {
    const content = cellFacts(what.card, what.cell);
    return { kind: 'Memory', title: content.title, facts: content.facts };
  },
  cells(_, what) {
    return {
      kind: 'Memory',
      title: what.title,
      facts: [
        ['Size', bytes(what.cell.bytes)],
        ['Count', integer.format(what.cell.count)],
      ],
      list: ['The largest of them', what.cell.gathered.slice(0, 100).map((it) => `${it.label}, ${bytes(it.bytes)}`)],
    };
  },
};
/** As a shell takes it for one word. */
function shell(text) {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${String(text).replaceAll("'", "'\\''")}'`;
}

function paintInspector() {
  const what = state.selected;
  if (!what) return;
  const content = INSPECT[what.kind](what.key, what);
  if (!content) {
    $('i-body').replaceChildren(el('p', {}, 'It is gone.'));
    return;
  }
  say($('i-kind'), content.kind);
  say($('i-title'), seen(content.title));
  const parts = [facts(content.facts)];
  const listed = (title, lines) => {
    if (lines.length) parts.push(el('h3', {}, title), el('ul', {}, ...lines.map((line) => el('li', {}, bdi(line)))));
  };
  if (content.holders)
    listed(
      'Held by',
      content.holders.map((process) => `${processText(process)}, ${user(process.user)}`),
    );
  if (content.members)
    listed(
      'Processes',
      content.members.map(
        (it) =>
          `${it.program}, pid ${it.pid ?? it.own_pid}${it.cache ? `, cache ${it.cache}` : ''}: ${bytes(it.devices.reduce((sum, device) => sum + device.charged_bytes, 0))}`,
      ),
    );
  if (content.list) listed(content.list[0], content.list[1].slice(0, 500));
  if (content.commands) parts.push(el('h3', {}, 'In a terminal'), el('pre', {}, content.commands.map(seen).join('\n')));
  const same = $('i-body').cloneNode(false);
  same.append(...parts);
  if (!same.isEqualNode($('i-body'))) $('i-body').replaceChildren(...parts);
}
