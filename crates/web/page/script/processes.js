// Processes and what they hold.

function processKey(process) {
  return `${process.pid ?? process.since_unix_ms}/${process.user}/${process.mover}`;
}
function processState(process) {
  return process.silent ? 'silent' : process.mover ? 'mover' : 'connected';
}
const processes = new Table(
  'b-processes',
  'Processes and what they hold',
  [
    {
      key: 'program',
      title: 'Program',
      row: true,
      class: 'wide',
      by: (it) => it.program,
      paint: nameCell(
        (it) => ({ kind: 'process', key: processKey(it) }),
        (it) => it.program,
      ),
    },
    { key: 'pid', title: 'Pid', num: true, by: (it) => it.pid, text: (it) => pidText(it.pid) },
    { key: 'user', title: 'User', class: 'p3', by: (it) => user(it.user), text: (it) => user(it.user) },
    { key: 'held', title: 'Holds', num: true, by: (it) => it.held_bytes, text: (it) => bytes(it.held_bytes) },
    {
      key: 'leases',
      title: 'Leases',
      num: true,
      class: 'p2',
      by: (it) => it.lease_count,
      text: (it) => integer.format(it.lease_count),
    },
    {
      key: 'state',
      title: 'State',
      class: 'p2',
      by: processState,
      paint: (cell, it) => badge(cell, [{ text: processState(it), tone: it.silent ? 'warn' : '' }]),
    },
    {
      key: 'since',
      title: 'For',
      num: true,
      class: 'p2',
      by: (it) => -it.since_unix_ms,
      paint: (cell, it) => age(cell, it.since_unix_ms),
    },
  ],
  { name: 'processes', key: processKey, sort: 'held', falling: true },
);
function paintProcesses(overview) {
  const fits = fitting(
    overview.processes,
    (it) => `${it.program} ${it.pid ?? ''} ${user(it.user)} ${processState(it)} ${it.holds.join(' ')} process`,
  );
  processes.update(fits);
  say($('n-processes'), overview.processes.length ? integer.format(overview.processes.length) : '');
  processes.says(
    fits.length
      ? null
      : overview.processes.length
        ? [el('p', {}, 'No process fits the filter.')]
        : [
            el('p', {}, 'No process is connected. One that maps something appears here:'),
            el('pre', {}, 'python -c "import millpond; t = millpond.get(\'acts/x\'); input()"'),
          ],
  );
}
