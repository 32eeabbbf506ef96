//! The views as a reader sees them first: what is on the first screen, what overlaps, what survives
//! a reload.

use crate::browsing::{DOOR, Reader};
use kurabe_testkit::browser::keys;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Time from the start to the first tile of the shortest profile.
const FIRST_TILE: Duration = Duration::from_secs(15);
/// Sizes of common laptops.
const LAPTOPS: [(u32, u32); 2] = [(1280, 800), (1366, 768)];
/// First sentences of many runs, in English and in Japanese.
const SENTENCES: &str = include_str!("../../testkit/tests/rooms/first_sentences.txt");

/// Returns the sentences in a language.
fn sentences(lang: &str) -> Vec<String> {
    let lines: Vec<&str> = SENTENCES.lines().filter_map(|line| line.strip_prefix("    ")).collect();
    let pick = usize::from(lang == "ja");
    lines.chunks(2).filter_map(|pair| pair.get(pick)).map(|line| line.trim().to_owned()).collect()
}

/// Returns the number of lines of the sentence, and the bottom of the fourth row of tiles, for each
/// sentence that is put in its place.
fn first_screens(reader: &Reader, selector: &str, lang: &str) -> Vec<(String, f64, f64)> {
    let script = format!(
        "const place = document.querySelector({selector:?});
         return {}.map((words) => {{
             place.textContent = words;
             const line = parseFloat(getComputedStyle(place).lineHeight);
             const rows = [...document.querySelectorAll('.tiles .row')];
             return [words, place.getBoundingClientRect().height / line, rows[3].getBoundingClientRect().bottom];
         }})",
        json!(sentences(lang))
    );
    let all = reader.browser.run(&script);
    let all = all.as_array().expect("a list").iter();
    all.map(|one| {
        let number = |place: usize| one[place].as_f64().expect("a number");
        (one[0].as_str().unwrap_or_default().to_owned(), number(1), number(2))
    })
    .collect()
}

#[test]
fn the_sentence_and_four_rows_are_on_the_first_screen() {
    let Some(reader) = Reader::inside() else { return };
    let id = reader.measured_by("model:samsung-870-evo", "default", "2");
    let views = [(format!("/runs/{id}"), ".run .answer"), ("/".to_owned(), "#board .summary")];
    for lang in ["en", "ja"] {
        assert!(sentences(lang).len() >= 40);
        reader.go(&format!("/choose/lang/{lang}"));
        for (path, selector) in &views {
            reader.go(path);
            reader.wait_for(selector);
            for (width, height) in LAPTOPS {
                reader.browser.resize(width, height);
                for (sentence, lines, bottom) in first_screens(&reader, selector, lang) {
                    let what = format!("{path}, {width} x {height}, {sentence}");
                    assert!(lines < 2.1, "{what}: {lines} lines");
                    assert!(bottom <= f64::from(height), "{what}: the fourth row ends at {bottom}");
                }
            }
        }
    }
    reader.console_is_clean(&[DOOR]);
}

/// Pairs of texts on the same axis that overlap.
const COLLISIONS: &str = "const wrong = [];
    for (const axis of document.querySelectorAll('svg.axis')) {
        const texts = [...axis.querySelectorAll('text')];
        const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
        const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
        boxes.forEach(([one, a], place) => boxes.slice(place + 1).forEach(([two, b]) => {
            if (meet(a, b)) wrong.push(one + ' | ' + two);
        }));
    }
    return wrong;";

/// Bands in which a dot lies although none of its tile is named.
const NAMELESS: &str = "return [...document.querySelectorAll('svg.axis')].filter((axis) => {
        const dot = Number(axis.querySelector('circle').getAttribute('cx'));
        const number = (element, name) => Number(element.getAttribute(name));
        const bands = [...axis.querySelectorAll('.band')].map((band) => [number(band, 'x'), number(band, 'width')]);
        const names = [...axis.querySelectorAll('.name')].map((name) => number(name, 'x'));
        const inside = bands.filter(([x, width]) => x <= dot && dot <= x + width);
        const isNamed = ([x, width]) => names.some((name) => Math.abs(name - (x + width / 2)) < 30);
        return inside.length && !inside.some(isNamed);
    }).length";

#[test]
fn a_run_names_the_class_of_each_dot_and_has_one_menu_to_share_it() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    for model in ["samsung-870-evo", "samsung-990-pro", "hdd-nas"] {
        let id = reader.measured(model);
        reader.go(&format!("/runs/{id}"));
        reader.wait_for("svg.axis");
        assert_eq!(browser.run(COLLISIONS), json!([]), "{model}");
        assert_eq!(browser.run(NAMELESS), json!(0), "{model}");
        // A band has a name for the pointer and for the screen reader.
        let label = reader.words("document.querySelector('svg.axis').getAttribute('aria-label')");
        assert!(label.contains("HDD") && label.contains("MB/s"), "{label}");
        browser.point_at("svg.axis .band");
        browser.wait_until("/HDD|SSD|SD|NVMe/.test(document.querySelector('#tip').textContent)");
    }
    // The heading is the name of the device alone, and the line below does not repeat it.
    assert!(reader.words("document.querySelector('h1').textContent").starts_with("WD Red 3 TB"));
    assert!(reader.words("document.querySelector('.facts').textContent").starts_with("Quick look · 20"));
    // Random tests show IOPS as large as MB/s.
    let sizes = browser.run(
        "const size = (part) => getComputedStyle(document.querySelector('.row:last-child ' + part)).fontSize;
         return ['.u-rate b', '.also b'].map(size)",
    );
    assert_eq!(sizes[0], sizes[1]);
    assert_eq!(reader.count(".row:first-of-type .also"), 0);
    // The menu opens by key, and each file is there.
    browser.tab_to("#share");
    browser.type_keys(keys::ENTER);
    browser.wait_until("document.querySelector('.share').open");
    let files = browser.run_later(
        "const done = arguments[0];
         const status = (link) => fetch(link.href).then(({ status }) => status);
         Promise.all([...document.querySelectorAll('.share a')].map(status)).then(done)",
    );
    let files = files.as_array().expect("a list");
    assert!(files.len() >= 5 && files.iter().all(|status| *status == 200), "{files:?}");
    browser.click("h1");
    browser.wait_until("!document.querySelector('.share').open");
    reader.console_is_clean(&[DOOR]);
}

#[test]
fn the_first_view_has_drives_with_one_button_then_the_last_run() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    assert_eq!(browser.run("return document.querySelector('#drives').open"), true);
    let buttons = browser.run(
        "const places = document.querySelectorAll('.place');
         return [...places].map((place) => place.querySelectorAll('button').length)",
    );
    let buttons: Vec<u64> = buttons.as_array().expect("cards").iter().filter_map(Value::as_u64).collect();
    assert!(buttons.contains(&1) && buttons.iter().all(|count| *count <= 1), "{buttons:?}");
    // Without a place, the plan says what to do.
    browser.wait_until("document.querySelector('#plan').textContent.includes('Choose a drive')");
    // Profiles are in three groups, each with its time.
    assert_eq!(reader.count("#measure optgroup"), 3);
    let first = reader.words("document.querySelector('#measure select[name=profile] option').textContent");
    assert_eq!(first, "Standard, 50 s");
    // A chosen profile survives a reload.
    browser.tab_to("#measure select[name=profile]");
    browser.type_keys("quick");
    browser.wait_until("localStorage['kurabe-profile'] === 'quick'");
    reader.go("/");
    reader.wait_for("#measure");
    assert_eq!(reader.words("document.querySelector('#measure').elements.profile.value"), "quick");
    // One action more, and the first tile is filled.
    let folder = reader.page.folder().join("first");
    std::fs::create_dir(&folder).expect("a folder");
    browser.press("#measure input[name=target]", folder.to_str().expect("a path"));
    let begun = Instant::now();
    browser.press("#measure input[name=target]", keys::ENTER);
    reader.wait_for("#board .tile.done");
    assert!(begun.elapsed() < FIRST_TILE, "{:?}", begun.elapsed());
    assert_eq!(
        browser.run("return document.querySelector('#drives').open"),
        false,
        "the tiles are in its place"
    );
    reader.wait_for("#board .after");
    reader.measured("samsung-870-evo");
    reader.go("/");
    reader.wait_for("#board .run");
    assert_eq!(browser.run("return document.querySelector('#drives').open"), false);
    assert_eq!(
        reader.words("document.querySelector('#measure').elements.target.value"),
        "model:samsung-870-evo"
    );
    assert!(reader.words("document.querySelector('.where').textContent").contains("Measure again"));
    browser.wait_until("document.querySelector('#plan').textContent.includes('nothing is written')");
    reader.console_is_clean(&[DOOR]);
}

#[test]
fn ticks_work_across_runs_models_and_published_figures() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let id = reader.measured("samsung-870-evo");
    reader.go("/runs");
    browser.click(&format!("input[name=run][value='{id}']"));
    reader.go("/models?q=990");
    reader.wait_for("#list:not([data-waits]) table");
    browser.click("input[name=model][value='samsung-990-pro']");
    reader.go("/catalogue?q=990");
    browser.click("input[name=entry][value='cdm-9/samsung-990-pro-2tb']");
    browser.wait_until("document.querySelector('#compare button.main').textContent.includes('(3)')");
    browser.click("#compare button.main");
    reader.wait_for(".answer");
    let title = reader.words("document.querySelector('main').textContent");
    for name in ["Samsung 870 EVO 1 TB", "Samsung 990 PRO 1 TB", "Samsung 990 Pro 2 TB"] {
        assert!(title.contains(name), "{name}: {title}");
    }
    let head = reader.words("document.querySelector('header.report').textContent");
    assert!(!head.contains("model:"), "{head}");
    // Nothing stays ticked.
    reader.go("/runs");
    assert_eq!(browser.run("return document.querySelector('#compare button.main').disabled"), true);
    // Two runs: the answer is one sentence, and the figures switch to latencies.
    let other = reader.measured("intel-x25m-g2");
    reader.go(&format!("/compare?run={id}&run={other}"));
    let answer = reader.words("document.querySelector('.answer').textContent");
    assert!(answer.contains("Samsung 870 EVO") && answer.matches(". ").count() == 0, "{answer}");
    let cards = browser.run_later(
        "const done = arguments[0];
         const links = [...document.querySelectorAll('.share a')].map((link) => link.href);
         const card = async (link) => {
             const answer = await fetch(link);
             return [answer.status, (await answer.blob()).size > 1500];
         };
         Promise.all([...links, '/studies/raid-strip/card.svg?lang=ja'].map(card)).then(done)",
    );
    assert!(
        cards
            .as_array()
            .is_some_and(|all| all.len() >= 2 && all.iter().all(|one| *one == json!([200, true]))),
        "{cards}"
    );
    browser.click(".chips a[href$='figure=p99']");
    browser.wait_until("/[µm]s/.test(document.querySelector('#part-results td.n')?.textContent)");
    reader.console_is_clean(&[DOOR]);
}

#[test]
#[ignore = "slow"]
fn while_it_runs_there_is_no_verdict_and_the_curve_does_not_fall_between_tests() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    browser.run(
        "window.seen = { verdict: 0, left: [], share: [], low: 0 };
         setInterval(() => {
             const board = document.querySelector('#board');
             if (!board.querySelector('[data-goes-on]')) return;
             seen.verdict += board.querySelectorAll('.summary').length;
             const left = document.querySelector('#left')?.textContent;
             if (left) seen.left.push(left);
             const now = board.querySelector('.tile.now');
             if (now) seen.share.push(Number(now.style.getPropertyValue('--share')));
             const path = document.querySelector('#course')?.getAttribute('d') || '';
             // A pause within a test is drawn at the bottom; the ends of a test are not.
             const lines = path.split('M').filter(Boolean).map((line) => line.split('L'));
             const ends = lines.flatMap((points) => [points[0], points.at(-1)]);
             seen.low = Math.max(seen.low, ends.filter((end) => end.endsWith(' 98.0')).length);
             seen.breaks = Math.max(seen.breaks || 0, (path.match(/M/g) || []).length);
             seen.scale = Math.max(seen.scale || 0, document.querySelectorAll('#scale span').length);
         }, 50)",
    );
    reader.start("default", 2);
    reader.wait_for("#board .after");
    let seen = browser.run("return seen");
    assert_eq!(seen["verdict"], 0, "{seen}");
    assert!(seen["breaks"].as_u64() > Some(2), "each test is a line of its own: {seen}");
    assert_eq!(seen["low"], 0, "the curve falls to the bottom between tests");
    assert!(seen["scale"].as_u64() >= Some(2), "{seen}");
    let left = seen["left"].as_array().expect("a list");
    assert!(
        left.iter().all(|words| words.as_str().is_some_and(|words| words.starts_with("about "))),
        "{seen}"
    );
    let shares: Vec<f64> =
        seen["share"].as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    assert!(shares.iter().any(|share| *share > 0.5), "{shares:?}");
    reader.console_is_clean(&[DOOR]);
}

/// Elements with their own text that overlap others on a phone.
const OVERLAPS: &str = "const apart = 'svg, .unseen, caption, .share ul, option, select, .actions';
    const hasText = (element) => [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    const texts = [...document.querySelectorAll('main *, header *')].filter((element) =>
        element.checkVisibility() && !element.closest(apart) && hasText(element));
    const boxes = texts.map((element) => {
        const range = document.createRange();
        range.selectNodeContents(element);
        return [element, [...range.getClientRects()].filter((box) => box.width > 1)];
    });
    const wrong = [];
    // The box of a line is higher than its letters, in Japanese by half.
    const meet = (p, q) => p.left + 2 < q.right && q.left + 2 < p.right
        && Math.min(p.bottom, q.bottom) - Math.max(p.top, q.top) > Math.min(p.height, q.height) * .4;
    const start = (element) => element.textContent.slice(0, 40);
    boxes.forEach(([one, a], place) => boxes.slice(place + 1).forEach(([two, b]) => {
        if (one.contains(two) || two.contains(one)) return;
        if (a.some((p) => b.some((q) => meet(p, q)))) wrong.push(start(one) + ' | ' + start(two));
    }));
    return wrong.slice(0, 5);";

#[test]
fn nothing_overlaps_on_a_phone_and_all_views_have_one_width() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let ids = ["samsung-870-evo", "hdd-nas"].map(|model| reader.measured(model));
    let run = format!("/runs/{}", ids[0]);
    let compared = format!("/compare?run={}&run={}", ids[0], ids[1]);
    let views =
        ["/", &run, &compared, "/runs", "/models?figures=true", "/catalogue?q=nvme", "/studies/raid-strip"];
    let mut first_edges = None;
    for lang in ["en", "ja"] {
        reader.go(&format!("/choose/lang/{lang}"));
        for view in views {
            reader.go(view);
            reader.wait_for("main");
            browser.resize(1440, 900);
            let edges = browser.run(
                "const [main, bar] = ['main', 'header.bar'].map((part) => document.querySelector(part));
                 const style = getComputedStyle(main);
                 const { left, right } = main.getBoundingClientRect();
                 const brand = bar.firstElementChild.getBoundingClientRect().left;
                 const [from, to] = [left + parseFloat(style.paddingLeft), right - parseFloat(style.paddingRight)];
                 return [from, to, brand].map(Math.round)",
            );
            let first = first_edges.get_or_insert_with(|| edges.clone());
            assert_eq!(edges, *first, "{view}");
            assert_eq!(edges[0], edges[2], "{view}");
            browser.resize(400, 800);
            assert_eq!(browser.run(OVERLAPS), json!([]), "{view}, {lang}");
            let wide = browser.run("return document.documentElement.scrollWidth");
            assert!(wide.as_u64() <= Some(400), "{view}, {lang}: {wide}");
        }
    }
    reader.console_is_clean(&[DOOR]);
}

#[test]
fn published_figures_are_narrowed_and_lead_to_an_entry() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    reader.go("/catalogue");
    let first = || reader.words("document.querySelector('.published tbody th').textContent");
    // The most recent come first, and every column has one unit.
    let years = browser.run(
        "const years = document.querySelectorAll('.published td:nth-child(3)');
         return [...years].map((year) => Number(year.textContent))",
    );
    let years: Vec<f64> = years.as_array().expect("years").iter().filter_map(Value::as_f64).collect();
    assert!(years.len() > 200 && years.windows(2).all(|pair| pair[0] >= pair[1]), "{years:?}");
    let units = browser.run(
        "const figures = document.querySelectorAll('.published td.n');
         return [...figures].filter((figure) => /[a-z]/i.test(figure.textContent)).length",
    );
    assert_eq!(units, 0);
    browser.tab_to(".chips a[href='/catalogue?q=nvme']");
    browser.type_keys(keys::ENTER);
    browser.wait_until("document.querySelector('.chips a[aria-current]')?.textContent === 'NVMe'");
    // Rates in different units are sorted by value.
    browser.tab_to(".published thead th:nth-child(4) button");
    browser.type_keys(keys::ENTER);
    assert!(first().starts_with("Samsung 9100 Pro 4 TB"), "{}", first());
    // The list follows what is typed, and the address follows the list.
    browser.press("input[name=q]", " 970 pro");
    browser.wait_until("document.querySelectorAll('.published tbody tr').length === 1");
    browser.wait_until("location.search === '?q=nvme%20970%20pro'");
    browser.tab_to(".published tbody a");
    browser.type_keys(keys::ENTER);
    reader.wait_for(".entry table");
    assert_eq!(reader.words("location.pathname"), "/catalogue/storage-2020-spec/samsung-970-pro-1tb");
    let words = reader.words("document.querySelector('main').textContent");
    assert!(words.contains("3,500.0") && words.contains("techspot.com"), "{words}");
    reader.go("/catalogue?q=samsng");
    reader.wait_for(".empty + .ways a[href='/catalogue?q=samsung']");
    reader.console_is_clean(&[DOOR]);
}
