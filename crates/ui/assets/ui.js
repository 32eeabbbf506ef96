'use strict';
(() => {
  const $ = (id) => document.getElementById(id);
  const post = (address, body, signal) => fetch(address, {
    method: 'POST', signal, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  });
  // The server's error message.
  const reason = async (answer) => {
    const { error } = await answer.json().catch(() => ({}));
    return error ? [error.what, error.cause, error.remedy].filter(Boolean).join(' — ') : `HTTP ${answer.status}`;
  };
  const say = (words) => { if (words) $('say').textContent = words; };
  const wrong = (words) => {
    const place = $('wrong');
    place.textContent = words || '';
    place.hidden = !words;
  };
  const put = (place, markup) => { place.innerHTML = markup; };
  const { classList } = document.body;

  // Sign-in page: the token behind # is removed from the address and exchanged for a cookie, once.
  if (document.body.dataset.door) {
    const knock = () => {
      const word = location.hash.slice(1);
      if (word) {
        history.replaceState(null, '', location.pathname);
        post('/session', { word }).then(async (answer) => {
          if (answer.ok) location.replace('/');
          else $('door').textContent = await reason(answer);
        });
      } else if (!sessionStorage.getItem('knocked')) {
        // After a link from another site, the browser has not sent the cookie yet, so the page is
        // loaded again.
        sessionStorage.setItem('knocked', '1');
        location.replace(location.pathname + location.search);
      }
    };
    knock();
    // If the sign-in page is already open, only the fragment changes.
    addEventListener('hashchange', knock);
    return;
  }
  sessionStorage.removeItem('knocked');

  // Sliders show their value next to them.
  document.addEventListener('input', (event) => {
    const output = event.target.matches?.('.sliders input') && event.target.parentElement.querySelector('output');
    if (output) output.textContent = event.target.value + ' %';
  });

  // A form with `data-post` shows the result next to its button.
  document.addEventListener('submit', async (event) => {
    const form = event.target;
    if (!form.dataset.post) return;
    event.preventDefault();
    const answer = await post(form.dataset.post, Object.fromEntries(new FormData(form, event.submitter)));
    form.querySelector('output').textContent = answer.ok ? '✓' : await reason(answer);
  });

  // A key activates the element that declares it, unless the user is typing.
  const letters = $('letters');
  letters.checked = !localStorage['kurabe-no-keys'];
  letters.onchange = () => { localStorage['kurabe-no-keys'] = letters.checked ? '' : 1; };
  addEventListener('keydown', (event) => {
    const { key, ctrlKey, metaKey, altKey } = event;
    if (ctrlKey || metaKey || altKey || !letters.checked || document.activeElement.matches('input, select, textarea')) return;
    const place = document.querySelector(`[aria-keyshortcuts="${CSS.escape(key)}"]`);
    if (!place) return;
    event.preventDefault();
    if (place.name) place.focus(); else place.click();
  });

  // Fetches the current version of a part of a page.
  const now = async (address, selector) => {
    const answer = await fetch(address).catch(() => ({}));
    return answer.ok && new DOMParser().parseFromString(await answer.text(), 'text/html').querySelector(selector);
  };
  // Replaces the parts that changed. The others keep the focus and the typed values.
  const renewed = (own, its) => {
    const [old, fresh] = [own, its].map(({ childNodes }) => [...childNodes].filter(({ localName }) => localName !== 'output'));
    if (own.id !== its.id || own.nodeName !== its.nodeName) own.replaceWith(its);
    else if (old.length !== fresh.length) put(own, its.innerHTML);
    else if (own.data !== its.data) own.data = its.data;
    else old.forEach((part, place) => renewed(part, fresh[place]));
  };
  const served = $('served');
  if (served) setInterval(async () => {
    if (document.hidden) return;
    const fresh = await now('/served', '#served');
    classList.toggle('lost', !fresh);
    if (fresh) renewed(served, fresh);
  }, 1000);

  // Ticks for a comparison are kept, so that they work across the lists of runs, models and
  // published figures. At least two are needed. Until then, the button says so.
  const kinds = ['run', 'model', 'entry'];
  const ticks = () => JSON.parse(localStorage['kurabe-ticks'] || '[]');
  const showTicks = () => {
    const compared = $('compare');
    if (!compared) return;
    const own = ticks();
    for (const box of compared.querySelectorAll('input[type=checkbox]')) box.checked = own.includes(`${box.name}=${box.value}`);
    const button = compared.querySelector('button.main');
    button.disabled = own.length < 2;
    button.textContent = button.disabled ? button.dataset.tooFew : `${button.dataset.words} (${own.length})`;
    compared.querySelector('.untick').hidden = !own.length;
  };
  const keepTicks = (all) => { localStorage['kurabe-ticks'] = JSON.stringify(all); showTicks(); };
  document.addEventListener('change', ({ target }) => {
    if (!target.closest('#compare') || !kinds.includes(target.name)) return;
    const tick = `${target.name}=${target.value}`;
    keepTicks(ticks().filter((own) => own !== tick).concat(target.checked ? [tick] : []));
  });
  document.addEventListener('click', ({ target }) => { if (target.matches('.untick')) keepTicks([]); });
  document.addEventListener('submit', (event) => {
    if (event.target.id !== 'compare') return;
    event.preventDefault();
    const sides = ticks().map((tick) => tick.split('=').map(encodeURIComponent).join('='));
    localStorage.removeItem('kurabe-ticks');
    location.assign(`/compare?${sides.join('&')}`);
  });
  // After a return from another page, the browser restores the checkboxes.
  addEventListener('pageshow', showTicks);
  showTicks();

  // Replaces the list of this page by that of another address. Only the last response counts.
  let listing = 0;
  const relist = async (address) => {
    listing += 1;
    const own = listing;
    const fresh = await now(address, '#list');
    if (!fresh || own !== listing) return;
    $('list').replaceWith(fresh);
    showTicks();
  };
  // A list is searched while the user types.
  const search = document.querySelector('form[role=search]');
  if (search && $('list')) {
    let typing;
    search.elements.q.addEventListener('input', () => {
      clearTimeout(typing);
      typing = setTimeout(async () => {
        const address = `${search.getAttribute('action')}?q=${encodeURIComponent(search.elements.q.value.trim())}`;
        history.replaceState(null, '', address);
        await relist(address);
        say($('list').querySelector('.quiet')?.textContent);
      }, 150);
    });
  }
  // Models whose figures are still being computed.
  if ($('list')?.dataset.waits) relist(`/models${location.search || '?'}&figures=true`);

  // Other open menus close when one opens, or when the user clicks elsewhere.
  document.addEventListener('click', ({ target }) => {
    for (const menu of document.querySelectorAll('.share[open]')) if (!menu.contains(target)) menu.open = false;
  });

  // The unit of all tiles. The choice is kept.
  const { body } = document;
  const showUnit = () => {
    body.dataset.unit = localStorage['kurabe-unit'] || 'rate';
    for (const button of document.querySelectorAll('.units button')) {
      button.setAttribute('aria-pressed', String(button.dataset.unit === body.dataset.unit));
    }
  };
  document.addEventListener('click', ({ target }) => {
    const { unit } = target.closest('.units button')?.dataset || {};
    if (!unit) return;
    localStorage['kurabe-unit'] = unit;
    showUnit();
  });
  showUnit();

  measuring();
  modelling();

  function measuring() {
    const form = $('measure');
    const board = $('board');
    if (!form || !board) return;
    let course = [];
    let since = 0;
    const jobs = $('job');
    const vary = $('vary');
    const differing = () => [...vary.querySelectorAll('[data-vary]')].map((part) =>
      [part.dataset.vary, part.type === 'checkbox' && !part.checked ? '' : part.value]);

    const asked = (only) => {
      const { elements } = form;
      const words = (name) => elements[name].value.trim();
      return {
        target: words('target'), profile: elements.profile.value, size: elements.size.value, runs: elements.runs.value, only: only || '',
        job: jobs.open ? elements.job.value : '', against: vary.open ? words('against') : '',
        vary: vary.open ? differing() : [],
      };
    };

    // A fio job: the fields generate the job file, and a pasted job file fills the fields.
    const parts = [...form.querySelectorAll('[data-job]')];
    const write = () => {
      const lines = parts.map((part) => `${part.dataset.job}=${part.value.trim()}`);
      form.elements.job.value = ['[global]', 'direct=1', 'ioengine=io_uring', 'time_based=1', '', '[job]', ...lines, ''].join('\n');
    };
    const read = async (fills) => {
      const answer = await post('/job', { job: form.elements.job.value, target: asked().target });
      const place = $('job-notes');
      if (!answer.ok) { place.textContent = await reason(answer); place.hidden = false; return; }
      const { command, fields, notes } = await answer.json();
      $('command').textContent = command;
      place.textContent = notes || '';
      place.hidden = !notes;
      if (fills && fields) for (const part of parts) part.value = fields[part.dataset.job];
    };
    jobs.addEventListener('toggle', () => {
      if (jobs.open && !form.elements.job.value) write();
      if (jobs.open) read(false);
      plan();
    });
    vary.addEventListener('toggle', () => plan());
    for (const part of parts) part.addEventListener('input', () => { write(); read(false); });
    form.elements.job.addEventListener('input', () => read(true));

    // The cost of the measurement, requested again after each change. Only the last response
    // counts.
    let asking;
    const plan = async () => {
      asking?.abort();
      asking = new AbortController();
      if (!asked().target) { $('plan').textContent = $('plan').dataset.nothing; return; }
      try {
        const answer = await post('/plan', asked(), asking.signal);
        if (answer.ok) put($('plan'), await answer.text());
        else $('plan').textContent = await reason(answer);
      } catch { /* overtaken */ }
    };
    let waiting;
    form.addEventListener('input', (event) => {
      if (event.target.name === 'profile' && keepsProfile) localStorage['kurabe-profile'] = event.target.value;
      clearTimeout(waiting);
      waiting = setTimeout(plan, 200);
    });
    // A profile that was chosen here stays chosen. The page of a drive has its own.
    const keepsProfile = location.pathname === '/';
    const { profile } = form.elements;
    if (keepsProfile && [...profile.options].some(({ value }) => value === localStorage['kurabe-profile'])) profile.value = localStorage['kurabe-profile'];
    plan();

    const start = async (only) => {
      wrong('');
      const answer = await post('/measure', asked(only));
      if (!answer.ok) wrong(await reason(answer));
    };
    form.addEventListener('submit', (event) => { event.preventDefault(); start(); });
    // The button of a drive measures it at once.
    form.addEventListener('click', ({ target }) => {
      const { measure } = target.dataset;
      if (!measure) return;
      form.elements.target.value = measure;
      plan();
      start();
    });
    $('stop').addEventListener('click', () => post('/stop', {}));

    const show = () => {
      showUnit();
      const goesOn = Boolean(board.querySelector('[data-goes-on]'));
      const hasFocus = [$('all'), $('stop')].includes(document.activeElement);
      $('stop').hidden = !goesOn;
      $('all').hidden = $('all').disabled = goesOn;
      if (goesOn && $('drives')) $('drives').open = false;
      // One button replaces the other and takes over its focus.
      if (hasFocus) (goesOn ? $('stop') : $('all')).focus();
      for (const step of board.querySelectorAll('.step')) step.disabled = goesOn;
    };
    board.addEventListener('click', (event) => {
      const button = event.target.closest('button');
      if (button?.dataset.only) start(button.dataset.only);
    });
    show();

    // The running repetition, which a newly fetched board does not show.
    let begun = null;
    const phase = ({ words }) => { const place = $('phase'); if (place) place.textContent = words; };
    const mark = () => {
      if (!begun) return;
      for (const tile of board.querySelectorAll('.tile')) {
        const isNow = tile.dataset.cell === String(begun.cell);
        tile.classList.toggle('now', isNow && !tile.classList.contains('done'));
        if (isNow) tile.style.setProperty('--share', begun.share);
      }
      phase(begun);
    };
    // A key or button press must end on the element on which it began, so a new board waits for its
    // end.
    const released = () => board.querySelector(':active') && new Promise((done) => {
      for (const end of ['keyup', 'pointerup', 'pointercancel', 'blur']) addEventListener(end, () => setTimeout(done), { once: true });
    });
    // Restores the focus and the expanded parts on the new board.
    const replace = async (markup) => {
      await released();
      const focus = board.contains(document.activeElement) ? document.activeElement : null;
      const name = focus && ['id', 'data-unit', 'data-only', 'href'].find((name) => focus.hasAttribute(name));
      const value = name && focus.getAttribute(name);
      const unfolded = [...board.querySelectorAll('details[open] > summary[id]')].map((summary) => summary.id);
      put(board, markup);
      for (const id of unfolded) { const summary = $(id); if (summary) summary.parentElement.open = true; }
      mark();
      drawCurve();
      if (name) board.querySelector(`[${name}="${CSS.escape(value)}"]`)?.focus({ preventScroll: true });
      show();
    };
    // During a fetch and the pause after it, further requests for the same part are combined into
    // one.
    const piece = (address, take, rest) => {
      let fetching = false;
      let again = false;
      return async () => {
        if (fetching) { again = true; return; }
        fetching = true;
        do {
          again = false;
          try {
            const answer = await fetch(address);
            if (answer.ok) await take(await answer.text());
          } catch { /* the connection tells, and comes back */ }
          if (rest) await new Promise((done) => setTimeout(done, rest));
        } while (again);
        fetching = false;
      };
    };
    const renew = piece('/board', replace, 0);
    // Replaces only the drawing, so that its horizontal scroll position is kept.
    const plot = piece('/board/plot', (markup) => {
      const place = $('plot');
      if (!place) return;
      const fresh = document.createElement('template');
      put(fresh, markup);
      const drawings = [place, fresh.content].map((part) => part.querySelector('svg'));
      if (drawings.every(Boolean)) drawings[0].replaceWith(drawings[1]);
      else put(place, markup);
    }, 200);
    // Updates the earlier runs on the same drive after a run.
    const past = () => now(location.href, '#past').then((fresh) => fresh && $('past').replaceWith(fresh));

    // The curve of the whole run, on a logarithmic axis. Between two tests it has a gap: nothing
    // completes there, but that says nothing about the storage. A pause within a test is drawn at
    // the bottom, once it is over.
    let idle = [];
    const drawCurve = () => {
      const path = $('course');
      if (!path || course.length < 2) return;
      const powers = course.filter(({ rate }) => rate > 0).map(({ rate }) => Math.log10(rate));
      const low = Math.floor(Math.min(...powers));
      const high = Math.max(Math.ceil(Math.max(...powers)), low + 1);
      const [first, last] = [course[0].at, course[course.length - 1].at];
      const height = (power) => 98 - (power - low) / (high - low) * 96;
      const words = course.map(({ at, rate, begins }, place) => {
        const x = (at - first) / Math.max(last - first, 1e-9) * 600;
        return `${begins || !place ? 'M' : 'L'}${x.toFixed(1)} ${height(rate > 0 ? Math.log10(rate) : low).toFixed(1)}`;
      });
      path.setAttribute('d', words.join(''));
      const decades = Array.from({ length: high - low + 1 }, (_, place) => low + place);
      path.previousElementSibling.setAttribute('d', decades.map((power) => `M0 ${height(power)}H600`).join(''));
      $('scale').replaceChildren(...decades.map((power) => {
        const name = document.createElement('span');
        name.textContent = power < 3 ? `${+(10 ** power).toPrecision(1)} MB/s` : `${10 ** (power - 3)} GB/s`;
        name.style.top = `${height(power)}%`;
        return name;
      }));
      $('until').textContent = `${(last - first).toFixed(0)} s`;
    };
    const draw = (now) => {
      if ($('left') && now.left) $('left').textContent = now.left;
      const tile = board.querySelector('.tile.now');
      if (begun) begun.share = begun.from + (begun.to - begun.from) * Math.min(1, now.at / (begun.seconds || 1));
      tile?.style.setProperty('--share', begun?.share || 0);
      const point = { at: since + now.at, rate: now.rate, begins: begun?.begins };
      // No operation completed. At the end of a repetition this says nothing.
      if (!now.rate) { if (!point.begins) idle.push(point); return; }
      if (begun) begun.begins = false;
      const live = tile?.querySelector('.live');
      if (live) {
        live.textContent = `${now.number} ${now.unit}`;
        tile.querySelector('.more').textContent = `${now.iops} IOPS · ≤ ${now.worst}`;
      }
      course.push(...idle.splice(0), point);
      if (course.length > 1500) course = course.slice(-1500);
      drawCurve();
    };
    const heard = {
      board: ({ say: words, over }) => {
        if (words) begun = null;
        if (over) course = [];
        say(words);
        renew();
        if (over && $('past')) past();
      },
      plot: () => { if (!document.hidden) plot(); },
      phase,
      begin: ({ cell, words, from, to, seconds }) => {
        since = course.length ? course[course.length - 1].at : 0;
        // The repetitions of a test form one line.
        begun = { cell, words, from, to, seconds, share: from, begins: begun?.cell !== cell };
        idle = [];
        mark();
      },
      now: draw,
    };
    const events = new EventSource('/events?from=' + board.dataset.from);
    events.onmessage = (event) => {
      const message = JSON.parse(event.data);
      heard[message.t]?.(message);
    };
    events.onerror = () => classList.add('lost');
    events.onopen = () => {
      if (classList.contains('lost')) renew();
      classList.remove('lost');
    };
  }

  function modelling() {
    const bench = $('model');
    const form = $('what');
    if (!bench || !form) return;
    const fields = [...bench.querySelectorAll('.parameter [name]')];
    const sets = () => fields.filter((field) => field.value !== field.dataset.was).map((field) => [field.name, field.value]);

    let asking;
    const figures = async () => {
      asking?.abort();
      asking = new AbortController();
      const place = $('figures');
      place.setAttribute('aria-busy', 'true');
      const changed = sets();
      const query = new URLSearchParams(changed).toString();
      $('device').href = `/models/${bench.dataset.model}/device.toml${query ? '?' + query : ''}`;
      for (const field of fields) field.closest('.parameter').classList.toggle('changed', field.value !== field.dataset.was);
      try {
        const answer = await post(`/models/${bench.dataset.model}/figures`, { profile: form.elements.profile.value, sets: changed }, asking.signal);
        if (answer.ok) { put(place, await answer.text()); wrong(''); } else wrong(await reason(answer));
      } catch { return; /* overtaken */ }
      place.removeAttribute('aria-busy');
    };

    // Conversions between a slider's position and the number, by the scale of the parameter.
    const scales = {
      linear: [(least, most, at) => least + (most - least) * at, (least, most, value) => (value - least) / (most - least)],
      log: [
        (least, most, at) => least * (most / least) ** at,
        (least, most, value) => Math.log(Math.max(value / least, 1)) / Math.log(most / least),
      ],
    };
    const shown = (slider, value) => {
      const { scale, unit, step, number: own, most } = slider.dataset;
      let number = value;
      if (scale === 'powers-of-two') number = 2 ** Math.round(Math.log2(value));
      // Sizes are multiples of a sector, so they are rounded to an eighth of the next lower power
      // of two.
      else if (unit === 'B' && !step && value >= 8) { const grain = 2 ** (Math.floor(Math.log2(value)) - 3); number = Math.round(value / grain) * grain; }
      else if (step) number = Math.max(1, Math.round(value / step)) * step;
      else if (unit || own % 1 === 0 && most > 1) number = Math.round(value);
      else number = +value.toPrecision(4);
      return `${number}${unit ? ' ' + unit : ''}`;
    };
    const sliders = bench.querySelectorAll('input[type=range][data-for]');
    for (const slider of sliders) {
      const field = $(slider.dataset.for);
      const [least, most] = [+slider.dataset.least, +slider.dataset.most];
      const [value, place] = scales[slider.dataset.scale] || scales.log;
      // An arrow key moves to the next power of two, or by a hundredth of the range.
      slider.step = slider.dataset.scale === 'powers-of-two' ? String(1000 / Math.max(1, Math.round(Math.log2(most / least)))) : '10';
      const home = () => { slider.value = String(1000 * place(least, most, +slider.dataset.number)); };
      home();
      slider.addEventListener('input', () => {
        field.value = shown(slider, value(least, most, slider.value / 1000));
        slider.setAttribute('aria-valuetext', field.value);
      });
      slider.addEventListener('change', figures);
      slider.home = home;
    }
    for (const field of fields) field.addEventListener('change', figures);
    form.elements.profile.addEventListener('change', figures);
    form.addEventListener('submit', (event) => event.preventDefault());
    $('reset').addEventListener('click', () => {
      for (const field of fields) field.value = field.dataset.was;
      for (const slider of sliders) slider.home();
      figures();
    });
    // A box of the stack opens its layer.
    const open = () => {
      const layer = location.hash && document.querySelector(`details[id="${CSS.escape(decodeURIComponent(location.hash.slice(1)))}"]`);
      if (layer) layer.open = true;
    };
    addEventListener('hashchange', open);
    open();
    figures().then(async () => {
      const answer = await fetch(`/models/${bench.dataset.model}/movers`);
      if (!answer.ok) return;
      for (const { name, words } of await answer.json()) {
        const parameter = $('set-' + name).closest('.parameter');
        // The source stays visible, on one line.
        const source = parameter.querySelector('small');
        source.title = source.textContent;
        source.before(Object.assign(document.createElement('small'), { textContent: `${name.split('.')[0]} · ${words}` }));
        $('movers').append(parameter);
        $('movers').hidden = false;
      }
    });
  }
})();
