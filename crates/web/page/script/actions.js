// Tokens, and what they allow.

/** Asks for a token, and resolves when there is one to try. */
let tokenDone = null;
function askToken(wrong) {
  setLink('denied', '', true);
  $('k-text').replaceChildren(
    words(
      'This web service shows the pond to everybody who has a token of its `--token-file`.',
      'The token is kept in this tab only.',
    ),
  );
  say($('k-wrong'), 'The token was not accepted.');
  show($('k-wrong'), wrong);
  $('k-field').value = '';
  if (!$('token').open) $('token').showModal();
  return new Promise((resolve) => {
    tokenDone = resolve;
  });
}
$('k-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const token = $('k-field').value.trim();
  if (!token) return;
  sessionStorage.setItem('millpond-token', token);
  $('k-field').value = '';
  $('token').close();
  if (tokenDone) {
    tokenDone();
    tokenDone = null;
  } else tryToken();
});
$('token').addEventListener('close', () => {
  if (tokenDone && !sessionStorage.getItem('millpond-token')) {
    setLink('denied', 'This page needs a token.', true);
    show($('unlock'), true);
  }
});
async function tryToken() {
  let wrong = '';
  try {
    if (!(await get('/api/v1/whoami')).actions) wrong = 'The token does not allow actions here.';
  } catch (failure) {
    wrong =
      failure.status === 401
        ? 'The token was not accepted.'
        : seen(failure.message || 'The web service does not answer.');
  }
  if (wrong) {
    sessionStorage.removeItem('millpond-token');
    say($('k-wrong'), wrong);
    show($('k-wrong'), true);
    $('token').showModal();
  } else toast('The token allows actions.');
  await askWho();
}
$('unlock').addEventListener('click', () => {
  if (sessionStorage.getItem('millpond-token')) {
    sessionStorage.removeItem('millpond-token');
    askWho();
    toast('The token is forgotten.');
    return;
  }
  say(
    $('k-text'),
    'A token of this web service allows to swap, roll back, retire and change limits. It is kept in this tab only.',
  );
  show($('k-wrong'), false);
  $('token').showModal();
});

let confirmed = null;
function confirmAction({ title, body, go, danger, act }) {
  say($('c-title'), seen(title));
  $('c-body').replaceChildren(...body);
  say($('c-go'), seen(go));
  attr($('c-go'), 'class', `button ${danger ? 'danger' : 'main'}`);
  show($('c-wrong'), false);
  confirmed = act;
  $('c-go').disabled = false;
  $('confirm').showModal();
}
$('c-form').addEventListener('submit', async (event) => {
  event.preventDefault();
  $('c-go').disabled = true;
  try {
    const text = await confirmed();
    $('confirm').close();
    toast(text);
  } catch (failure) {
    $('c-wrong').replaceChildren(words(failure.message || 'the web service does not answer', failure.hint));
    show($('c-wrong'), true);
  }
  $('c-go').disabled = false;
});
async function act(name, body) {
  const answer = await fetch(`/api/v1/actions/${name}`, {
    method: 'POST',
    headers: headers({ 'Content-Type': 'application/json' }),
    body: JSON.stringify(body),
    cache: 'no-store',
  });
  if (!answer.ok) throw await failureOf(answer);
  return answer.json().catch(() => ({}));
}
/** The service acts as the user who runs it, so the owner is always named. */
function named(model) {
  return model.name.startsWith('public/') ? model.name : `~${model.user}/${model.name}`;
}
function readersText(version) {
  return version.readers
    ? `${count(version.readers, 'reader')} of ${seen(version.version)} ${version.readers === 1 ? 'keeps' : 'keep'} it until ${version.readers === 1 ? 'it refreshes' : 'they refresh'}.`
    : `Nobody reads ${seen(version.version)}.`;
}
function askSwap(model, version) {
  const current = model.versions.find((it) => it.current);
  confirmAction({
    title: `Make ${model.name}@${version.version} current?`,
    go: `Swap to ${version.version}`,
    body: [
      el(
        'p',
        {},
        `New readers of ${seen(model.name)} get ${seen(version.version)} from then on${current ? `, instead of ${seen(current.version)}` : ''}.`,
      ),
      ...(current ? [el('p', {}, `${readersText(current)} It stays for a rollback.`)] : []),
    ],
    act: async () => {
      await act('swap', { model: named(model), version: version.version });
      return `${seen(model.name)}@${seen(version.version)} is current.`;
    },
  });
}
function askRollback(model, current, previous) {
  confirmAction({
    title: `Roll ${model.name} back to ${previous.version}?`,
    go: `Roll back to ${previous.version}`,
    body: [
      el(
        'p',
        {},
        `New readers of ${seen(model.name)} get ${seen(previous.version)} again, instead of ${seen(current.version)}.`,
      ),
      el('p', {}, readersText(current)),
    ],
    act: async () => {
      await act('rollback', { model: named(model) });
      return `${seen(model.name)}@${seen(previous.version)} is current again.`;
    },
  });
}
function askRetire(model, version) {
  confirmAction({
    title: `Retire ${model.name}@${version.version}?`,
    go: `Retire ${version.version}`,
    danger: true,
    body: [
      el(
        'p',
        {},
        `It takes no new readers. ${version.readers ? `Its memory, ${bytes(version.own_bytes)}, is freed when its ${count(version.readers, 'reader')} ${version.readers === 1 ? 'has' : 'have'} left.` : `Its memory, ${bytes(version.own_bytes)}, is freed at once.`}`,
      ),
      el('p', {}, 'This cannot be undone: the version has to be loaded again.'),
    ],
    act: async () => {
      await act('retire', { model: named(model), version: version.version });
      return `${seen(model.name)}@${seen(version.version)} is retired.`;
    },
  });
}
function askLimit(group, device) {
  const field = el('input', {
    class: 'field',
    id: 'c-limit',
    autocomplete: 'off',
    required: '',
    value: device.limit_bytes === null ? 'none' : bytes(device.limit_bytes).replace(' ', ''),
  });
  const effect = el(
    'p',
    { class: 'muted' },
    `${seen(group.name)} uses ${bytes(device.used_bytes)} on ${gpuOf(device.device)} now. A new limit holds from the next allocation on. A smaller one takes nothing away: programs that have more keep it, and get no more until they are below it.`,
  );
  confirmAction({
    title: `Change the limit of ${group.name}?`,
    go: 'Set the limit',
    body: [
      el('label', { for: 'c-limit' }, `Limit on ${gpuOf(device.device)}, as in 12G or 50%; none removes it`),
      field,
      effect,
    ],
    act: async () => {
      const card = state.overview.cards.find((it) => it.device === device.device);
      const limit = sizeOf(field.value, card ? card.total_bytes : 0);
      if (limit === undefined)
        throw { message: `'${field.value.trim()}' is no size.`, hint: 'Write 12G, 512MiB, 50% or none.' };
      await act('limit', { group: group.name, device: device.device, bytes: limit });
      return limit === null
        ? `${seen(group.name)} has no limit.`
        : `The limit of ${seen(group.name)} is ${bytes(limit)}.`;
    },
  });
}
/** A size as commands take it: units are powers of 1024. `null` is no limit, and what is no size is `undefined`. */
function sizeOf(text, whole) {
  const word = text.trim().toLowerCase();
  if (word === 'none') return null;
  const found = /^(\d+(?:\.\d+)?)\s*(%|[kmgtp]?)(i?b)?$/.exec(word);
  if (!found || (found[2] === '%' && (found[3] || !whole))) return undefined;
  const value =
    found[2] === '%' ? (whole * Number(found[1])) / 100 : Number(found[1]) * 1024 ** ' kmgtp'.indexOf(found[2] || ' ');
  return Number.isSafeInteger(Math.floor(value)) ? Math.floor(value) : undefined;
}
let toastEnds = 0;
function toast(text) {
  const node = $('toast');
  node.textContent = text;
  show(node, true);
  clearTimeout(toastEnds);
  toastEnds = setTimeout(() => show(node, false), 6000);
}
