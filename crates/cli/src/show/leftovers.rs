//! Text about the leftovers of runs that died.

use super::doctor::{Check, CheckMark, Section};
use kurabe_core::{Text, made::StillThere, mention::DOCTOR, shown, text};
use kurabe_lab::{Became, Leftover};

/// Describes what happened to a leftover, and the remedy.
pub fn leftover_words(leftover: &Leftover) -> (Text, Option<Text>) {
    let (path, run) = (shown::path(&leftover.path), &leftover.run);
    let why = match &leftover.became {
        Became::Removed => {
            let removed = text!(
                "removed the test file of a run that was killed: {path} ({run})",
                "異常終了した測定のテストファイルを消しました: {path} ({run})"
            );
            return (removed, None);
        }
        Became::Failed(error) => return (error.what().clone(), error.remedy_text().cloned()),
        Became::Left(why) => why,
    };
    let words = match why {
        StillThere::FolderAway => text!(
            "the leftovers of the run {run} were not found: the folder of {path} was renamed, or its \
             file system is not mounted",
            "測定 {run} の残りが元の場所にありません: {path} のフォルダーの名前が変わったか、ファイルシステムがマウントされていません"
        ),
        StillThere::OtherMark => text!(
            "{path} was not removed: it does not contain the mark of the run {run}, which was killed",
            "{path} には手を付けていません: 異常終了した測定 {run} の印がありません"
        ),
        StillThere::OtherUser => text!(
            "{path} was not removed: this user may not remove files of the run {run}",
            "{path} には手を付けていません: 測定 {run} が作ったものは、このユーザーからは削除しません"
        ),
        StillThere::OtherFile => text!(
            "{path} was not removed: it is not the file that the run {run} created, or it has a second \
             hard link",
            "{path} には手を付けていません: 測定 {run} が作ったファイルではないか、別の名前(ハードリンク)が付いています"
        ),
    };
    let remedy = match why {
        StillThere::FolderAway => text!(
            "it is removed once the folder is back; until then, `{DOCTOR}` lists it",
            "フォルダーが戻れば削除します。それまでは `{DOCTOR}` に表示されます"
        ),
        _ => text!(
            "if it is not needed, remove it manually; until then, `{DOCTOR}` lists it",
            "不要なら手作業で削除してください。それまでは `{DOCTOR}` に表示されます"
        ),
    };
    (words, Some(remedy))
}

/// Lists the remaining leftovers for the doctor. `None` if there are none.
pub(crate) fn leftovers_section(leftovers: &[Leftover]) -> Option<Section> {
    let check = |leftover: &Leftover| {
        let (value, remedy) = leftover_words(leftover);
        let mark = match leftover.became {
            Became::Removed => CheckMark::Good,
            Became::Left(_) | Became::Failed(_) => CheckMark::Note,
        };
        Check { mark, what: text!("run {}", "測定 {}", leftover.run), value, remedy }
    };
    let lines: Vec<Check> = leftovers.iter().map(check).collect();
    let title = text!("Leftovers of earlier runs", "以前の測定が残したもの");
    (!lines.is_empty()).then_some(Section { title, lines })
}

#[cfg(test)]
mod tests {
    use super::*;
    use kurabe_core::ErrorKind;

    #[test]
    fn whatever_is_left_is_named_with_its_run_and_what_to_do() {
        let whys =
            [StillThere::OtherMark, StillThere::OtherFile, StillThere::OtherUser, StillThere::FolderAway];
        let leftover = |became| Leftover {
            run: "abc".to_owned(),
            path: "/mnt/x/.kurabe-abc-1.test".into(),
            became,
            is_news: true,
        };
        let mut texts = Vec::new();
        for why in whys {
            let (what, remedy) = leftover_words(&leftover(Became::Left(why)));
            assert!(what.en.contains("/mnt/x/.kurabe-abc-1.test") && what.en.contains("run abc"));
            assert!(what.ja.contains("/mnt/x/.kurabe-abc-1.test") && remedy.is_some());
            texts.push(what.en);
        }
        texts.dedup();
        assert_eq!(texts.len(), whys.len());
        let all = [
            leftover(Became::Removed),
            leftover(Became::Failed(ErrorKind::Target.error(text!("cannot", "不可")))),
            leftover(Became::Left(StillThere::FolderAway)),
        ];
        let marks: Vec<CheckMark> =
            leftovers_section(&all).unwrap().lines.iter().map(|line| line.mark).collect();
        assert_eq!(marks, [CheckMark::Good, CheckMark::Note, CheckMark::Note]);
        assert!(leftovers_section(&[]).is_none());
    }
}
