// What happened.

const BAD = new Set(['mover_lost', 'host_lost', 'tensor_orphaned', 'group_lying', 'group_stuck', 'start_failed']);
const WARN = new Set([
  'group_over',
  'limit_reached',
  'client_silent',
  'recovered',
  'keeper_replaced',
  'cache_ended',
  'gap',
]);
function tone(event) {
  return BAD.has(event.kind) ? 'bad' : WARN.has(event.kind) ? 'warn' : '';
}
function paintEvents() {
  if (!state.overview) return;
  const shown = [];
  for (let i = state.events.length - 1; i >= 0 && shown.length < 200; i -= 1) {
    const event = state.events[i];
    if (state.onlyWrong && !tone(event)) continue;
    if (matches(`${event.kind.replaceAll('_', ' ')} ${event.kind} ${event.name || ''} ${event.text}`))
      shown.push(event);
  }
  keyed(
    $('b-events'),
    shown,
    (event) => String(event.sequence),
    (event) => {
      const kind = tone(event),
        text = el('p', {}, el('b', {}, `${event.kind.replaceAll('_', ' ')} `));
      if (kind) text.prepend(el('span', { class: 'unseen' }, kind === 'bad' ? 'Wrong: ' : 'Warning: '));
      if (event.name) text.append(bdi(event.name), ' ');
      text.append(
        el(
          'span',
          { class: 'muted' },
          bdi(
            [event.text, event.user === null || event.user === undefined ? '' : `by ${user(event.user)}`]
              .filter(Boolean)
              .join(', '),
          ),
        ),
      );
      const time = el(
        'time',
        { datetime: new Date(event.unix_ms).toISOString(), title: at(event.unix_ms) },
        clock.format(new Date(event.unix_ms)),
      );
      return { node: el('li', { class: `event ${kind}`.trim() }, time, icon(kind || 'plain'), text) };
    },
    () => {},
  );
  say(
    $('n-events'),
    shown.length ? '' : state.words.length || state.onlyWrong ? 'none fits' : 'nothing has happened yet',
  );
}
function takeEvents(events) {
  let all = state.events;
  for (const event of events) {
    if (!event || typeof event.kind !== 'string' || !Number.isFinite(event.unix_ms)) continue;
    const last = all.length ? all[all.length - 1].sequence : -1;
    if (event.sequence > last) {
      all = all.concat(event);
      continue;
    }
    // The same number is the same event, unless another pond counts from one again.
    if (
      !all.some((it) => it.sequence === event.sequence && it.unix_ms === event.unix_ms) &&
      event.sequence < all[0].sequence + all.length
    )
      all = [event];
  }
  if (all === state.events) return;
  state.events = all.slice(-MOST_EVENTS);
  paintEvents();
  later();
}
