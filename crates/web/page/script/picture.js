// All parts together, and when they are painted.

const views = new Map();
function paint() {
  const overview = state.overview;
  if (!overview) return;
  const begin = performance.now();
  for (const id of ['answers', 'details', 'foot']) show($(id), true);
  paintAnswers(overview);
  keyed(
    $('gpus'),
    overview.cards,
    (card) => card.device,
    (card) => {
      const view = new CardView(card);
      views.set(card.device, view);
      return { node: view.node, view };
    },
    (row, card) => {
      row.view.pending = card;
    },
  );
  $('gpus').classList.toggle('many', overview.cards.length > 2);
  for (const [uuid, view] of views) {
    if (!view.node.isConnected) {
      views.delete(uuid);
      continue;
    }
    view.update(view.pending);
  }
  paintModels(overview);
  paintTensors(overview);
  paintLimits(overview);
  paintProcesses(overview);
  paintHello();
  if ($('inspector').open) paintInspector();
  const status = overview.status;
  say($('where'), seen(`${status.runtime_dir}${status.software ? ', software driver' : ''}`));
  const foot = [
    `Millpond ${status.version}`,
    `epoch ${status.epoch}, up ${long(now() - status.started_unix_ms)}`,
    status.driver,
    `sees ${overview.sees === 'everything' ? 'everything' : 'what its user may use'}`,
    `pond ${status.pond}`,
  ];
  keyed(
    $('foot'),
    foot,
    (_, i) => i,
    () => ({ node: el('span') }),
    (row, text) => say(row.node, seen(text)),
  );
  const local = ['localhost', '127.0.0.1', '[::1]'].includes(location.hostname);
  const title = `${$('answer-wrong').matches('.ok') ? '' : '⚠ '}Millpond${local ? '' : ` on ${location.hostname}`}`;
  if (document.title !== title) document.title = title;
  stats.updates += 1;
  stats.cells = [...views.values()].reduce((sum, view) => sum + view.map.cells.length, 0);
  stats.lastUpdateMs = performance.now() - begin + state.parseMs;
  state.parseMs = 0;
  stats.updatesMs.push(stats.lastUpdateMs);
  if (stats.updatesMs.length > 100) stats.updatesMs.shift();
  if (stats.updates > 1) stats.longestUpdateMs = Math.max(stats.longestUpdateMs, stats.lastUpdateMs);
  if (stats.firstPictureMs === null) stats.firstPictureMs = performance.now();
}
function paintHello() {
  const overview = state.overview,
    failure = state.failure;
  const say_ = (title, nodes) => {
    say($('hello-title'), title);
    const key = nodes.map((it) => it.textContent).join('|');
    if ($('hello-body').dataset.key !== key) {
      $('hello-body').dataset.key = key;
      $('hello-body').replaceChildren(...nodes);
    }
    show($('hello'), true);
  };
  if (failure && !overview) {
    say_(failure.title, [
      el('p', {}, words(failure.text, failure.hint)),
      ...(failure.command ? [el('pre', {}, failure.command)] : []),
    ]);
    return;
  }
  if (!overview) {
    show($('hello'), false);
    return;
  }
  if (!overview.cards.length) {
    say_('No GPU', [el('p', {}, 'The pond has no GPU. See what the machine says:'), el('pre', {}, 'millpond doctor')]);
    return;
  }
  if (!overview.tensors_total && !overview.models.length && !overview.groups.length && !overview.caches.length) {
    say_('The pond is empty, and ready', [
      el('p', {}, 'Type one of these in a terminal and watch it appear here.'),
      el(
        'pre',
        {},
        [
          'millpond tensor create acts/x --dtype bf16 --shape 4096,4096 --zero',
          'millpond load llama ./checkpoint --activate',
          'millpond run --limit 10G -- python train.py',
        ].join('\n'),
      ),
    ]);
    return;
  }
  show($('hello'), false);
}

let wanted = false;
/** Several readings between two frames are one picture; a page that nobody sees paints nothing. */
function later() {
  if (wanted) return;
  wanted = true;
  const go = () => {
    wanted = false;
    if (!document.hidden) paint();
  };
  if (document.hidden) {
    wanted = false;
    return;
  }
  requestAnimationFrame(go);
}
document.addEventListener('visibilitychange', () => {
  if (!document.hidden) {
    later();
    tick();
  }
});
