// Tables that sort, keep their rows, and show no more of them than anybody reads at once.

/** A table with columns that sort, rows by key, and no more rows than anybody reads at once. */
class Table {
  constructor(id, caption, columns, options) {
    this.id = id;
    this.columns = columns;
    this.options = options;
    this.most = options.most || MOST_ROWS;
    this.sort = options.sort || null;
    this.falling = options.falling || false;
    this.body = el('tbody');
    this.heads = columns.map((column) => {
      const head = el('th', { scope: 'col', class: classes(column) });
      if (column.by && !options.fixed)
        head.append(el('button', { type: 'button', class: 'sort', onclick: () => this.order(column) }, column.title));
      else if (column.unseen) head.append(el('span', { class: 'unseen' }, column.title));
      else head.append(column.title);
      return head;
    });
    this.table = el(
      'table',
      { class: 'rows', 'data-table': options.name },
      el('caption', { class: 'unseen' }, caption),
      el('thead', {}, el('tr', {}, ...this.heads)),
      this.body,
    );
    this.scroll = el('div', { class: 'scroll' }, this.table);
    this.button = el('button', {
      class: 'button small',
      type: 'button',
      onclick: () => {
        this.most += 200;
        this.update(this.items);
      },
    });
    this.rest = el('span');
    this.foot = el('div', { class: 'more-rows', hidden: '' }, this.rest, this.button);
    this.empty = el('div', { class: 'empty', hidden: '' });
    $(id).append(this.scroll, this.foot, this.empty);
  }
  order(column) {
    this.falling = this.sort === column.key ? !this.falling : Boolean(column.num);
    this.sort = column.key;
    this.update(this.items);
  }
  update(items) {
    this.items = items;
    const column = this.columns.find((it) => it.key === this.sort);
    let sorted = items;
    if (column) {
      const sign = this.falling ? -1 : 1;
      sorted = items.slice().sort((a, b) => {
        const x = column.by(a),
          y = column.by(b);
        return (x < y ? -1 : x > y ? 1 : 0) * sign;
      });
    }
    this.columns.forEach((it, i) =>
      attr(
        this.heads[i],
        'aria-sort',
        it === column && !this.options.fixed ? (this.falling ? 'descending' : 'ascending') : null,
      ),
    );
    const shown = sorted.slice(0, this.most);
    keyed(
      this.body,
      shown,
      this.options.key,
      () => {
        const cells = this.columns.map((it) =>
          el(it.row ? 'th' : 'td', it.row ? { scope: 'row', class: classes(it) } : { class: classes(it) }),
        );
        return { node: el('tr', {}, ...cells), cells, made: [] };
      },
      (row, item) => {
        this.columns.forEach((it, i) => {
          if (it.paint) it.paint(row.cells[i], item, row);
          else say(row.cells[i], seen(it.text(item)));
        });
        if (this.options.dress) this.options.dress(row.node, item);
      },
    );
    const left = sorted.length - shown.length;
    show(this.foot, left > 0);
    if (left > 0) {
      say(this.rest, `${integer.format(shown.length)} of ${integer.format(sorted.length)} shown`);
      say(this.button, `Show ${integer.format(Math.min(200, left))} more`);
    }
    show(this.scroll, items.length > 0);
  }
  /** What stands there instead of an empty table. */
  says(nodes) {
    show(this.empty, Boolean(nodes));
    if (nodes) {
      const key = nodes.map((it) => it.textContent).join('|');
      if (this.empty.dataset.key !== key) {
        this.empty.dataset.key = key;
        this.empty.replaceChildren(...nodes);
      }
    }
  }
}
function classes(column) {
  return [column.num ? 'num' : '', column.class || ''].join(' ').trim();
}
/** A name that opens the inspector. */
function nameCell(what, label) {
  return (cell, item) => {
    let button = cell.firstChild;
    if (!button) {
      button = el('button', { type: 'button', class: 'name' }, el('bdi'));
      cell.append(button);
      button.addEventListener('click', () => select(what(button.__item)));
    }
    button.__item = item;
    const text = seen(label(item));
    say(button.firstChild, text);
    attr(button, 'title', text.length > 24 ? text : null);
  };
}
function badge(cell, list) {
  keyed(
    cell,
    list,
    (it) => it.text,
    () => ({ node: el('span') }),
    (row, it) => {
      attr(row.node, 'class', `badge ${it.tone || ''}`.trim());
      say(row.node, seen(it.text));
    },
  );
}
function age(cell, ms) {
  let node = cell.firstChild;
  if (!node) {
    node = el('time');
    cell.append(node);
  }
  say(node, short(now() - ms));
  attr(node, 'title', at(ms));
}
function bar(cell, parts, whole, text, tone) {
  if (!cell.firstChild) {
    const outer = el('div', { class: 'bar', 'aria-hidden': 'true' }),
      under = el('div', { class: 'under' });
    cell.append(outer, under);
  }
  keyed(
    cell.firstChild,
    parts.filter((part) => part.bytes > 0),
    (part) => part.class,
    (part) => ({ node: el('i') }),
    (row, part) => {
      attr(row.node, 'class', tone === 'bad' ? 'over' : part.class);
      const width = `${Math.min(100, whole > 0 ? (100 * part.bytes) / whole : 0).toFixed(2)}%`;
      if (row.node.style.width !== width) row.node.style.width = width;
    },
  );
  say(cell.lastChild, text);
}

function fitting(list, text) {
  return state.words.length ? list.filter((it) => matches(text(it))) : list;
}
function matches(text) {
  if (!state.words.length) return true;
  const low = text.toLowerCase();
  return state.words.every((word) => low.includes(word));
}
