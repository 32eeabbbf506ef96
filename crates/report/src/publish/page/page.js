'use strict';
(() => {
  // Tables: a click on a column heading sorts by it, numbers in descending order first. A third
  // click restores the original order. One listener on the document also covers tables that are
  // added later.
  const orders = new WeakMap();
  document.addEventListener('click', (event) => {
    const head = event.target.closest('table.sorts thead button')?.closest('th');
    if (!head) return;
    const table = head.closest('table');
    const body = table.tBodies[0];
    if (!orders.has(table)) orders.set(table, [...body.rows]);
    const original = orders.get(table);
    const heads = [...table.tHead.rows[0].cells];
    const column = heads.indexOf(head);
    const numbers = head.classList.contains('n') || original.some((row) => row.cells[column]?.dataset.v !== undefined);
    const first = numbers ? 'descending' : 'ascending';
    const second = numbers ? 'ascending' : 'descending';
    const now = head.getAttribute('aria-sort');
    const next = now === first ? second : now === second ? null : first;
    heads.forEach((other) => other.removeAttribute('aria-sort'));
    const rows = [...original];
    if (next) {
      head.setAttribute('aria-sort', next);
      const sign = next === 'ascending' ? 1 : -1;
      const key = (row) => {
        const cell = row.cells[column];
        return numbers ? (cell?.dataset.v === undefined ? null : Number(cell.dataset.v)) : cell?.textContent || '';
      };
      rows.sort((a, b) => {
        const [one, two] = [key(a), key(b)];
        // Rows without a value come last in either order.
        if (one === null || two === null) return (one === null) - (two === null);
        return sign * (numbers ? one - two : one.localeCompare(two, document.documentElement.lang, { numeric: true }));
      });
    }
    body.append(...rows);
  });

  // Tooltips: the description of a chart's mark or of a table's figure, next to the pointer.
  const tip = document.getElementById('tip');
  const words = (target) => {
    for (let node = target; node instanceof Element && node !== document.body; node = node.parentElement) {
      if (node.dataset.tip) return node.dataset.tip;
      const title = [...node.children].find((child) => child.localName === 'title');
      if (title && node.localName !== 'svg') {
        // The title is moved, so that the browser does not show it as well.
        node.dataset.tip = title.textContent;
        node.setAttribute('aria-label', title.textContent);
        title.remove();
        return node.dataset.tip;
      }
    }
    return '';
  };
  const show = (event) => {
    const said = words(event.target);
    if (!tip) return;
    tip.hidden = !said;
    if (!said) return;
    tip.textContent = said;
    const { width, height } = tip.getBoundingClientRect();
    const left = Math.min(event.clientX + 14, innerWidth - width - 8);
    const below = event.clientY + 18;
    tip.style.left = Math.max(8, left) + 'px';
    tip.style.top = (below + height > innerHeight ? event.clientY - height - 10 : below) + 'px';
  };
  document.addEventListener('pointermove', show);
  document.addEventListener('pointerdown', show);
  document.addEventListener('scroll', () => { if (tip) tip.hidden = true; }, true);

  // Collapsed parts must be expanded for printing.
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details:not([open])')];
    for (const part of folded) part.open = true;
  });
  addEventListener('afterprint', () => { for (const part of folded) part.open = false; });
})();
