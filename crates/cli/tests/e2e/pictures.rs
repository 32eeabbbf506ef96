//! Charts in the terminal, and the card.

use crate::lab::Lab;
use kurabe_chart::DRAWS_PNG;

fn a_run(lab: &Lab, set: &str) -> String {
    let words =
        ["run", "model:ideal-ram-disk", "--profile", "quick", "--time", "5ms", "--runs", "3", "--set", set];
    lab.kurabe(&words).ok();
    lab.list().last().and_then(|run| run["id"].as_str()).expect("a run").to_owned()
}

#[test]
fn a_run_is_drawn_in_the_terminal_and_a_wrong_name_tells_the_right_ones() {
    let lab = Lab::new();
    let id = a_run(&lab, "memory.access=1us");
    let page = lab.kurabe(&["show", &id, "--chart"]).ok().out;
    for words in ["Throughput", "█", "Latency percentiles", "Where the time went", "computed by a model"] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let one = lab.kurabe(&["show", &id, "--chart", "time-account", "--lang", "ja"]).ok().out;
    assert!(one.starts_with("時間の内訳") && !one.contains("パーセンタイル"), "{one}");
    lab.kurabe(&["show", &id, "--chart", "time-acount"]).is_refusal(2, &["`time-account`", "rates, "]);
    lab.kurabe(&["show", &id, "--chart", "positions"]).is_refusal(2, &["no data", "rates, "]);
}

#[test]
fn two_runs_have_a_forest_plot() {
    let lab = Lab::new();
    let [slow, fast] = ["memory.access=2us", "memory.access=1us"].map(|set| a_run(&lab, set));
    let page = lab.kurabe(&["compare", &slow, &fast, "--chart"]).ok().out;
    assert!(
        page.starts_with("memory.access = 1us against memory.access = 2us") && page.contains('●'),
        "{page}"
    );
    assert!(page.contains("56 % faster"), "{page}");
}

#[test]
fn a_card_is_a_picture_of_its_own_size_and_overwrites_nothing() {
    let lab = Lab::new();
    let id = a_run(&lab, "memory.access=1us");
    let file = |name: &str| lab.target().join(name).display().to_string();
    let (png, svg) = (file("card.png"), file("card.svg"));
    if DRAWS_PNG {
        lab.kurabe(&["card", &id, "-o", &png]).ok();
        let bytes = std::fs::read(&png).expect("a file");
        assert_eq!(bytes[..8], *b"\x89PNG\r\n\x1a\n");
        // Width and height are in the first chunk (PNG specification, 11.2.1).
        assert_eq!(bytes[16..24], [0, 0, 4, 176, 0, 0, 2, 163], "1200 × 675");
    }
    lab.kurabe(&["card", &id, "-o", &svg]).ok();
    let bytes = std::fs::read(&svg).expect("a file");
    lab.kurabe(&["card", &id, "-o", &svg]).is_refusal(6, &["--force"]);
    lab.kurabe(&["card", &id, "-o", &svg, "--force", "--theme", "dark"]).ok();
    assert_ne!(std::fs::read(&svg).expect("a file"), bytes);
    lab.kurabe(&["card", &id, "-o", &svg, "--force", "--lang", "ja"]).ok();
    let drawn = std::fs::read_to_string(&svg).expect("a file");
    assert!(drawn.contains("モデルの計算値") && drawn.contains(&format!("測定 {id}")), "{drawn}");
    lab.kurabe(&["card", &id, "-o", &file("card.jpg")]).is_refusal(2, &[".png"]);
    lab.kurabe(&["card", "zzz"]).is_refusal(12, &[]);
}
