//! Laws for any request: the response is not a server error, nothing panics, and the next request
//! is served.

use crate::client::{Request, Served};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::sync::Once;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of panics in threads of the page.
static PANICS: AtomicUsize = AtomicUsize::new(0);

/// Counts panics in the threads of a page, which are identified by their names, but not in the
/// test's own thread.
fn count_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let thread = std::thread::current();
            if matches!(thread.name(), Some("page" | "page-aside" | "measuring" | "tokio-rt-worker")) {
                PANICS.fetch_add(1, Ordering::SeqCst);
            }
            usual(panic);
        }));
    });
}

/// A page, and a browser with a session.
struct Page {
    served: Served,
    cookie: String,
}

impl Page {
    fn new() -> Self {
        count_panics();
        let served = Served::new();
        let cookie = served.enter(served.word());
        Self { served, cookie }
    }

    fn get(&self, target: &str) -> Request {
        self.served.get(target).with("Cookie", &self.cookie)
    }

    fn post(&self, target: &str, body: Vec<u8>) -> Request {
        Request { body, ..self.served.post(target, "").with("Cookie", &self.cookie) }
    }

    /// Checks that the response is not a server error, and that nothing panicked.
    fn holds(&self, request: &Request) -> Result<(), TestCaseError> {
        let answer = self.served.send(request);
        prop_assert!((200..=499).contains(&answer.status), "{:?}: {:?}", request, answer);
        prop_assert_eq!(PANICS.load(Ordering::SeqCst), 0);
        Ok(())
    }
}

/// Percent-encodes bytes for an address.
fn encoded(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("%{byte:02X}")).collect()
}

fn any_piece() -> impl Strategy<Value = String> {
    let bytes = prop::collection::vec(any::<u8>(), 0..24).prop_map(|bytes| encoded(&bytes));
    let words = prop::sample::select(vec![
        "samsung-870-evo",
        "..",
        "lang",
        "ja",
        "card.png",
        "text",
        "device.toml",
        "figures",
        "new",
    ]);
    prop_oneof![bytes, "[!$-.0-9:;=@-Z_a-z~]{0,24}", words.prop_map(str::to_owned)]
}

/// Generates addresses that exist or nearly exist. No study is included, because computing it takes
/// long.
fn any_target() -> impl Strategy<Value = String> {
    let roots = prop::sample::select(vec![
        "",
        "/runs",
        "/models",
        "/assets",
        "/choose",
        "/compare",
        "/catalogue",
        "/session",
        "/events2",
    ]);
    let query = prop::collection::vec(
        (
            prop::sample::select(vec![
                "q", "page", "run", "use", "of", "share0", "back", "lang", "theme", "x",
            ]),
            any_piece(),
        ),
        0..4,
    );
    (roots, prop::collection::vec(any_piece(), 0..4), query).prop_map(|(root, pieces, query)| {
        let path: String =
            std::iter::once(root.to_owned()).chain(pieces.iter().map(|piece| format!("/{piece}"))).collect();
        let query: Vec<String> = query.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let path = if path.is_empty() { "/".to_owned() } else { path };
        if query.is_empty() { path } else { format!("{path}?{}", query.join("&")) }
    })
}

/// Generates bytes that are allowed in a header. Others would end the header or the request.
fn any_value() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop_oneof![0x20..=0x7e_u8, 0x80..=0xff_u8, Just(b'\t')], 0..64)
}

fn any_headers() -> impl Strategy<Value = Vec<(String, Vec<u8>)>> {
    let names = vec![
        "Cookie",
        "Origin",
        "Sec-Fetch-Site",
        "Sec-Fetch-Mode",
        "Accept",
        "Last-Event-ID",
        "Range",
        "X-Any",
    ];
    prop::collection::vec((prop::sample::select(names).prop_map(str::to_owned), any_value()), 0..5)
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["model:samsung-870-evo", "quick", "gnome-disks", "16MiB", "1", "", "1 s"])
            .prop_map(Value::from),
    ];
    let keys = prop::sample::select(vec![
        "target", "profile", "size", "runs", "time", "only", "sets", "name", "word", "x",
    ]);
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..6).prop_map(|pairs| Value::Object(
                pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
            )),
        ]
    })
}

fn cases() -> ProptestConfig {
    ProptestConfig { source_file: Some(file!()), ..ProptestConfig::with_cases(256) }
}

#[test]
fn any_address_is_answered() {
    let page = Page::new();
    proptest!(cases(), |(target in any_target(), method in prop::sample::select(vec!["GET", "HEAD"]))| {
        page.holds(&page.get(&target).by(method))?;
    });
}

#[test]
fn any_headers_are_answered() {
    let page = Page::new();
    proptest!(cases(), |(headers in any_headers(), target in any_target(), is_in in any::<bool>())| {
        let mut request = if is_in { page.get(&target) } else { page.served.get(&target) };
        request.headers.extend(headers);
        page.holds(&request)?;
    });
}

#[test]
fn any_body_is_answered() {
    const TARGETS: [&str; 6] = [
        "/plan",
        "/session",
        "/stop",
        "/models/samsung-870-evo/figures",
        "/models/x/figures",
        "/runs/x/label",
    ];
    let page = Page::new();
    let json = any_json().prop_map(|json| json.to_string().into_bytes());
    let body = prop_oneof![json, prop::collection::vec(any::<u8>(), 0..200)];
    proptest!(cases(), |(body in body, target in prop::sample::select(&TARGETS[..]))| {
        page.holds(&page.post(target, body))?;
    });
}

#[test]
fn any_form_is_answered() {
    let page = Page::new();
    let or_usual = |usual: &'static str, other: &'static str| {
        prop_oneof![Just(usual.to_owned()), other.prop_map(|word: String| word)]
    };
    let form = (
        or_usual("model:samsung-870-evo", ".{0,20}"),
        or_usual("quick", ".{0,12}"),
        or_usual("", "[0-9.e-]{1,12} ?[kMGTi]{0,3}B?"),
        or_usual("", "-?[0-9]{1,20}"),
        or_usual("", "[0-9.]{1,9} ?(s|ms|min|h)"),
    );
    proptest!(cases(), |((target, profile, size, runs, time) in form)| {
        let form = json!({ "target": target, "profile": profile, "size": size, "runs": runs, "time": time });
        page.holds(&page.post("/plan", form.to_string().into_bytes()))?;
    });
}

#[test]
fn any_bytes_leave_the_page_as_it_was() {
    let page = Page::new();
    proptest!(cases(), |(bytes in prop::collection::vec(any::<u8>(), 0..400))| {
        let mut stream = page.served.connect();
        // The connection may be closed before everything is sent.
        let _ = stream.write_all(&[b"GET /".as_slice(), &bytes, b"\r\n\r\n"].concat());
        page.holds(&page.get("/choose/lang/ja"))?;
    });
}
