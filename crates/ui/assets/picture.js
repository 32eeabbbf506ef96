// Saves a table as a picture: a button below each table draws it on a canvas as displayed, with its
// title and notes, and downloads the picture.
(() => {
  // The text of the button, and the note below every picture of this page.
  const { picture: words, note: ofPage } = document.body.dataset;
  const main = document.getElementById('main');
  if (!words || !main) return;
  const margin = 16;
  // Maximum size of the canvas in pixels. Browsers don't support larger ones.
  const longest = 16000;

  // The title of the page, and that of the section with the table.
  const titleOf = (table) => {
    const titles = new Set([main.querySelector('h1')]);
    for (let part = table; part !== main; part = part.parentElement) {
      let before = part.previousElementSibling;
      while (before && !/^h[1-4]$/.test(before.localName)) before = before.previousElementSibling;
      if (before) { titles.add(before); break; }
    }
    return [...titles].filter(Boolean).map((title) => title.textContent.trim()).join(' · ').slice(0, 160);
  };

  const write = (pen, style, text, box) => {
    pen.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    pen.fillStyle = style.color;
    const { fontBoundingBoxAscent: ascent, fontBoundingBoxDescent: descent } = pen.measureText(text);
    pen.fillText(text, box.left, box.top + (box.height - ascent - descent) / 2 + ascent);
  };

  const writeWords = (pen, node) => {
    const style = getComputedStyle(node.parentElement);
    const range = document.createRange();
    const boxes = (start, end) => { range.setStart(node, start); range.setEnd(node, end); return range.getClientRects(); };
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      const [box, more] = boxes(index, index + word.length);
      if (box && !more) { write(pen, style, word, box); continue; }
      // A word that spans two lines, as is common in Japanese.
      for (let place = 0; place < word.length; place += 1) {
        const [own] = boxes(index + place, index + place + 1);
        if (own) write(pen, style, word[place], own);
      }
    }
  };

  const drawCell = (pen, cell) => {
    const [box, style] = [cell.getBoundingClientRect(), getComputedStyle(cell)];
    pen.fillStyle = style.backgroundColor;
    pen.fillRect(box.left, box.top, box.width, box.height);
    const line = parseFloat(style.borderBottomWidth);
    pen.fillStyle = style.borderBottomColor;
    pen.fillRect(box.left, box.bottom - line, box.width, line);
    // On a phone, the names of the columns are shown in the cells.
    const name = getComputedStyle(cell, '::before');
    if (cell.dataset.l && name.content !== 'none' && name.display !== 'none') {
      const [left, top] = [parseFloat(style.paddingLeft), parseFloat(style.paddingTop)];
      write(pen, name, cell.dataset.l, { left: box.left + left, top: box.top + top, height: parseFloat(name.height) });
    }
  };

  const drawShapes = (pen, svg) => {
    const { a, d, e, f } = svg.getScreenCTM();
    pen.save();
    pen.transform(a, 0, 0, d, e, f);
    for (const shape of svg.querySelectorAll('path, rect, circle')) {
      const { fill, opacity, stroke, strokeWidth } = getComputedStyle(shape);
      const [x, y, width, height, cx, cy, r] = ['x', 'y', 'width', 'height', 'cx', 'cy', 'r'].map((name) => Number(shape.getAttribute(name)));
      const outline = new Path2D(shape.getAttribute('d') || undefined);
      if (r) outline.arc(cx, cy, r, 0, 7);
      if (width) outline.rect(x, y, width, height);
      pen.globalAlpha = opacity;
      if (fill !== 'none') { pen.fillStyle = fill; pen.fill(outline); }
      if (stroke !== 'none') { pen.strokeStyle = stroke; pen.lineWidth = parseFloat(strokeWidth); pen.stroke(outline); }
    }
    pen.restore();
  };

  // The notes directly below a table, and the note for the whole page.
  const notesOf = (frame) => {
    const notes = ofPage ? [ofPage] : [];
    for (let part = frame.nextElementSibling; part; part = part.nextElementSibling) {
      if (part.matches('ul.notes')) notes.push(...[...part.children].map((note) => note.textContent.trim()));
      else if (!part.matches('.as-picture')) break;
    }
    return notes;
  };

  // Breaks a note into lines of the picture's width. Japanese breaks between any characters, other
  // text at spaces.
  const folded = (pen, note, width) => {
    const lines = [''];
    for (const part of note.match(/[\x21-\x7e]+\s*|[^\x21-\x7e]/g) || []) {
      const longer = lines.at(-1) + part;
      if (lines.at(-1) && pen.measureText(longer.trimEnd()).width > width) lines.push(part.trimStart());
      else lines[lines.length - 1] = longer;
    }
    return lines;
  };

  const draw = (table, title, notes) => {
    const [box, style] = [table.getBoundingClientRect(), getComputedStyle(document.body)];
    const size = parseFloat(style.fontSize);
    const head = 2.2 * size;
    const small = `${0.85 * size}px ${style.fontFamily}`;
    const measuring = document.createElement('canvas').getContext('2d');
    measuring.font = small;
    const lines = notes.flatMap((note) => folded(measuring, note, box.width));
    const line = 1.3 * size;
    const foot = lines.length ? lines.length * line + 0.5 * size : 0;
    const [width, height] = [box.width + 2 * margin, head + box.height + foot + 2 * margin];
    const canvas = document.createElement('canvas');
    const scale = Math.min(2, longest / Math.max(width, height));
    [canvas.width, canvas.height] = [Math.ceil(width * scale), Math.ceil(height * scale)];
    const pen = canvas.getContext('2d');
    pen.scale(scale, scale);
    pen.fillStyle = style.backgroundColor;
    pen.fillRect(0, 0, width, height);
    pen.font = `600 ${style.fontSize} ${style.fontFamily}`;
    pen.fillStyle = style.color;
    pen.fillText(title, margin, margin + head / 2, width - 2 * margin);
    pen.font = small;
    lines.forEach((words, place) => pen.fillText(words, margin, height - margin - (lines.length - 1 - place) * line));
    pen.translate(margin - box.left, margin + head - box.top);
    for (const cell of table.querySelectorAll('th, td')) drawCell(pen, cell);
    for (const svg of table.querySelectorAll('svg')) if (svg.getClientRects().length) drawShapes(pen, svg);
    const nodes = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) if (!nodes.currentNode.parentElement.closest('caption')) writeWords(pen, nodes.currentNode);
    return canvas;
  };

  const save = (table) => {
    const title = titleOf(table);
    // A table that is scrolled sideways is drawn from its left edge.
    const frame = table.closest('.scroll');
    const left = frame?.scrollLeft;
    if (frame) frame.scrollLeft = 0;
    const canvas = draw(table, title, notesOf(frame || table));
    if (frame) frame.scrollLeft = left;
    canvas.toBlob((picture) => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(picture);
      link.download = `${title}.png`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60000);
    });
  };

  const offer = () => {
    for (const table of main.querySelectorAll('table')) {
      const frame = table.closest('.scroll') || table;
      if (frame.nextElementSibling?.classList.contains('as-picture')) continue;
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'as-picture';
      button.textContent = words;
      button.addEventListener('click', () => save(table));
      frame.after(button);
    }
  };
  offer();
  new MutationObserver(offer).observe(main, { childList: true, subtree: true });
})();
