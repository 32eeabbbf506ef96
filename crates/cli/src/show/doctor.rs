//! Findings of `kurabe doctor`: what works, what is worth knowing, what fails, and the remedies.
//!
//! Marks are signs as well as colours, so that no information depends on colour alone.

use super::leftovers::leftovers_section;
use kurabe_core::{Error, Text, record::fallback, shown, text};
use kurabe_doc::{Doc, Field, Fields, Role, Style};
use kurabe_lab::{Leftover, MachineFacts};
use serde::Serialize;
use std::path::PathBuf;

/// All findings.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doctor {
    /// Findings by subject.
    pub sections: Vec<Section>,
}

/// Findings on one subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Section {
    /// The subject.
    pub title: Text,
    /// The findings.
    pub lines: Vec<Check>,
}

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckMark {
    /// As it should be.
    Good,
    /// Worth knowing. kurabe works.
    Note,
    /// kurabe can't do something because of it.
    Bad,
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// The severity.
    pub mark: CheckMark,
    /// The item that was checked.
    pub what: Text,
    /// The result of the check.
    pub value: Text,
    /// The remedy.
    pub remedy: Option<Text>,
}

impl Check {
    fn new(mark: CheckMark, what: Text, value: impl Into<Text>) -> Self {
        Self { mark, what, value: value.into(), remedy: None }
    }

    /// Reports an item that is not available, with the remedy from the error.
    fn bad(what: Text, value: impl Into<Text>, error: &Error) -> Self {
        Self { remedy: error.remedy_text().cloned(), ..Self::new(CheckMark::Bad, what, value) }
    }
}

/// Evaluates the facts about a machine, and lists the leftovers of earlier runs.
pub fn doctor(facts: &MachineFacts, leftovers: &[Leftover]) -> Doctor {
    let mut sections = vec![engines(facts), path(facts), instrument(facts), devices(facts), tools(facts)];
    sections.extend(leftovers_section(leftovers));
    Doctor { sections }
}

fn engines(facts: &MachineFacts) -> Section {
    let refused = || text!("unavailable in io_uring", "io_uring で使えない機能");
    let mut lines = match &facts.ring {
        Ok(ring) => vec![Check::new(CheckMark::Good, Text::same("io_uring"), ring.features.join(", "))],
        Err(error) => vec![Check::bad(Text::same("io_uring"), error.to_string(), error)],
    };
    let fallbacks = facts.ring.iter().flat_map(|ring| &ring.fallbacks);
    lines.extend(fallbacks.map(|feature| Check::new(CheckMark::Note, refused(), fallback(feature))));
    let calls = text!("pread and pwrite, or a mapping", "pread と pwrite、または mmap");
    lines.push(Check::new(CheckMark::Good, text!("threads", "スレッド"), calls));
    Section { title: text!("Engines", "エンジン"), lines }
}

/// Checks direct I/O and the page cache for a path.
fn path(facts: &MachineFacts) -> Section {
    let what = text!("direct I/O", "ダイレクト I/O");
    let direct = match &facts.direct {
        Ok((is_direct, unit)) => {
            let value = text!("yes, in units of {unit} bytes", "可({unit} バイト単位)");
            Check::new(if *is_direct { CheckMark::Good } else { CheckMark::Note }, what, value)
        }
        Err(error) => Check::bad(what, error.what().clone(), error),
    };
    let what = text!("dropping the page cache", "ページキャッシュの破棄");
    let mut cache = Check::new(CheckMark::Good, what, text!("allowed", "可"));
    if !facts.may_drop_page_cache {
        cache.mark = CheckMark::Note;
        cache.value = text!(
            "not allowed; posix_fadvise is used for the test file",
            "不可(テストファイルには posix_fadvise を使います)"
        );
        cache.remedy = Some(text!(
            "only buffered runs need it; run them as root",
            "バッファー経由の測定でだけ必要です。必要なら root で実行してください"
        ));
    }
    let path = shown::path(&facts.path);
    Section { title: text!("This path: {path}", "このパス: {path}"), lines: vec![direct, cache] }
}

fn instrument(facts: &MachineFacts) -> Section {
    /// Cost of reading the clock above which it affects results on fast storage. An operation needs
    /// two or three readings.
    const DEAR_CLOCK_NS: f64 = 100.0;
    let (resolution, cost) = (facts.clock.clock_resolution_ns, facts.clock.clock_cost_ns);
    let mut lines = vec![Check {
        mark: if cost > DEAR_CLOCK_NS { CheckMark::Note } else { CheckMark::Good },
        what: text!("clock", "時計"),
        value: text!(
            "resolution {resolution} ns, a reading costs {cost:.0} ns",
            "分解能 {resolution} ns、1 回の読み出し {cost:.0} ns"
        ),
        remedy: (cost > DEAR_CLOCK_NS).then_some(text!(
            "a slow clock source: see /sys/devices/system/clocksource (tsc is the fast one)",
            "クロックソースが遅いようです。/sys/devices/system/clocksource を確認してください(速いのは tsc)"
        )),
    }];
    lines.extend(facts.driver_costs_ns.iter().map(|(iodepth, cost)| {
        let what = text!("driver at queue depth {iodepth}", "ドライバー(キュー深さ {iodepth})");
        let value = text!(
            "{cost:.0} ns per operation, everything recorded",
            "1 操作あたり {cost:.0} ns(すべて記録した場合)"
        );
        Check::new(CheckMark::Good, what, value)
    }));
    Section { title: text!("The instrument", "測定器としての kurabe"), lines }
}

/// Lists the block devices, and whether the user may read them.
fn devices(facts: &MachineFacts) -> Section {
    let line = |(device, refusal): &(PathBuf, Option<std::io::Error>)| {
        let device = Text::same(shown::path(device));
        match refusal {
            None => Check::new(CheckMark::Good, device, text!("may be read", "読み出し可")),
            Some(error) => {
                let refused = text!("may not be read ({error})", "読み出し不可({error})");
                Check::new(CheckMark::Note, device, refused)
            }
        }
    };
    Section {
        title: text!("Block devices", "ブロックデバイス"),
        lines: facts.devices.iter().map(line).collect(),
    }
}

fn tools(facts: &MachineFacts) -> Section {
    let missing = || text!("not installed; kurabe works without it", "未インストール(なくても動きます)");
    let line = |(name, version): &(&str, Option<String>)| match version {
        Some(version) => Check::new(CheckMark::Good, Text::same(*name), version.clone()),
        None => Check::new(CheckMark::Note, Text::same(*name), missing()),
    };
    Section {
        title: text!("Other tools", "ほかのツール"), lines: facts.tools.iter().map(line).collect()
    }
}

/// Renders the findings.
pub fn render_doctor(doctor: &Doctor, style: &Style) -> String {
    let checks = || doctor.sections.iter().flat_map(|section| &section.lines);
    let (all, _) = fields(checks());
    let mut doc = Doc::new();
    for section in &doctor.sections {
        let (fields, signs) = fields(&section.lines);
        let aligned_with = all.iter().map(|(key, _)| key.clone()).collect();
        doc.heading(2, section.title.clone()).push(Fields { aligned_with, signs, ..fields.into() }).gap();
    }
    let count = |mark: CheckMark| checks().filter(|check| check.mark == mark).count();
    let (bad, notes) = (count(CheckMark::Bad), count(CheckMark::Note));
    doc.say(match (bad, notes) {
        (0, 0) => text!("All is well.", "問題はありません。"),
        (0, _) => text!("kurabe works here; notes: {notes}.", "kurabe は動作します。注意: {notes} 件。"),
        _ => text!("Problems: {bad}; notes: {notes}.", "問題: {bad} 件、注意: {notes} 件。"),
    });
    doc.terminal(style)
}

/// Returns the checked items with their results and, below each, the remedy. Also returns the roles
/// of the signs.
fn fields<'a>(checks: impl IntoIterator<Item = &'a Check>) -> (Vec<Field>, Vec<Role>) {
    let field = |check: &Check| {
        let (sign, role) = match check.mark {
            CheckMark::Good => ("✓", Role::Good),
            CheckMark::Note => ("!", Role::Warn),
            CheckMark::Bad => ("✗", Role::Bad),
        };
        let field = (check.what.map(|what| format!("{sign} {what}")), vec![check.value.clone()]);
        let remedy = check.remedy.as_ref().map(|remedy| remedy.map(|remedy| format!("→ {remedy}")));
        std::iter::once((field, role)).chain(remedy.map(|remedy| ((Text::default(), vec![remedy]), role)))
    };
    checks.into_iter().flat_map(field).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::Lang;
    use kurabe_doc::layout::display_width;

    #[test]
    fn the_doctor() {
        let line = |mark, what: Text, value: Text, remedy: Option<Text>| Check { mark, what, value, remedy };
        let doctor = Doctor {
            sections: vec![
                Section {
                    title: text!("engines", "エンジン"),
                    lines: vec![
                        line(
                            CheckMark::Good,
                            Text::same("io_uring"),
                            text!("works, kernel 6.12", "使えます(カーネル 6.12)"),
                            None,
                        ),
                        line(
                            CheckMark::Bad,
                            text!("registered buffers", "登録バッファー"),
                            text!(
                                "refused: the limit of locked memory is 64 KiB",
                                "拒否されました: ロック可能メモリーの上限が 64 KiB です"
                            ),
                            Some(text!(
                                "raise it with `ulimit -l unlimited`, or as root in /etc/security/limits.conf",
                                "`ulimit -l unlimited` か、root として /etc/security/limits.conf で引き上げてください"
                            )),
                        ),
                    ],
                },
                Section {
                    title: text!("facts", "環境情報"),
                    lines: vec![line(
                        CheckMark::Note,
                        Text::same("smartctl"),
                        text!("not installed", "インストールされていません"),
                        Some(text!(
                            "apt install smartmontools, for temperature and wear",
                            "apt install smartmontools で、温度と摩耗が分かります"
                        )),
                    )],
                },
            ],
        };
        for (lang, name) in [(Lang::En, "doctor_en_80"), (Lang::Ja, "doctor_ja_80")] {
            let page = render_doctor(&doctor, &Style { lang, color: false, width: 80 });
            assert!(page.lines().all(|line| display_width(line) <= 80), "{page}");
            insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(name, page);
            });
        }
    }
}
