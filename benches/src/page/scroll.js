// The time of each frame while the page is scrolled to its end, 80 px in each.
let before = 0;
const frames = [];
const step = (now) => {
  if (before) frames.push(now - before);
  before = now;
  const end = document.documentElement.scrollHeight - innerHeight;
  if (scrollY >= end - 1) { window.scrolled = frames; return; }
  scrollBy(0, 80);
  requestAnimationFrame(step);
};
requestAnimationFrame(step);
