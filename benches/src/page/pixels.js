// When what was told reaches the screen: put into every page before its own script.
(() => {
  const now = () => performance.timeOrigin + performance.now();
  const shown = window.shown = [];
  window.unchanged = 0;
  let waiting = [];
  let asked = [];
  const Own = window.EventSource;
  window.EventSource = class extends Own {
    constructor(...words) {
      super(...words);
      // Before the page's own listener, which changes what is seen.
      this.addEventListener('message', (event) => {
        const told = { number: Number(event.lastEventId), kind: JSON.parse(event.data).t, heard: now() };
        waiting.push(told);
        // After it: what has changed nothing by then changes nothing. A board is fetched first.
        if (told.kind !== 'board') {
          setTimeout(() => {
            if (waiting.includes(told)) { window.unchanged += 1; waiting = waiting.filter((other) => other !== told); }
          });
        }
      });
    }
  };
  const fetched = window.fetch;
  window.fetch = (...words) => {
    if (words[0] === '/board') {
      asked = asked.concat(waiting.filter((told) => told.kind === 'board'));
      waiting = waiting.filter((told) => told.kind !== 'board');
    }
    return fetched(...words);
  };
  addEventListener('DOMContentLoaded', () => {
    const board = document.getElementById('board');
    if (!board) return;
    new MutationObserver((changes) => {
      const changed = now();
      const whole = changes.some((change) => change.target === board && change.type === 'childList');
      const these = waiting.filter((told) => told.kind !== 'board').concat(whole ? asked : []);
      waiting = waiting.filter((told) => told.kind === 'board');
      if (whole) asked = [];
      // The frame after the one that has it: by then it is on the screen.
      requestAnimationFrame(() => requestAnimationFrame(() => {
        const painted = now();
        for (const told of these) shown.push({ ...told, changed, painted });
      }));
    }).observe(document.body, { subtree: true, childList: true, characterData: true, attributes: true });
  });
})();
