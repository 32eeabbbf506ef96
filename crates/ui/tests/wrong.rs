//! The page explains errors in the reader's language, whichever part of the server detects them.

use crate::attacks::Attacked;
use crate::client::Request;

fn is_told(attacked: &Attacked, request: Request, status: u16, english: &str, japanese: &str) {
    for (request, words) in [(request.clone(), english), (attacked.japanese(request), japanese)] {
        let answer = attacked.page.send(&request);
        assert_eq!(answer.status, status, "{request:?}\n{answer:?}");
        let kind = if request.method == "POST" { "application/json" } else { "text/html" };
        assert!(answer.header("content-type").is_some_and(|own| own.starts_with(kind)), "{answer:?}");
        assert!(answer.body.contains(words), "{request:?} is told {words}:\n{answer:?}");
        // The remedy.
        let remedy = if request.method == "POST" { "\"remedy\":\"" } else { "class=\"notice\"" };
        assert!(answer.body.contains(remedy), "{answer:?}");
    }
}

#[test]
fn what_no_page_takes_is_told_by_a_page() {
    let attacked = Attacked::new();
    let held = |request, status, english, japanese| is_told(&attacked, request, status, english, japanese);
    let unknown = ("contains something that this page does not know", "このページが知らない内容");
    for path in ["/runs?page=-1", "/runs?page=x", "/events?from=x", "/runs/%ff%fe", "/matrix?by=a&by=b"] {
        held(attacked.get(path), 400, unknown.0, unknown.1);
    }
    for body in ["{\"targett\":1}", "{\"target\":1}"] {
        held(attacked.post("/plan", body), 422, unknown.0, unknown.1);
    }
    held(attacked.post("/plan", "{"), 400, unknown.0, unknown.1);
    let nowhere = ("this page does not exist", "このページはありません");
    for path in ["/nowhere", "/assets/nothing.js", "/choose/lang/xx", "/runs/a/b"] {
        held(attacked.get(path), 404, nowhere.0, nowhere.1);
    }
    held(attacked.post("/nowhere", "{}"), 404, nowhere.0, nowhere.1);
    let way = ("does not support this request", "この方法では使えません");
    held(attacked.get("/measure"), 405, way.0, way.1);
    held(attacked.post("/runs", "{}"), 405, way.0, way.1);
    let allowed = attacked.page.send(&attacked.get("/measure"));
    assert_eq!(allowed.header("allow"), Some("POST"), "{allowed:?}");
    let large = format!("{{\"target\":\"{}\"}}", "x".repeat(1 << 20));
    held(attacked.post("/plan", &large), 413, "larger than any form", "上限を超えています");
}

#[test]
fn who_is_not_let_in_is_told_so() {
    let attacked = Attacked::new();
    let held = |request, status, english, japanese| is_told(&attacked, request, status, english, japanese);
    let foreign = attacked.get("/runs").but("Host", "evil.example");
    held(foreign, 421, "only at its own address", "自分のアドレスにだけ応答");
    let other = attacked.post("/plan", "{}").but("Origin", "http://evil.example");
    held(other, 403, "from another page", "ほかのページからの要求");
    held(
        attacked.post("/plan", "{}").but("Content-Type", "text/plain"),
        415,
        "must be JSON",
        "JSON でなければ",
    );
    held(attacked.get("/runs").by("PUT"), 405, "does not support this request", "この方法では使えません");
}

#[test]
fn what_to_do_is_told_in_words_of_the_page() {
    let attacked = Attacked::new();
    let body = |path: &str| attacked.page.send(&attacked.get(path)).body;
    let run = body("/runs/zzzz");
    assert!(run.contains("href=\"/runs\">Go there") && !run.contains("kurabe list"), "{run}");
    let text = body("/runs/zzzz/text");
    assert!(text.contains("href=\"/runs\">Go there"), "{text}");
    let model = body("/models/samsung-870-evoo");
    assert!(model.contains("samsung-870-evo`") && !model.contains("kurabe models"), "{model}");
    let models = body("/models/compare?model=samsung-870-evoo&model=hua722020-usb");
    assert!(models.contains("samsung-870-evo`"), "{models}");
    assert!(body("/models/compare?model=hua722020-usb").contains("two to 50 are compared"));
    assert_eq!(
        attacked
            .page
            .send(
                &attacked
                    .post("/measure", r#"{"target":"model:ideal-ram-disk","profile":"quick","runs":"1"}"#)
            )
            .status,
        200
    );
    crate::client::wait_until("the run is over", || body("/board").contains("class=\"after\""));
    let both = attacked.post("/plan", r#"{"target":"/tmp","against":"/","vary":[["bs","4k,8k"]]}"#);
    let both = attacked.page.send(&both).body;
    assert!(both.contains("remove the list of other settings") && !both.contains("--vary"), "{both}");
    let matrix = body("/matrix?by=target&baseline=nothing");
    assert!(matrix.contains("against nothing") && !matrix.contains("--baseline"), "{matrix}");
}
