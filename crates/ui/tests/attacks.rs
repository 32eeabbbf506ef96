//! Attacks by other pages, programs and users. Each is a valid request with one flaw. None may
//! succeed or have an effect, and the page remains available to the browser with a session.

use crate::client::{Request, Served};

/// A form that would start a run.
const RUN: &str = r#"{"target":"model:samsung-870-evo","profile":"quick"}"#;

/// A page, and a browser with a session.
pub struct Attacked {
    pub page: Served,
    cookie: String,
}

impl Attacked {
    pub fn new() -> Self {
        let page = Served::new();
        let cookie = page.enter(page.word());
        Self { page, cookie }
    }

    pub fn get(&self, target: &str) -> Request {
        self.page.get(target).with("Cookie", &self.cookie)
    }

    pub fn post(&self, target: &str, body: &str) -> Request {
        self.page.post(target, body).with("Cookie", &self.cookie)
    }

    /// Adds the cookie of a reader who chose Japanese.
    pub fn japanese(&self, mut request: Request) -> Request {
        for (name, value) in &mut request.headers {
            if name == "Cookie" {
                value.extend(b"; kurabe-lang=ja");
            }
        }
        request
    }

    /// Checks that each request is rejected with one of the given statuses.
    fn are_refused(&self, statuses: &[u16], requests: &[Request]) {
        let mut wrong = Vec::new();
        for request in requests {
            let answer = self.page.send(request);
            let is_refused = statuses.contains(&answer.status) && answer.header("set-cookie").is_none();
            if !is_refused || answer.body.contains("root:") {
                wrong.push(format!("{request:?}\n{answer:?}"));
            }
        }
        assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), requests.len(), wrong.join("\n\n"));
    }

    /// Checks that the page is still available to the browser with a session, and that nothing was
    /// measured.
    fn goes_on(&self) {
        let answer = self.page.send(&self.get("/runs"));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.body.contains("No run is stored yet"), "{answer:?}");
    }
}

#[test]
fn what_is_right_is_served() {
    let attacked = Attacked::new();
    let Served { port, .. } = attacked.page;
    for host in ["127.0.0.1", "localhost", "LocalHost", "[::1]"].map(|name| format!("{name}:{port}")) {
        assert_eq!(attacked.page.send(&attacked.get("/runs").but("Host", &host)).status, 200);
        let origin = format!("http://{host}");
        let post = attacked.post("/plan", RUN).but("Host", &host).but("Origin", &origin);
        assert_eq!(attacked.page.send(&post).status, 200);
    }
    let by_hand = attacked.get("/runs").with("Sec-Fetch-Site", "none").with("Sec-Fetch-Mode", "navigate");
    assert_eq!(attacked.page.send(&by_hand).status, 200);
    let absolute = attacked.get(&format!("http://127.0.0.1:{port}/runs"));
    assert_eq!(attacked.page.send(&absolute).status, 200);
    let head = attacked.page.send(&attacked.get("/runs").by("HEAD"));
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(attacked.page.send(&attacked.post("/measure", RUN)).status, 200);
}

#[test]
fn the_next_run_begins_as_soon_as_the_board_shows_the_end() {
    let attacked = Attacked::new();
    for _ in 0..20 {
        let answer = attacked.page.send(&attacked.post("/measure", RUN));
        assert_eq!(answer.status, 200, "{answer:?}");
        while !attacked.page.send(&attacked.get("/board")).body.contains("class=\"after\"") {}
    }
}

#[test]
fn another_host_is_refused() {
    let attacked = Attacked::new();
    let Served { port, .. } = attacked.page;
    let hosts = [
        format!("evil.example:{port}"),
        "evil.example".to_owned(),
        "127.0.0.1".to_owned(),
        "localhost".to_owned(),
        format!("127.0.0.1:{}", port ^ 1),
        "127.0.0.1:80".to_owned(),
        format!("localhost.evil.example:{port}"),
        format!("evil.localhost:{port}"),
        format!("127.0.0.1.evil.example:{port}"),
        format!("127.1:{port}"),
        format!("0.0.0.0:{port}"),
        format!("2130706433:{port}"),
        format!("[::ffff:127.0.0.1]:{port}"),
        format!("user@127.0.0.1:{port}"),
        format!("127.0.0.1:{port}, evil.example:{port}"),
        format!("127.0.0.1:{port}/"),
        format!("127.0.0.1:0{port}"),
        String::new(),
    ];
    let mut requests: Vec<Request> =
        hosts.iter().map(|host| attacked.get("/runs").but("Host", host)).collect();
    // A page whose name was rebound to this machine has its own origin.
    requests.extend(hosts.iter().map(|host| {
        attacked.post("/measure", RUN).but("Host", host).but("Origin", &format!("http://{host}"))
    }));
    requests.extend([
        attacked.get("/runs").without("Host"),
        attacked.get("/runs").with("Host", &attacked.page.host()),
        attacked.get("/runs").with("Host", "evil.example"),
        attacked.get(&format!("http://evil.example:{port}/runs")),
        attacked.get(&format!("http://evil.example@127.0.0.1:{port}/runs")),
        attacked.get(&format!("http://127.0.0.1:{port}/runs")).but("Host", "evil.example"),
    ]);
    attacked.are_refused(&[421], &requests);
    attacked.goes_on();
}

#[test]
fn another_page_is_refused() {
    let attacked = Attacked::new();
    let Served { port, .. } = attacked.page;
    let origins = [
        "null".to_owned(),
        "http://evil.example".to_owned(),
        format!("https://127.0.0.1:{port}"),
        format!("http://127.0.0.1:{}", port ^ 1),
        "http://127.0.0.1".to_owned(),
        // Another name of this machine is another origin.
        format!("http://localhost:{port}"),
        format!("http://127.0.0.1:{port}.evil.example"),
        format!("http://127.0.0.1:{port}/"),
        format!("http://127.0.0.1:{port} http://evil.example"),
        "http://127.0.0.1:\u{1f980}".to_owned(),
        String::new(),
    ];
    let mut requests: Vec<Request> =
        origins.iter().map(|origin| attacked.post("/measure", RUN).but("Origin", origin)).collect();
    requests.extend(origins.iter().map(|origin| attacked.get("/runs").with("Origin", origin)));
    requests.extend([
        attacked.post("/measure", RUN).without("Origin"),
        attacked.post("/stop", "{}").without("Origin"),
        attacked.post("/measure", RUN).with("Origin", "http://evil.example"),
    ]);
    for site in ["cross-site", "same-site", "", "none, same-origin", "SAME-ORIGIN"] {
        requests.push(attacked.get("/runs").with("Sec-Fetch-Site", site));
        requests.push(attacked.post("/measure", RUN).with("Sec-Fetch-Site", site));
    }
    // A link from another page may lead only to the first page.
    let link = |request: Request, destination: &str| {
        let request = request.with("Sec-Fetch-Site", "cross-site").with("Sec-Fetch-Mode", "navigate");
        request.with("Sec-Fetch-Dest", destination)
    };
    requests.extend([
        link(attacked.get("/runs"), "document"),
        link(attacked.get("/choose/lang/ja"), "document"),
        link(attacked.get("/"), "iframe"),
        link(attacked.post("/", "{}"), "document"),
        attacked.get("/").with("Sec-Fetch-Site", "cross-site").with("Sec-Fetch-Mode", "no-cors"),
        attacked.get("/runs").with("Sec-Fetch-Site", "same-origin").with("Sec-Fetch-Site", "none"),
    ]);
    attacked.are_refused(&[403], &requests);
    // The response is the sign-in page, although the cookie is valid.
    attacked.are_refused(&[401], &[link(attacked.get("/"), "document")]);
    attacked.goes_on();
}

#[test]
fn another_kind_of_body_is_refused() {
    let attacked = Attacked::new();
    let kinds = [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain; application/json",
        "application/jsonx",
        "application",
        "",
    ];
    let spoilt = |kind: &&str| attacked.post("/measure", RUN).but("Content-Type", kind);
    let mut requests: Vec<Request> = kinds.iter().map(spoilt).collect();
    requests.push(attacked.post("/measure", RUN).without("Content-Type"));
    requests.push(attacked.post("/stop", "word=1").but("Content-Type", "application/x-www-form-urlencoded"));
    requests.push(attacked.post("/session", "word=1").but("Content-Type", "text/plain"));
    attacked.are_refused(&[415], &requests);
    attacked.goes_on();
}

#[test]
fn who_was_not_let_in_is_refused() {
    let attacked = Attacked::new();
    let (name, word) = attacked.cookie.split_once('=').expect("a pair");
    let used = attacked.page.word();
    let cookies = [
        format!("{name}="),
        format!("{name}={}", "0".repeat(64)),
        format!("{name}={}", &word[1..]),
        format!("{name}={word}0"),
        format!("{name}={}", word.to_uppercase()),
        format!("{name}={used}"),
        format!("kurabe={word}"),
        format!("{}={word}", name.to_uppercase()),
        word.to_owned(),
    ];
    // If the cookie has no letters, it is the same in upper case.
    let cookies = cookies.iter().filter(|cookie| **cookie != attacked.cookie);
    let without = |request: Request| request.without("Cookie");
    let mut requests: Vec<Request> =
        cookies.map(|cookie| attacked.get("/runs").but("Cookie", cookie)).collect();
    for target in
        ["/", "/runs", "/board", "/events", "/models", "/choose/lang/ja", "/nowhere", "/session", "/assets"]
    {
        requests.push(without(attacked.get(target)));
        requests.push(without(attacked.get(target)).by("HEAD"));
    }
    for target in ["/measure", "/plan", "/stop", "/runs/x/label", "/assetsx"] {
        requests.push(without(attacked.post(target, RUN)));
    }
    requests.push(
        without(attacked.get(&format!("/runs?word={word}"))).with("Authorization", &format!("token {word}")),
    );
    attacked.are_refused(&[401], &requests);
    attacked.goes_on();
}

#[test]
fn a_word_lets_in_once() {
    let attacked = Attacked::new();
    let used = attacked.page.word();
    let bodies = [
        format!(r#"{{"word":"{used}"}}"#),
        format!(r#"{{"word":["{used}"]}}"#),
        r#"{"word":""}"#.to_owned(),
        r#"{"word":null}"#.to_owned(),
        format!(r#"{{"word":"{}"}}"#, "0".repeat(64)),
        "{}".to_owned(),
        "[]".to_owned(),
        String::new(),
        "[".repeat(1_000),
    ];
    let requests: Vec<Request> = bodies.iter().map(|body| attacked.page.post("/session", body)).collect();
    attacked.are_refused(&[409], &requests);
    let form = |body: &str| {
        attacked.page.post("/session", body).but("Content-Type", "application/x-www-form-urlencoded")
    };
    attacked.are_refused(&[409], &[form(&format!("word={used}")), form("word="), form("")]);
    attacked.goes_on();
}

#[test]
fn other_methods_are_refused() {
    let attacked = Attacked::new();
    let Served { port, .. } = attacked.page;
    let own = |request: Request| request.with("Sec-Fetch-Site", "same-origin");
    let methods = ["PUT", "DELETE", "OPTIONS", "TRACE", "PATCH", "PROPFIND", "BREW", "get"];
    let mut requests: Vec<Request> =
        methods.iter().map(|method| own(attacked.post("/measure", RUN)).by(method)).collect();
    requests.push(attacked.get(&format!("127.0.0.1:{port}")).by("CONNECT"));
    requests.push(attacked.get("/measure"));
    requests.push(attacked.post("/runs", RUN));
    requests.push(attacked.post("/events", RUN));
    attacked.are_refused(&[405], &requests);
    attacked.are_refused(&[421], &[attacked.get("evil.example:443").by("CONNECT")]);
    let preflight = attacked.get("/measure").by("OPTIONS").with("Origin", "http://evil.example");
    let answer = attacked.page.send(&preflight.with("Access-Control-Request-Method", "POST"));
    assert_eq!(answer.status, 403);
    assert_eq!(answer.header("access-control-allow-origin"), None);
    attacked.goes_on();
}

#[test]
fn no_address_leads_to_a_file() {
    let attacked = Attacked::new();
    let up = ["..", "%2e%2e", ".%2e", "%252e%252e", "..%00", "%c0%ae%c0%ae"];
    let folders = ["", "/runs", "/models", "/studies", "/catalogue", "/assets", "/choose"];
    let mut requests = Vec::new();
    for folder in folders {
        for step in up {
            requests.push(attacked.get(&format!("{folder}/{step}/{step}/{step}/{step}/{step}/etc/passwd")));
            let encoded = format!("{step}%2f").repeat(6);
            requests.push(attacked.get(&format!("{folder}/{encoded}etc%2fpasswd")));
        }
        requests.push(attacked.get(&format!("{folder}/%2fetc%2fpasswd")));
        requests.push(attacked.get(&format!("{folder}//etc/passwd")));
        requests.push(attacked.get(&format!("{folder}/..%5c..%5cetc%5cpasswd")));
        requests.push(attacked.get(&format!("{folder}/%00")));
        requests.push(attacked.get(&format!("{folder}/%ff%fe")));
    }
    for kind in ["card.png", "text", "report.html", "record.json", "device.toml"] {
        requests.push(attacked.get(&format!("/runs/..%2f..%2fetc%2fpasswd/{kind}")));
        requests.push(attacked.get(&format!("/models/%2fetc%2fpasswd/{kind}")));
    }
    requests.push(attacked.get("/compare?run=/etc/passwd&run=../../etc/passwd"));
    requests.push(attacked.get("/compare?run=../a&run=../b&use=../../etc/passwd"));
    requests.push(attacked.get("/runs?page=-1"));
    requests.push(attacked.get("/runs?page=99999999999999999999999"));
    requests.push(attacked.get("/events?from=x"));
    attacked.are_refused(&[400, 404], &requests);
    attacked.goes_on();
}

/// Writes a valid profile and a valid model outside of kurabe's own files.
fn data_files(page: &Served) -> [String; 2] {
    let folders =
        [("profiles/quick.toml", "mine-profile.toml"), ("devices/ideal-ram-disk.toml", "mine-model.toml")];
    folders.map(|(own, name)| {
        let path = page.folder().join(name);
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");
        std::fs::copy(format!("{root}{own}"), &path).expect("a copy");
        path.to_str().expect("a path").to_owned()
    })
}

#[test]
fn no_file_is_read_because_a_body_names_it() {
    let attacked = Attacked::new();
    let [profile, model] = data_files(&attacked.page);
    let form =
        |target: &str, profile: &str| serde_json::json!({ "target": target, "profile": profile }).to_string();
    let own = "model:samsung-870-evo";
    let mut forms: Vec<String> =
        ["/etc/passwd", "../../etc/passwd", "./x.toml", "~/x.toml", &profile, "-", "quick\0"]
            .iter()
            .map(|profile| form(own, profile))
            .collect();
    // A fio job can name files, and a target can have another one next to it.
    for line in [
        "read_iolog=/etc/passwd",
        "include /etc/passwd",
        "include=/etc/passwd",
        "rw=read\ninclude /etc/passwd",
    ] {
        forms.push(serde_json::json!({ "target": own, "job": format!("[a]\n{line}\n") }).to_string());
    }
    forms.push(
        serde_json::json!({ "target": own, "against": format!("model:{model}"), "profile": "quick" })
            .to_string(),
    );
    let targets = [
        "model:/etc/passwd".to_owned(),
        "model:./x.toml".to_owned(),
        format!("model:{model}"),
        "model:".to_owned(),
    ];
    forms.extend(targets.iter().map(|target| form(target, "quick")));
    // Files of devices and profiles are not accepted either.
    forms.extend([
        form(&profile, "quick"),
        form(&model, "quick"),
        form("", "quick"),
        form("/tmp\0", "quick"),
    ]);
    let mut requests: Vec<Request> = Vec::new();
    for form in &forms {
        requests.extend(["/measure", "/plan"].map(|target| attacked.post(target, form)));
    }
    let encoded = model.replace('/', "%2f");
    for name in ["%2fetc%2fpasswd", ".%2fx.toml", &encoded] {
        requests.push(attacked.post(&format!("/models/{name}/figures"), "{}"));
        requests.push(attacked.get(&format!("/models/{name}")));
        requests.push(attacked.get(&format!("/models/{name}/device.toml")));
    }
    for profile in ["/etc/passwd", &profile] {
        let body = serde_json::json!({ "profile": profile }).to_string();
        requests.push(attacked.post("/models/samsung-870-evo/figures", &body));
    }
    attacked.are_refused(&[400, 404], &requests);
    attacked.goes_on();
}

#[test]
fn bodies_that_are_none_are_refused() {
    let attacked = Attacked::new();
    let deep = "[".repeat(50_000);
    let bodies = [
        "",
        "{",
        "null",
        "[]",
        "\"quick\"",
        "{\"target\":1}",
        "{\"target\":{}}",
        "{\"targett\":\"/tmp\"}",
        "{\"target\":\"/tmp\",\"destroy\":true}",
        "{\"target\":\"/tmp\",\"target\":\"/etc\"}",
        "\u{0}",
        &deep,
    ];
    let mut requests = Vec::new();
    for body in bodies {
        requests.push(attacked.post("/measure", body));
        requests.push(attacked.post("/plan", body));
    }
    for body in [
        "",
        "{",
        "{\"profile\":1}",
        "{\"sets\":{}}",
        "{\"sets\":[[1,2]]}",
        "{\"file\":\"/etc/passwd\"}",
        &deep,
    ] {
        requests.push(attacked.post("/models/samsung-870-evo/figures", body));
    }
    for body in ["{}", "{\"name\":1}", "{\"name\":null}", &deep] {
        requests.push(attacked.post("/runs/x/label", body));
    }
    attacked.are_refused(&[400, 415, 422], &requests);
    let large = format!("{{\"target\":\"{}\"}}", "x".repeat(1 << 20));
    let requests = ["/measure", "/plan", "/session", "/models/samsung-870-evo/figures"]
        .map(|target| attacked.post(target, &large));
    attacked.are_refused(&[413], &requests);
    attacked.goes_on();
}

#[test]
fn numbers_that_are_none_are_refused() {
    let attacked = Attacked::new();
    let mut requests = Vec::new();
    for (field, value) in [
        ("size", "-1"),
        ("size", "1e999"),
        ("size", "0"),
        ("size", "99999999999999999999GiB"),
        ("size", "\u{ff11}GiB"),
        ("runs", "0"),
        ("runs", "-1"),
        ("runs", "4294967296"),
        ("runs", "x"),
        ("time", "0"),
        ("time", "-1s"),
        ("time", "1e999s"),
        ("only", "no such step"),
        ("profile", "no-such"),
    ] {
        let mut form = serde_json::json!({ "target": attacked.page.folder(), "profile": "quick" });
        form[field] = value.into();
        requests.extend(["/measure", "/plan"].map(|target| attacked.post(target, &form.to_string())));
    }
    let sets = |parameter: &str, value: &str| serde_json::json!({ "sets": [[parameter, value]] }).to_string();
    for (parameter, value) in
        [("x.y", "1"), ("", ""), ("link", "1"), ("link.rate", "-1"), ("link.rate", "NaN"), ("\n", "\r\n")]
    {
        requests.push(attacked.post("/models/samsung-870-evo/figures", &sets(parameter, value)));
    }
    attacked.are_refused(&[400], &requests);
    attacked.goes_on();
}

#[test]
fn no_header_is_made_of_an_address() {
    let attacked = Attacked::new();
    for back in [
        "%0d%0aSet-Cookie:%20a=b",
        "%2f%2fevil.example",
        "https:%2f%2fevil.example",
        "%2f%5cevil.example",
        "%2f%0d%0a%0d%0a",
    ] {
        let answer = attacked.page.send(&attacked.get(&format!("/choose/lang/ja?back={back}")));
        assert_eq!((answer.status, answer.header("location")), (303, Some("/")), "{back}: {answer:?}");
        let cookies = answer.headers.iter().filter(|(name, _)| name == "set-cookie").count();
        assert_eq!(cookies, 1, "{answer:?}");
    }
    for id in ["%0d%0aSet-Cookie:%20a=b", "a%22%0d%0aX:%20y", "%22;filename=x.exe"] {
        for kind in ["record.json", "report.html", "text", "card.png"] {
            let answer = attacked.page.send(&attacked.get(&format!("/runs/{id}/{kind}")));
            assert_eq!((answer.status, answer.header("set-cookie")), (404, None), "{answer:?}");
        }
    }
    attacked.goes_on();
}

#[test]
fn words_of_an_address_are_no_markup() {
    let attacked = Attacked::new();
    let script = "%3Cscript%3Ealert(1)%3C/script%3E";
    let quoted = "%22%3E%3Cimg%20src=x%20onerror=alert(1)%3E";
    for words in [script, quoted] {
        for target in [
            "/runs?q=",
            "/catalogue?q=",
            "/runs/",
            "/models/",
            "/studies/",
            "/",
            "/compare?run=",
            "/choose/lang/",
        ] {
            let answer = attacked.page.send(&attacked.get(&format!("{target}{words}")));
            assert!(answer.status < 500, "{answer:?}");
            let body = &answer.body;
            let is_page = answer.header("content-type").is_some_and(|kind| kind.starts_with("text/html"));
            assert!(
                !is_page || !(body.contains("<script>") || body.contains("<img src=x")),
                "{target}: {body}"
            );
        }
    }
    attacked.goes_on();
}
