//! fio's texts, which are not read: they round or leave out what its JSON holds in full, and their forms changed with the versions.

use super::shapes::{LineMark, LineShapes};
use super::{ImportedRuns, Importer, Input, Recognizer, parts};
use kurabe_core::{Text, mention::Mention, text};

/// `  read: IOPS=12.3k, BW=48.1MiB/s (50.4MB/s)(…)`, and of fio 2 `  read : io=1024.0MB, bw=…, iops=…`.
const OF_NORMAL: LineShapes = LineShapes {
    begins: &[],
    belongs: &[
        "read{}: IOPS={}",
        "write{}: IOPS={}",
        "trim{}: IOPS={}",
        "mixed{}: IOPS={}",
        "read{}: io={}bw={}",
        "write{}: io={}bw={}",
        "trim{}: io={}bw={}",
        "mixed{}: io={}bw={}",
    ],
};
const OF_TERSE: LineShapes = LineShapes { begins: &[], belongs: &["3;fio-{}", "4;fio-{}", "5;fio-{}"] };

pub(super) const NORMAL: Importer =
    Importer::of(("fio's normal text", "fio", &["ioengine="]), Recognizer::Shapes(OF_NORMAL), |input| {
        let what = text!("this is fio's normal text", "これは fio の通常のテキスト出力です");
        refused(input, &OF_NORMAL, "read: IOPS=…, BW=…", what)
    });
pub(super) const TERSE: Importer =
    Importer::of(("fio's terse text", "fio", &[";fio-"]), Recognizer::Shapes(OF_TERSE), |input| {
        let what = text!("this is fio's terse text", "これは fio の terse 出力です");
        refused(input, &OF_TERSE, "3;fio-3.33;NAME;0;0;…", what)
    });

fn refused(input: &Input<'_>, shapes: &LineShapes, example: &str, what: Text) -> ImportedRuns {
    let own = input.lines().find(|(_, line)| shapes.mark(line) != LineMark::None);
    let Some((number, _)) = own else { return parts::without_line(example) };
    let remedy = text!(
        "have fio write its figures in full: {} JOB",
        "fio に値を丸めずに書かせてください: {} ジョブ",
        Mention::Shell("fio --output-format=json --output=result.json")
    );
    Err(parts::broken_line(input, number, what).remedy(remedy).into())
}

#[cfg(test)]
mod tests {
    use super::super::import;
    use kurabe_core::Lang;

    #[test]
    fn texts_of_fio_are_refused_with_the_remedy() {
        for (text, what) in [
            ("fio-3.33\n   read: IOPS=12.3k, BW=48.1MiB/s (50.4MB/s)(2886MiB/60001msec)\n", "normal"),
            ("  read : io=1024.0MB, bw=55500KB/s, iops=13875, runt= 18893msec\n", "normal"),
            ("3;fio-3.33;a;0;0;819200;819200;12800;1000;0;0;0.000000;0.000000\n", "terse"),
        ] {
            let error = import("a.txt", text.as_bytes()).unwrap_err();
            assert!(error.what().en.contains(&format!("fio's {what} text")), "{error}");
            assert!(error.render(Lang::En).contains("--output-format=json"), "{error}");
        }
    }
}
