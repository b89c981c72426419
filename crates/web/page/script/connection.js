// The stream of the web service: it is read by hand, because a token travels in a header.

const LINKS = {
  connecting: 'Connecting',
  live: 'Live',
  away: 'Pond away',
  offline: 'No connection',
  denied: 'No access',
};
function setLink(link, text, isBad) {
  if (state.link !== link || state.linkText !== text) {
    state.link = stats.link = link;
    state.linkText = text;
    if (link !== 'live') state.linkSince = state.linkSince || performance.now();
    else state.linkSince = 0;
    attr(document.documentElement, 'data-link', link);
    say($('state'), LINKS[link]);
    const spoken = link === 'live' ? 'The picture is live.' : text || LINKS[link];
    say($('said'), spoken);
  }
  const away = (link === 'away' || link === 'offline' || link === 'denied') && Boolean(text) && Boolean(state.overview);
  // A daemon that is replaced within milliseconds is no reason to worry, and is said all the same.
  const replaced = link === 'live' && performance.now() - state.replaced < REPLACED_SHOWN_MS;
  show($('banner'), away || replaced);
  attr($('banner'), 'class', `banner${isBad ? ' bad' : replaced ? ' note' : ''}`);
  const said = away ? [`${LINKS[link]}. `, text] : replaced ? ['The daemon was replaced. ', state.replacedText] : null;
  if (said && $('banner').dataset.key !== said.join('')) {
    $('banner').dataset.key = said.join('');
    $('banner-text').replaceChildren(el('b', {}, said[0]), words(said[1]));
  }
  if (replaced) say($('said'), said.join(''));
  const stale = link !== 'live' && Boolean(state.overview);
  $('main').classList.toggle('stale', stale);
  tick();
}
function tick() {
  if (state.link === 'live' && !$('banner').hidden && performance.now() - state.replaced >= REPLACED_SHOWN_MS)
    show($('banner'), false);
  if (state.link !== 'live' && !$('banner').hidden && state.overview)
    say(
      $('banner-age'),
      `What you see is ${long(performance.now() - state.receivedAt)} old.${state.link === 'denied' ? '' : ' The page comes back by itself.'}`,
    );
  else say($('banner-age'), '');
}
setInterval(() => {
  tick();
  if (!document.hidden && state.link === 'live') paintAges();
}, 1000);
function paintAges() {
  if (performance.now() - state.receivedAt > 2500) later();
}

function headers(more) {
  const token = sessionStorage.getItem('millpond-token');
  return { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...more };
}
async function get(path) {
  const answer = await fetch(path, { headers: headers({ Accept: 'application/json' }), cache: 'no-store' });
  if (!answer.ok) throw await failureOf(answer);
  return answer.json();
}
async function failureOf(answer) {
  let error = {};
  try {
    error = (await answer.json()).error || {};
  } catch {
    /* Not every refusal comes from the pond. */
  }
  return {
    status: answer.status,
    kind: error.kind || '',
    message: error.message || `the server answered ${answer.status}`,
    hint: error.hint || '',
  };
}
const wait = (ms) =>
  new Promise((resolve) => {
    wake = resolve;
    setTimeout(resolve, ms);
  });
let wake = () => {};
addEventListener('online', () => wake());

async function live() {
  let pause = 250;
  for (;;) {
    const abort = new AbortController();
    let quiet = 0;
    const watch = () => {
      clearTimeout(quiet);
      quiet = setTimeout(() => abort.abort(), SILENCE_MS);
    };
    try {
      watch();
      const answer = await fetch('/api/v1/live', {
        headers: headers({ Accept: 'text/event-stream' }),
        cache: 'no-store',
        signal: abort.signal,
      });
      if (answer.status === 401) {
        await askToken(Boolean(sessionStorage.getItem('millpond-token')));
        continue;
      }
      if (!answer.ok) throw await failureOf(answer);
      pause = 250;
      if (stats.updates) stats.reconnects += 1;
      state.failure = null;
      askWho();
      askEvents();
      askHistory();
      await readStream(answer.body.getReader(), watch);
      throw new Error('the server ended the connection');
    } catch (failure) {
      if (failure.status === 403) {
        state.failure = { title: 'No access', text: failure.message, hint: failure.hint };
        setLink('denied', [failure.message, failure.hint].filter(Boolean).join('. '), true);
      } else if (failure.status)
        setLink('offline', [`The web service refuses: ${failure.message}`, failure.hint].filter(Boolean).join('. '));
      else
        setLink(
          'offline',
          state.overview
            ? 'The web service does not answer.'
            : 'The web service does not answer. Is `millpond web` running?',
        );
      if (!state.overview) {
        state.failure = state.failure || {
          title: 'The web service does not answer',
          text: 'The page tries again by itself. In a terminal:',
          command: 'millpond web',
        };
        paintHello();
      }
    } finally {
      clearTimeout(quiet);
      abort.abort();
    }
    await wait(pause + Math.random() * 250);
    pause = Math.min(5000, pause * 2);
  }
}
async function readStream(reader, alive) {
  const decoder = new TextDecoder();
  let parts = [],
    kind = '',
    data = [];
  const line = (text) => {
    if (text === '') {
      if (data.length) dispatch(kind || 'message', data.join('\n'));
      kind = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':'),
      field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + (text[colon + 1] === ' ' ? 2 : 1));
    if (field === 'event') kind = value;
    else if (field === 'data') data.push(value);
  };
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    alive();
    const text = decoder.decode(value, { stream: true });
    let from = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      parts.push(text.slice(from, end));
      const whole = parts.join('');
      line(whole.endsWith('\r') ? whole.slice(0, -1) : whole);
      parts = [];
      from = end + 1;
    }
    if (from < text.length) parts.push(text.slice(from));
  }
}
function dispatch(kind, text) {
  const begin = performance.now();
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    return;
  }
  if (kind === 'overview') {
    const before = state.overview;
    state.overview = data;
    state.receivedAt = performance.now();
    state.parseMs = state.receivedAt - begin;
    if (before && before.status.pond !== data.status.pond) {
      state.events = [];
      state.history.clear();
      paintEvents();
      askEvents();
    } else if (before && before.status.epoch !== data.status.epoch) {
      state.replaced = performance.now();
      state.replacedText = `Another daemon serves: epoch ${data.status.epoch} after ${before.status.epoch}. Processes kept what they had mapped.`;
      askEvents();
    }
    if (!before) paintEvents();
    if (!before || !state.history.size) askHistory();
    if (!state.pond || state.pond.state === 'up') setLink('live');
    later();
  } else if (kind === 'events') takeEvents(Array.isArray(data) ? data : [data]);
  else if (kind === 'pond') {
    const before = state.pond;
    state.pond = data;
    if (data.state === 'up') {
      if (before && before.state !== 'up') {
        askEvents();
        askWho();
      }
      if (state.overview) setLink('live');
    } else {
      setLink('away', data.reason || 'The pond does not answer.');
      if (!state.overview) {
        state.failure = {
          title: 'The pond is away',
          text: data.reason || 'It does not answer',
          hint: 'The page comes back by itself as soon as a pond serves.',
          command: 'millpond serve --detach',
        };
        paintHello();
      }
    }
  }
}
async function askWho() {
  try {
    state.whoami = await get('/api/v1/whoami');
  } catch {
    return;
  }
  show($('unlock'), true);
  const word = sessionStorage.getItem('millpond-token') ? 'Forget the token' : 'Use a token';
  say($('unlock-word'), word);
  attr($('unlock'), 'aria-label', word);
  later();
}
async function askEvents() {
  try {
    const answer = await get('/api/v1/events?from=0');
    takeEvents(Array.isArray(answer) ? answer : answer.events || []);
  } catch {
    /* The next reconnect asks again. */
  }
}
async function askHistory() {
  for (const card of state.overview ? state.overview.cards : []) {
    try {
      state.history.set(
        `gpu${card.index}`,
        samplesOf(await get(`/api/v1/history?device=gpu${card.index}&since_s=${HISTORY_SECONDS}`)),
      );
    } catch {
      /* Asked again soon. */
    }
  }
  later();
}
setInterval(() => {
  if (state.link === 'live' && !document.hidden) askHistory();
}, 10000);
