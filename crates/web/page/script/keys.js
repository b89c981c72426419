// Theme, filter, keyboard; and the beginning.

const THEMES = ['system', 'light', 'dark'];
let theme = 'system';
try {
  theme = THEMES.includes(localStorage.getItem('millpond-theme')) ? localStorage.getItem('millpond-theme') : 'system';
} catch {
  /* Storage may be forbidden. */
}
function setTheme(next) {
  theme = next;
  attr(document.documentElement, 'data-theme', theme === 'system' ? null : theme);
  attr($('theme'), 'aria-label', `Theme: ${theme === 'system' ? 'as the system' : theme}`);
  attr($('theme'), 'title', $('theme').getAttribute('aria-label'));
  try {
    localStorage.setItem('millpond-theme', theme);
  } catch {
    /* Then it lasts as long as the page. */
  }
}
setTheme(theme);
$('theme').addEventListener('click', () => setTheme(THEMES[(THEMES.indexOf(theme) + 1) % 3]));
$('filter').addEventListener('input', () => {
  state.words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
  tensors.most = MOST_ROWS;
  paintEvents();
  later();
});
$('only-wrong').addEventListener('change', () => {
  state.onlyWrong = $('only-wrong').checked;
  paintEvents();
});
for (const button of document.querySelectorAll('[data-close]'))
  button.addEventListener('click', () => button.closest('dialog').close());
for (const dialog of document.querySelectorAll('dialog'))
  dialog.addEventListener('click', (event) => {
    if (event.target === dialog && dialog.id !== 'confirm') dialog.close();
  });
$('inspector').addEventListener('close', () => {
  state.selected = null;
});
$('help-open').addEventListener('click', () => $('help').showModal());

const KEYS = [
  [
    '/',
    'Filter',
    () => {
      $('filter').focus();
      $('filter').select();
    },
  ],
  ['1 … 9', 'The memory of GPU 0 … 8', null],
  ['m', 'Models', () => jump('t-models')],
  ['n', 'Tensors', () => jump('t-tensors')],
  ['g', 'Groups and caches', () => jump('t-limits')],
  ['p', 'Processes', () => jump('t-processes')],
  ['e', 'Events', () => jump('t-events')],
  ['t', 'Theme: system, light, dark', () => $('theme').click()],
  ['?', 'This help', () => $('help').showModal()],
  ['← → ↑ ↓', 'In a map: from part to part', null],
  ['Enter', 'In a map: all about a part', null],
  ['Esc', 'Close, or empty the filter', null],
];
for (const [key, what] of KEYS) $('h-keys').append(el('span', {}, el('kbd', {}, key)), el('span', {}, what));
function jump(id) {
  const node = $(id);
  node.scrollIntoView({ block: 'start' });
  node.focus({ preventScroll: true, focusVisible: true });
}
document.addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  const typing = event.target.matches('input:not([type=checkbox])');
  if (event.key === 'Escape') {
    hideTip();
    if (typing || state.words.length) {
      $('filter').value = '';
      $('filter').dispatchEvent(new Event('input'));
      $('filter').blur();
    }
    return;
  }
  if (typing) return;
  const number = Number(event.key);
  if (event.key.length === 1 && number >= 1 && number <= 9) {
    const view = [...views.values()].sort((a, b) => a.card.index - b.card.index)[number - 1];
    if (view) {
      event.preventDefault();
      view.node.scrollIntoView({ block: 'nearest' });
      view.map.picture.focus({ focusVisible: true });
    }
    return;
  }
  const found = KEYS.find(([key, , go]) => key === event.key && go);
  if (found) {
    event.preventDefault();
    found[2]();
  }
});

live();
