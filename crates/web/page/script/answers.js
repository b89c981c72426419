// The three answers at the top.

function findings(overview) {
  const found = [],
    status = overview.status,
    add = (kind, text) => found.push({ kind, text });
  if (!status.driver_ready) add('warn', 'The GPU driver has not answered yet.');
  for (const card of overview.cards) {
    const gpu = `GPU ${card.index}`,
      free = card.free_bytes;
    if (free < card.total_bytes * 0.05)
      add('warn', `${gpu} is nearly full: ${bytes(free)} of ${bytes(card.total_bytes)} free.`);
    const floor = Math.max(256 * 2 ** 20, card.total_bytes * 0.01);
    if (card.drift_bytes !== null && Math.abs(card.drift_bytes) > floor)
      add(
        'warn',
        `${gpu}: programs hold ${bytes(Math.abs(card.drift_bytes))} ${card.drift_bytes > 0 ? 'more' : 'less'} than they are charged with.`,
      );
    if (card.excess_bytes > floor)
      add('warn', `${gpu}: the books have ${bytes(card.excess_bytes)} more than the card says is in use.`);
  }
  for (const group of overview.groups) {
    const it = groupState(group);
    if (it.tone === 'bad' || it.tone === 'warn') add(it.tone, `Group ${seen(group.name)}: ${it.why}.`);
  }
  const orphans = overview.tensors.filter((it) => it.state === 'orphan');
  if (orphans.length)
    add(
      'bad',
      `${count(orphans.length, 'tensor')} lost the process that kept the memory: ${seen(orphans[0].name || orphans[0].id)}${orphans.length > 1 ? ', …' : ''}.`,
    );
  for (const model of overview.models)
    for (const version of model.versions)
      if (version.lost)
        add('bad', `${seen(model.name)}@${seen(version.version)} is lost: its record survived, its memory did not.`);
  if (status.lost_tensors)
    add('bad', `${count(status.lost_tensors, 'record')} had no memory any more at the last recovery.`);
  const silent = overview.processes.filter((it) => it.silent);
  if (silent.length)
    add(
      'warn',
      `${count(silent.length, 'process', 'processes')} without a connection ${silent.length === 1 ? 'keeps' : 'keep'} memory: ${seen(silent[0].program)}, pid ${pidText(silent[0].pid)}${silent.length > 1 ? ', …' : ''}.`,
    );
  const waiting = overview.caches.filter((it) => it.wanted_bytes);
  if (waiting.length)
    add(
      'warn',
      `Cache ${seen(waiting[0].name)} waits for ${bytes(waiting[0].wanted_bytes)}${waiting.length > 1 ? `, ${waiting.length - 1} more wait` : ''}.`,
    );
  for (const account of overview.users || [])
    for (const use of account.resources) {
      if (use.cap && use.has >= use.cap)
        add(
          'warn',
          `${user(account.user)} has all ${integer.format(use.cap)} of ${seen(use.name)}${use.key ? ` (${seen(use.key)})` : ''}.`,
        );
    }
  const lately = (kind) =>
    state.events.filter((it) => it.kind === kind && it.unix_ms > now() - HISTORY_SECONDS * 1000).length;
  const hosts = lately('host_lost'),
    movers = lately('mover_lost'),
    failed = lately('start_failed'),
    ended = lately('cache_ended'),
    recovered = lately('recovered');
  if (hosts) add('bad', `${count(hosts, 'host')} died in the last hour.`);
  if (failed) add('bad', `${count(failed, 'model')} of the configuration could not be loaded.`);
  if (movers) add('warn', `${count(movers, 'mover')} had to be replaced in the last hour.`);
  if (ended)
    add('warn', `${count(ended, 'silent process', 'silent processes')} with caches had to be ended in the last hour.`);
  if (recovered > 2) add('warn', `The daemon was replaced ${recovered} times in the last hour.`);
  return found.sort((a, b) => (a.kind === 'bad' ? 0 : 1) - (b.kind === 'bad' ? 0 : 1));
}
function big(node, main, small, more) {
  if (!node.__parts) {
    const parts = (node.__parts = { main: el('span'), small: el('small'), more: el('p', { class: 'more' }) });
    node.replaceChildren(el('p', { class: 'big' }, parts.main, ' ', parts.small), parts.more);
  }
  say(node.__parts.main, main);
  say(node.__parts.small, small);
  say(node.__parts.more, more);
  show(node.__parts.more, Boolean(more));
}
function paintAnswers(overview) {
  let total = 0,
    free = 0;
  const by = new Map();
  for (const card of overview.cards) {
    total += card.total_bytes;
    free += card.free_bytes;
    for (const cell of cellsOf(card)) by.set(cell.family, (by.get(cell.family) || 0) + cell.bytes);
  }
  const cards = overview.cards.length;
  say($('q-what'), cards > 1 ? `On ${cards} GPUs` : 'On the GPU');
  const parts = FAMILIES.filter((it) => it !== 'free' && by.get(it)).sort((a, b) => by.get(b) - by.get(a));
  big(
    $('a-what'),
    bytes(total - free),
    `of ${bytes(total)}, ${bytes(free)} free`,
    parts
      .slice(0, 3)
      .map((it) => `${FAMILY_TITLES[it]} ${bytes(by.get(it))}`)
      .join(', ') || 'Nobody uses it.',
  );
  const holders = overview.processes
    .filter((it) => it.held_bytes > 0 && !it.mover)
    .sort((a, b) => b.held_bytes - a.held_bytes);
  const members = new Set();
  for (const group of overview.members || [])
    for (const it of group.processes) members.add(it.pid ?? `${group.group}/${it.own_pid}`);
  for (const it of holders) members.add(it.pid);
  const users = new Set(holders.map((it) => it.user));
  big(
    $('a-who'),
    members.size ? count(members.size, 'process', 'processes') : 'No process',
    users.size ? `of ${users.size === 1 ? user([...users][0]) : count(users.size, 'user')}` : '',
    holders.length
      ? holders
          .slice(0, 3)
          .map((it) => `${seen(it.program)} ${bytes(it.held_bytes)}`)
          .join(', ')
      : overview.tensors_total || overview.models.length
        ? 'The pond keeps the memory; no process uses it now.'
        : 'Nobody holds memory.',
  );
  const found = findings(overview),
    worst = found.some((it) => it.kind === 'bad') ? 'bad' : found.length ? 'warn' : 'ok';
  attr($('answer-wrong'), 'class', `panel answer ${worst}`);
  const node = $('a-wrong'),
    key = found.map((it) => it.kind + it.text).join('|');
  if (node.dataset.key !== key || !node.firstChild) {
    node.dataset.key = key;
    const rows = found
      .slice(0, 4)
      .map((it) => el('div', { class: `finding ${it.kind}` }, icon(it.kind), el('span', {}, it.text)));
    if (found.length > 4) rows.push(el('p', { class: 'more' }, `and ${found.length - 4} more`));
    const bad = found.filter((it) => it.kind === 'bad').length,
      warnings = found.length - bad;
    const title = bad
      ? [count(bad, 'problem'), warnings ? `and ${count(warnings, 'warning')}` : '']
      : [warnings ? count(warnings, 'warning') : 'Nothing is wrong', ''];
    node.replaceChildren(el('p', { class: 'big' }, title[0], ' ', el('small', {}, title[1])), ...rows);
    if (!found.length)
      node.append(el('p', { class: 'more' }, 'Books and cards agree, no limit is broken, nothing was lost.'));
  }
}
