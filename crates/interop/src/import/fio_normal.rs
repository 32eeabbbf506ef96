//! fio's normal text, which is not read: it rounds what its JSON holds in full, and its form changed with the versions.

use super::split::LineMark;
use super::{ImportedRuns, Importer, Input, parts};
use kurabe_core::{mention::Mention, text};

pub(super) const IMPORTER: Importer =
    Importer::of_marked_lines(("fio's normal text", "fio", &["ioengine="]), line_mark, read);

/// `  read: IOPS=12.3k, BW=48.1MiB/s (50.4MB/s)(…)`, and of fio 2 `  read : io=1024.0MB, bw=…, iops=…`.
fn line_mark(line: &str) -> LineMark {
    let Some((word, rest)) = line.trim().split_once(':') else { return LineMark::None };
    let is_direction = matches!(word.trim(), "read" | "write" | "trim" | "mixed");
    let rest = rest.trim();
    let is_result = rest.starts_with("IOPS=") || rest.starts_with("io=") && rest.contains("bw=");
    if is_direction && is_result { LineMark::Belongs } else { LineMark::None }
}

fn read(input: &Input<'_>) -> ImportedRuns {
    let Some((number, _)) = input.lines().find(|(_, line)| line_mark(line) == LineMark::Belongs) else {
        return parts::without_line("read: IOPS=…, BW=…");
    };
    let what = text!("this is fio's normal text", "これは fio の通常のテキスト出力です");
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
    fn the_remedy_is_json() {
        for line in [
            "  read: IOPS=12.3k, BW=48.1MiB/s (50.4MB/s)(2886MiB/60001msec)",
            "  write: io=18432KB, bw=613561B/s, iops=149, runt= 30762msec",
        ] {
            let text =
                format!("a: (g=0): rw=randread, bs=4K-4K/4K-4K/4K-4K, ioengine=libaio, iodepth=32\n{line}\n");
            let error = import("fio.txt", text.as_bytes()).unwrap_err().render(Lang::En);
            assert!(error.contains("--output-format=json") && error.contains("normal text"), "{error}");
        }
    }
}
