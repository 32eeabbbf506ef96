//! Rendering of studies and of the catalogue: the output fits the width in both languages, and
//! gives the status of each figure.

use kurabe_core::record::{Notice, NoticeKind};
use kurabe_core::{Lang, Text, text};
use kurabe_explain::{CellLimit, Limit, LimitKind, Strength};
use kurabe_report::*;
use kurabe_study::catalogue::Catalogue;
use kurabe_study::{
    Agreement, Answer, ArticleView, Best, Caveat, CellResult, Choice, ColumnResult, Deciding, Grounds,
    OfPublished, PartHead, PartResult, Published, QuestionHead, QuestionResult, RankedChoice, ReasonView,
    RestsOn, RowResult, STUDIES, Status, StudyAxis, StudyHead, StudyResult, Swap, WhyRun, study_named,
};

fn cell(value: f64, published: Option<f64>) -> CellResult {
    let published = published.map(Published::exact);
    CellResult {
        range: None,
        value: Some(value),
        plus_minus: None,
        repeated: Vec::new(),
        published,
        error_percent: published.and_then(|published| published.error_percent(value)),
        status: Status::Calibrated,
        reason: Some(text!("the time of a byte was chosen for it", "1 バイトの時間をこの値に合わせました")),
        anomaly: None,
        unreachable: None,
    }
}

pub fn part(axis: &[&str], published: Option<f64>) -> PartResult {
    let values: Vec<String> = axis.iter().map(|value| (*value).to_owned()).collect();
    let row = |place: usize| RowResult {
        id: Some(place.to_string()),
        label: text!("a disk emulator with a long name", "名前の長いディスクエミュレーター"),
        model: Some("a".to_owned()),
        sets: Vec::new(),
        over: None,
        changed: false,
        values: values.get(place).cloned().into_iter().collect(),
        path: None,
        run: None,
        notices: Vec::new(),
        error: None,
        cells: (0..6).map(|column| cell(1000.0 * (place + column + 1) as f64, published)).collect(),
    };
    let column = |place: usize| ColumnResult {
        key: place.to_string(),
        name: text!("random read {place}", "ランダム読み出し {place}"),
        unit: "kB/s".to_owned(),
        decimals: 1,
        curve: false,
        less_is_better: false,
    };
    PartResult {
        head: PartHead {
            id: "part".to_owned(),
            title: text!("a table", "表"),
            note: None,
            catalogue: None,
            axes: if axis.is_empty() {
                Vec::new()
            } else {
                vec![StudyAxis { parameter: "raid.strip".to_owned(), values: values.clone() }]
            },
            devices_across: false,
        },
        profile: "cdm-2".to_owned(),
        columns: (0..6).map(column).collect(),
        rows: (0..axis.len().max(1)).map(row).collect(),
        swaps: Vec::new(),
        ties: Vec::new(),
        order: Vec::new(),
    }
}

fn article(agreement: Agreement) -> Option<ArticleView> {
    Some(ArticleView {
        says: text!("the first", "一方がよい"),
        conclusion: None,
        agreement: Some(agreement),
        why: (agreement == Agreement::Differs).then(|| text!("it was old", "古い機器のため")),
    })
}

fn head(id: &str, title: Text) -> QuestionHead {
    QuestionHead { id: id.to_owned(), title }
}

fn untold_verdict() -> QuestionResult {
    QuestionResult {
        head: head("price", text!("Which is cheaper?", "安いのはどちらか")),
        parts: ["part".to_owned()].into(),
        purpose: None,
        grounds: Grounds::default(),
        margin: 0.05,
        answer: None,
        untold: Some(text!("no prices are known", "価格のデータがありません")),
        published: None,
        article: article(Agreement::CannotBeTold),
        interleaved: false,
    }
}

/// Returns a verdict in which the second choice is best, by one of two figures.
pub fn best_verdict() -> QuestionResult {
    let choice = |key: &str, name: Text| Choice { key: key.to_owned(), name, real: false };
    let figure = |name: Text, unit: &str, less_is_better, values: [f64; 2]| Deciding {
        name,
        unit: unit.to_owned(),
        decimals: 1,
        weight: 1.0,
        less_is_better,
        values: values.map(Some).to_vec(),
        published: vec![None; 2],
    };
    let standing = |choice, of_best| RankedChoice { choice, of_best, out: None };
    let best = |first: usize, second: usize, rests_on| {
        let standings = vec![standing(first, 1.0), standing(second, 0.8)];
        Answer::Best(Best { best: vec![first], standings, rests_on, holds: None })
    };
    let grounds = Grounds {
        choices: vec![choice("one", text!("first", "一方")), choice("two", text!("second", "他方"))],
        figures: vec![
            figure(text!("read", "読み出し"), "MB/s", false, [100.0, 200.0]),
            figure(text!("access", "アクセス時間"), "ms", true, [1.0, 1.3]),
        ],
        ..Grounds::default()
    };
    QuestionResult {
        head: head("which", text!("Which is better?", "よいのはどちらか")),
        grounds,
        answer: Some(best(1, 0, vec![RestsOn { figure: 0, instead: vec![0] }])),
        untold: None,
        published: Some(OfPublished { answer: best(0, 1, Vec::new()), agreement: Some(Agreement::Agrees) }),
        article: article(Agreement::Differs),
        ..untold_verdict()
    }
}

#[test]
fn a_verdict_is_read_aloud_in_both_languages() {
    let page = |lang| render_study(&result(), &Style { lang, width: 100, ..Style::default() });
    let (en, ja) = (page(Lang::En), page(Lang::Ja));
    let verdicts = &en[en.find("Verdicts").expect("verdicts")..];
    for words in [
        "second: 25 % faster than first.",
        "read 200.0 : 100.0 MB/s; access 1.3 : 1.0 ms",
        "the answer depends on read; without it, it would be first.",
        "The published figures, decided in the same way: first: 25 % faster than second. They agree with",
        "The article: the first. The figures disagree.",
        "Why: it was old.",
        "The figures cannot decide this: no prices are known.",
        "Of the article's conclusions (2): ✗ differs 1, ? cannot tell 1.",
        "was not run: another.",
    ] {
        assert!(verdicts.contains(words), "{words}: {verdicts}");
    }
    for words in ["他方。一方 より 25 % 速い。", "数値から出した結論は違います。", "理由: 古い機器のため。"]
    {
        assert!(ja.contains(words), "{words}: {ja}");
    }
    let markdown = render_study_markdown(&result(), Lang::En);
    assert!(markdown.contains("### Which is better?\n\nsecond: 25 % faster than first.\n\n- "), "{markdown}");
}

fn reason_verdict(kind: LimitKind, account: bool) -> QuestionResult {
    let is_told = kind != LimitKind::Unknown;
    let evidence =
        if is_told { text!("bytes alone tell", "バイト数で決まる") } else { Text::default() };
    let next = Some(text!("another port", "別のポート"));
    let (strength, sentence) = (Strength::Likely, text!("the bus", "バス"));
    let limit = Limit { kind, strength, sentence, evidence, next };
    let account = account.then(|| Limit {
        kind: LimitKind::Cause,
        strength: Strength::Exact,
        sentence: text!("\"data over the bus\" (scsi)", "「バスのデータ転送」(scsi)"),
        evidence: text!("it takes 97 % of the time", "時間の 97 % を占めます"),
        next: None,
    });
    let outside =
        CellLimit { number: 1, label: "SEQ 1 MiB Q8 T1".to_owned(), part: "read".to_owned(), limit };
    let agreement = if is_told { Agreement::Agrees } else { Agreement::CannotBeTold };
    QuestionResult {
        head: head("why", text!("Why is it slow?", "なぜ遅いのか")),
        answer: Some(Answer::Reason(Box::new(ReasonView { outside, account }))),
        untold: None,
        article: article(agreement),
        ..untold_verdict()
    }
}

#[test]
fn a_reason_is_read_beside_the_models_account() {
    let page = |verdict: QuestionResult, lang| {
        let result = StudyResult { verdicts: vec![verdict], ..result() };
        let page = render_study(&result, &Style { lang, width: 100, ..Style::default() });
        let heading = if lang == Lang::En { "\nVerdicts" } else { "\n判定" };
        page[page.find(heading).expect("verdicts")..].to_owned()
    };
    let pages = [
        page(reason_verdict(LimitKind::Link, true), Lang::En),
        page(reason_verdict(LimitKind::Link, true), Lang::Ja),
        page(reason_verdict(LimitKind::Unknown, false), Lang::En),
        page(reason_verdict(LimitKind::Unknown, false), Lang::Ja),
    ];
    insta::assert_snapshot!(pages.join("\n"));
}

pub fn result() -> StudyResult {
    StudyResult {
        schema: 1,
        head: StudyHead {
            name: "study".to_owned(),
            title: Text::same("a study"),
            source: None,
            note: None,
            why: None,
        },
        seed: 1,
        sets: Vec::new(),
        parts: vec![part(&[], Some(1100.0)), part(&["8 KiB", "64 KiB", "1 MiB"], None)],
        verdicts: vec![best_verdict(), untold_verdict()],
        unasked: vec!["another".to_owned()],
    }
}

#[test]
fn pages_keep_to_the_width_in_both_languages() {
    let catalogue = Catalogue::load().unwrap();
    let studies: Vec<_> = STUDIES.iter().map(|(name, _)| study_named(name, &catalogue).unwrap()).collect();
    let entries: Vec<_> = catalogue.entries().collect();
    for lang in [Lang::En, Lang::Ja] {
        for width in [60, 72, 80, 120] {
            let style = Style { lang, color: false, width };
            let mut pages = vec![render_study(&result(), &style), render_studies(&studies, &style)];
            pages.extend(studies.iter().map(|study| render_study_file(study, &style)));
            pages.extend(entries.iter().map(|entry| render_entry(entry, &style)));
            pages.push(render_catalogue(&catalogue, &[], &style));
            for line in pages.iter().flat_map(|page| page.lines()) {
                assert!(display_width(line) <= width, "{width}: {line}");
                assert_eq!(line.trim_end(), line);
            }
        }
    }
}

#[test]
fn each_figure_says_what_it_is_and_a_sweep_has_its_curve() {
    let page = render_study(&result(), &Style { width: 100, ..Style::default() });
    for words in
        ["published", "1,100.0", "-9.1 %", "calibrated [1]", "[1] the time of a byte", "over raid.strip", "█"]
    {
        assert!(page.contains(words), "{words}: {page}");
    }
    let page = render_study_markdown(&result(), Lang::Ja);
    assert!(page.contains("| 較正 \\[1\\] |") && page.contains("| raid.strip |"), "{page}");
}

#[test]
fn a_figure_that_is_not_there_is_neither_calibrated_nor_measured() {
    let mut result = result();
    for cell in result.parts.iter_mut().flat_map(|part| &mut part.rows).flat_map(|row| &mut row.cells) {
        (cell.value, cell.error_percent) = (None, None);
    }
    let page = render_study(&result, &Style { width: 100, ..Style::default() });
    assert!(!page.contains("calibrated [1]") && !page.contains("time of a byte"), "{page}");
}

#[test]
fn what_was_said_of_rows_is_told_once() {
    let notice = |words: &str| Notice::new(NoticeKind::Noise, Text::same(words));
    let mut part = part(&["1", "2"], None);
    part.rows.iter_mut().for_each(|row| row.notices.push(notice("others were busy")));
    part.rows[0].label = Text::same("A");
    part.rows[0].notices.push(notice("it was warm"));
    let result = StudyResult { parts: vec![part], ..result() };
    let page = render_study(&result, &Style { width: 100, ..Style::default() });
    for page in [page, render_study_markdown(&result, Lang::En)] {
        assert_eq!(page.matches("others were busy").count(), 1, "{page}");
        assert!(page.contains("A: it was warm"), "{page}");
    }
}

#[test]
fn a_row_that_left_its_place_is_told_in_one_line() {
    let page = |swaps: &[(usize, usize)]| {
        let mut part = part(&[], Some(1100.0));
        for (place, name) in ["A", "B", "C", "D"].into_iter().enumerate() {
            if place == 0 {
                part.rows[0].label = Text::same(name);
            } else {
                let row = RowResult { label: Text::same(name), ..part.rows[0].clone() };
                part.rows.push(row);
            }
        }
        part.swaps =
            swaps.iter().map(|(lower, higher)| Swap { column: 0, lower: *lower, higher: *higher }).collect();
        render_study(
            &StudyResult { parts: vec![part], ..result() },
            &Style { width: 100, ..Style::default() },
        )
    };
    let order = |page: &str| -> Vec<String> {
        page.lines().filter(|line| line.contains("order")).map(|line| line.trim().to_owned()).collect()
    };
    assert_eq!(order(&page(&[])), ["The order of the published figures is kept."]);
    assert_eq!(
        order(&page(&[(1, 0), (1, 2), (1, 3)])),
        ["The order differs from the published one in random read 0: B is above: A; C; D."]
    );
    assert_eq!(
        order(&page(&[(0, 3), (1, 3), (2, 0)])),
        [
            "The order differs from the published one in random read 0: A is above: D.",
            "The order differs from the published one in random read 0: A is below: C.",
            "The order differs from the published one in random read 0: B is above: D.",
        ]
    );
}

#[test]
fn the_legend_tells_what_occurs_how_to_ask_why_and_where_a_run_is() {
    let style = Style { width: 100, ..Style::default() };
    let page = render_study(&result(), &style);
    assert!(page.contains("calibrated: a") && !page.contains("predicted:"), "{page}");
    let typed = "where the time goes:\n  kurabe run model:a --profile cdm-2\n  kurabe why\n";
    assert!(page.contains(typed), "{page}");
    let why = WhyRun {
        model: "b".to_owned(),
        sets: vec![("raid.members".to_owned(), "5".to_owned())],
        profile: "pull-replay".to_owned(),
        cell: Some("git pull".to_owned()),
    };
    let mut named = result();
    named.head.why = Some(why);
    let typed = "\n  kurabe run model:b --set raid.members=5 --profile pull-replay\n  kurabe why --cell \"git pull\"\n";
    assert!(render_study(&named, &style).contains(typed), "{page}");
    let mut real = named;
    for row in real.parts.iter_mut().flat_map(|part| &mut part.rows) {
        (row.model, row.run) = (None, Some("7y3".to_owned()));
    }
    let page = render_study(&real, &style);
    assert!(page.contains("kurabe show 7y3") && !page.contains("kurabe why"), "{page}");
}

/// Checks that the page's cells contain exactly the figures of the terminal's tables, with the
/// published figure and the error.
#[test]
fn the_cells_of_the_page_say_what_the_tables_of_the_terminal_say() {
    let mut result = result();
    let cells = result.parts[0].rows.iter_mut().flat_map(|row| &mut row.cells);
    // Within 10 %, within 25 %, beyond, a span, a bound, and nothing published.
    let published = [
        Some(Published::exact(1050.0)),
        Some(Published::exact(1700.0)),
        Some(Published { about: true, ..Published::exact(9000.0) }),
        Some(Published { low: 3000.0, high: Some(5000.0), about: false }),
        Some(Published { low: 6000.0, high: None, about: false }),
        None,
    ];
    for (cell, published) in cells.zip(published) {
        cell.error_percent = published.and_then(|published| published.error_percent(cell.value.unwrap()));
        cell.published = published;
    }
    for (lang, word, signs) in [(Lang::En, "published", "✓≈✗✓≈"), (Lang::Ja, "公表値", "○△×○△")]
    {
        let terminal = render_study(&result, &Style { lang, width: 200, ..Style::default() });
        let (_, _, table) = study_tables(&result).next().unwrap();
        let page = table.html(lang);
        let cells: Vec<&str> = page.split("<td class=\"n").skip(1).collect();
        assert_eq!(cells.len(), 6, "{page}");
        let mut signs = signs.chars();
        for (number, cell) in cells.iter().enumerate() {
            let name = format!("{} {number}", lang.pick("random read", "ランダム読み出し"));
            let (_, rows) = terminal.split_once(&name).unwrap_or_else(|| panic!("{name}: {terminal}"));
            let row: Vec<&str> =
                rows.lines().nth(1).unwrap().split("  ").filter(|part| !part.is_empty()).collect();
            let [_, published, value, rest @ ..] = row.as_slice() else { panic!("{row:?}") };
            let escaped = published.trim().replace('>', "&gt;");
            let kind = rest.last().unwrap().trim();
            let (beside, sign) = match rest {
                [error, _] => (
                    format!("<small>{word} {escaped}</small>"),
                    format!("{} {} · ", signs.next().unwrap(), error.trim()),
                ),
                _ => (String::new(), String::new()),
            };
            let expected = format!(
                ">{}</td>",
                [value.trim(), &beside, &format!("<small>{sign}{kind}</small>")].concat()
            );
            assert!(cell.contains(&expected), "{expected}: {cell}");
        }
        assert_eq!(signs.next(), None);
    }
}

#[test]
fn what_is_the_same_for_all_is_told_once() {
    let style = Style { width: 100, ..Style::default() };
    let mut sweep = result();
    let cells = |sweep: &mut StudyResult, change: fn(&mut CellResult)| {
        sweep.parts[1].rows.iter_mut().flat_map(|row| &mut row.cells).for_each(change);
    };
    cells(&mut sweep, |cell| (cell.status, cell.reason) = (Status::Predicted, None));
    let page = render_study(&sweep, &style);
    assert_eq!(page.matches("an unmarked figure is predicted").count(), 1, "{page}");
    let second = page.find("raid.strip").expect("the second table");
    assert!(!page[second..].contains("(predicted"), "{page}");
    for row in &mut sweep.parts[1].rows {
        row.cells[0].value = Some(100.0);
    }
    let page = render_study(&sweep, &style);
    assert!(page.contains("raid.strip changes nothing") && !page.contains('█'), "{page}");
    for cell in &mut sweep.parts[1].rows[2].cells {
        cell.status = Status::Measured;
    }
    let page = render_study(&sweep, &style);
    assert!(page.contains("(measured)"), "{page}");
}

#[test]
fn a_figure_that_is_not_what_the_others_are_has_its_word_and_the_number_of_its_note() {
    let mut sweep = result();
    let rows = &mut sweep.parts[1].rows;
    for cell in rows.iter_mut().flat_map(|row| &mut row.cells) {
        (cell.status, cell.reason) = (Status::Predicted, None);
    }
    let why = |words: &str| Some(Text::same(words));
    (rows[1].cells[0].status, rows[1].cells[0].reason) = (Status::Calibrated, why("as in part: so"));
    (rows[2].cells[5].status, rows[2].cells[5].reason) = (Status::Assumed, why("nobody knows"));
    rows[2].cells[4].unreachable = why("a defect");
    let style = Style { width: 120, ..Style::default() };
    let page = render_study(&sweep, &style);
    for words in [
        "2,000.0 (calibrated [1])",
        "[1] as in part: so",
        "7,000.0 (not reached [2])",
        "[2] a defect",
        "8,000.0 (assumed [3])",
        "[3] nobody knows",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let ja = render_study(&sweep, &Style { lang: Lang::Ja, ..style });
    assert!(ja.contains("8,000.0 (仮定 [3])") && ja.contains("印のない値は予測"), "{ja}");
}

#[test]
fn a_published_difference_that_the_model_does_not_show_is_told() {
    let mut part = part(&[], Some(1100.0));
    let name = |row: &RowResult, name: &str| RowResult { label: Text::same(name), ..row.clone() };
    part.rows = ["A", "B, C", "D"].map(|word| name(&part.rows[0], word)).to_vec();
    let page = |ties: &[(usize, usize)], swaps: &[(usize, usize)]| {
        let pairs = |list: &[(usize, usize)]| {
            list.iter().map(|(lower, higher)| Swap { column: 0, lower: *lower, higher: *higher }).collect()
        };
        let part = PartResult { ties: pairs(ties), swaps: pairs(swaps), ..part.clone() };
        let style = Style { width: 200, ..Style::default() };
        render_study(&StudyResult { parts: vec![part], ..result() }, &style)
    };
    let tied = page(&[(0, 1), (2, 1)], &[]);
    assert!(!tied.contains("is kept"), "{tied}");
    assert!(tied.contains("No published order is reversed, but"), "{tied}");
    let sentence = "but the model's are within 1 %, in random read 0: \"A\", \"B, C\" and \"D\".";
    assert!(tied.contains(sentence), "{tied}");
    let both = page(&[(0, 1)], &[(2, 0)]);
    assert!(
        both.contains("The order differs from the published one")
            && both.contains("Published figures differ, but"),
        "{both}"
    );
    assert!(page(&[], &[]).contains("The order of the published figures is kept."));
}

#[test]
fn what_to_know_of_the_figures_stands_with_the_verdict() {
    let caveat = |figure: &str, why: &str| Caveat {
        of: vec![(0, Text::same(figure)), (0, Text::same("access")), (1, Text::same("access"))],
        why: Text::same(why),
    };
    let mut which = best_verdict();
    which.grounds.choices[1].name = text!("second, with more", "他方、増設");
    (which.grounds.count, which.grounds.calibrated) = (4, 3);
    which.grounds.unreached = vec![caveat("read", "a defect")];
    which.grounds.assumed = vec![caveat("write", "nobody knows")];
    which.article = article(Agreement::WasGiven);
    let page = |which: &QuestionResult, lang| {
        let verdicts = vec![which.clone()];
        render_study(&StudyResult { verdicts, ..result() }, &Style { lang, width: 400, ..Style::default() })
    };
    let en = page(&which, Lang::En);
    for words in [
        "\"second, with more\": 25 % faster than \"first\".",
        "Of the 4 values used, 3 are calibrated on published ones.",
        "Not reached by the model (\"first\": read, access; \"second, with more\": access): a defect.",
        "Assumed, without a source (\"first\": write, access; \"second, with more\": access): nobody knows.",
        "but this was given to the model",
        "Of the article's conclusions (1): = was given 1.",
    ] {
        assert!(en.contains(words), "{words}: {en}");
    }
    let ja = page(&which, Lang::Ja);
    assert!(ja.contains("「他方、増設」。「一方」より 25 % 速い。"), "{ja}");
    which.grounds.calibrated = 4;
    assert!(page(&which, Lang::En).contains("All 4 values used are calibrated"), "{en}");
}
