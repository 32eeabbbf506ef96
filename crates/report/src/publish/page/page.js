'use strict';
(() => {
  // Tables: a click on a title sorts by it, largest first where it holds numbers; a third one brings the first order back.
  // One listener for all, so that tables that come later sort, too.
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
        // What has no value stands last in either order.
        if (one === null || two === null) return (one === null) - (two === null);
        return sign * (numbers ? one - two : one.localeCompare(two, document.documentElement.lang, { numeric: true }));
      });
    }
    body.append(...rows);
  });

  // Values: what a mark of a chart or a figure of a table says, beside the pointer.
  const tip = document.getElementById('tip');
  const words = (target) => {
    for (let node = target; node instanceof Element && node !== document.body; node = node.parentElement) {
      if (node.dataset.tip) return node.dataset.tip;
      const title = [...node.children].find((child) => child.localName === 'title');
      if (title && node.localName !== 'svg') {
        // Taken over, so that the browser does not show it a second time.
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

  // Paper cannot be unfolded.
  let folded = [];
  addEventListener('beforeprint', () => {
    folded = [...document.querySelectorAll('details:not([open])')];
    for (const part of folded) part.open = true;
  });
  addEventListener('afterprint', () => { for (const part of folded) part.open = false; });
})();
