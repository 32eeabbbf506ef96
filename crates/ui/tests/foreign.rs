//! Foreign pages in the same browser, which has the reader's cookie. One is on another port of this
//! machine, which browsers treat as the same site. One is under a name that resolves to this
//! machine, and one has an opaque origin.

use crate::browsing::Reader;
use std::io::{Read, Write};
use std::net::TcpListener;

/// Another server, which answers every request with the same page.
struct Other {
    port: u16,
}

impl Other {
    /// Serves until the process ends.
    fn serving(page: String) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().map_while(Result::ok) {
                // A browser may connect without sending a request.
                let page = page.clone();
                std::thread::spawn(move || {
                    if !matches!(stream.read(&mut [0; 1 << 14]), Ok(1..)) {
                        return;
                    }
                    let head = format!(
                        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                        page.len()
                    );
                    let _ = stream.write_all((head + &page).as_bytes());
                });
            }
        });
        Self { port }
    }
}

/// Tries everything that a page can do to an address. The title changes when all attempts have
/// ended.
const ATTACKS: &str = r#"<!doctype html><title>trying</title>
<form id="plain" method="post" action="URL/measure" target="frame" enctype="text/plain">
<input name='{"target":"model:samsung-870-evo","profile":"quick","x":"' value='"}'></form>
<form id="coded" method="post" action="URL/stop" target="frame2"></form>
<iframe name="frame"></iframe><iframe name="frame2"></iframe><iframe id="framed" src="URL/"></iframe>
<script>
const form = JSON.stringify({ target: 'model:samsung-870-evo', profile: 'quick' });
const json = { 'Content-Type': 'application/json' };
const tried = {};
const word = (name, promise) => promise.then((answer) => { tried[name] = 'read ' + answer.type + ' ' + answer.status; }, () => { tried[name] = 'refused'; });
const element = (name, tag, address) => word(name, new Promise((done, refused) => {
  const element = document.createElement(tag);
  element.onload = () => done({ type: 'loaded', status: 0 });
  element.onerror = refused;
  element[tag === 'link' ? 'href' : 'src'] = address;
  if (tag === 'link') element.rel = 'stylesheet';
  document.body.append(element);
}));
const stream = () => word('events', new Promise((done, refused) => {
  const events = new EventSource('URL/events?from=0', { withCredentials: true });
  events.onmessage = events.onopen = () => done({ type: 'events', status: 0 });
  events.onerror = () => { events.close(); refused(); };
}));
addEventListener('load', async () => {
  document.getElementById('plain').submit();
  document.getElementById('coded').submit();
  navigator.sendBeacon('URL/measure', new Blob([form], { type: 'text/plain' }));
  await Promise.all([
    word('json', fetch('URL/measure', { method: 'POST', credentials: 'include', headers: json, body: form })),
    word('plain', fetch('URL/measure', { method: 'POST', credentials: 'include', body: form })),
    word('blind', fetch('URL/measure', { method: 'POST', mode: 'no-cors', credentials: 'include', body: form })),
    word('get', fetch('URL/runs', { credentials: 'include' })),
    word('board', fetch('URL/board', { mode: 'no-cors', credentials: 'include' })),
    element('image', 'img', 'URL/runs/x/card.png'),
    element('script', 'script', 'URL/board'),
    element('style', 'link', 'URL/runs'),
    stream(),
  ]);
  window.tried = tried;
  document.title = 'tried';
});
</script>"#;

/// Harmless results for a foreign page: a response that it can't read, or none.
const HARMLESS: [&str; 2] = ["refused", "read opaque 0"];

#[test]
fn pages_of_others_neither_read_nor_act() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    let own = format!("http://{}", reader.page.host());
    let other = Other::serving(ATTACKS.replace("URL", &own));
    let others =
        [format!("http://127.0.0.1:{}/", other.port), format!("http://evil.example:{}/", other.port)];
    for address in &others {
        browser.open(address);
        browser.wait_until("document.title === 'tried'");
        let tried = browser.run("return tried");
        let tried = tried.as_object().expect("what was tried");
        assert_eq!(tried.len(), 9, "{tried:?}");
        let harm = tried.iter().find(|(_, came_to)| !HARMLESS.iter().any(|harmless| *came_to == harmless));
        assert_eq!(harm, None, "{address}: {tried:?}");
        // A frame with the page is empty, and its parent can't access it.
        assert_eq!(browser.run("try { return framed.contentDocument === null } catch { return true }"), true);
    }
    // Control: the foreign page can read its own address, so the script works.
    let itself = "const done = arguments[0]; fetch(location.href).then((answer) => done(answer.status))";
    assert_eq!(browser.run_later(itself), 200);
    // A link leads to the page through the sign-in page, where the reader's cookie is accepted.
    browser.run(&format!("document.body.innerHTML = '<a href=\"{own}/\">kurabe</a>'"));
    browser.click("a");
    browser.wait_until("document.querySelector('#measure')");
    // Nothing was measured.
    reader.go("/runs");
    reader.wait_for("main .empty");
}

#[test]
fn a_name_that_was_rebound_leads_nowhere() {
    let Some(reader) = Reader::inside() else { return };
    let browser = &reader.browser;
    for path in ["/", "/runs", "/assets/x.js"] {
        browser.open(&format!("http://evil.example:{}{path}", reader.page.port));
        browser.wait_until("document.body.innerText.includes('answers only at its own address')");
    }
    // The page of that name has its own origin, so it may send requests to itself. They get the
    // same status.
    let ask = "const done = arguments[0];
        Promise.all(['/board', '/measure'].map((path) => fetch(path, path === '/measure'
            ? { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{\"target\":\"model:samsung-870-evo\"}' } : {})))
            .then((answers) => done(answers.map((answer) => answer.status).join(' ')))";
    assert_eq!(browser.run_later(ask), "421 421");
}

#[test]
fn paths_outside_lead_nowhere() {
    let Some(reader) = Reader::inside() else { return };
    let script = "const done = arguments[0];
        const paths = ['/runs/..%2f..%2fetc%2fpasswd', '/models/%2fetc%2fpasswd', '/assets/..%2f..%2fCargo.toml', '/studies/%2e%2e%2fx', '/../etc/passwd'];
        Promise.all(paths.map(async (path) => {
            const answer = await fetch(path);
            return { path, status: answer.status, words: await answer.text() };
        })).then(done)";
    let answers = reader.browser.run_later(script);
    for answer in answers.as_array().expect("answers") {
        let (path, words) = (&answer["path"], answer["words"].as_str().unwrap_or_default());
        assert!(answer["status"] == 404 || answer["status"] == 400, "{path}: {answer}");
        assert!(!words.contains("root:") && !words.contains("[package]"), "{path}: {words}");
    }
}
