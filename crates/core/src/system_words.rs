//! Japanese translations of operating-system error messages.
//!
//! Rust prints the system's English message followed by its number (`Is a directory (os error
//! 21)`), so the message can be recognised anywhere in a sentence. Messages whose number is not in
//! the table stay English.

/// The most common errors of Linux, by number.
const WORDS: [(i32, &str); 49] = [
    (1, "許可されていない操作です"),
    (2, "そのようなファイルやディレクトリはありません"),
    (3, "そのようなプロセスはありません"),
    (4, "システムコールが中断されました"),
    (5, "入出力エラーです"),
    (6, "そのようなデバイスやアドレスはありません"),
    (7, "引数が長すぎます"),
    (9, "ファイル記述子が正しくありません"),
    (11, "リソースが一時的に使えません"),
    (12, "メモリーを確保できません"),
    (13, "アクセス権がありません"),
    (14, "アドレスが正しくありません"),
    (16, "デバイスまたはリソースが使用中です"),
    (17, "ファイルがすでにあります"),
    (18, "別のファイルシステムにまたがる操作です"),
    (19, "そのようなデバイスはありません"),
    (20, "ディレクトリではありません"),
    (21, "ディレクトリです"),
    (22, "引数が正しくありません"),
    (23, "システム全体で開いているファイルが多すぎます"),
    (24, "開いているファイルが多すぎます"),
    (25, "このデバイスでは行えない操作です"),
    (26, "実行中のプログラムのファイルです"),
    (27, "ファイルが大きすぎます"),
    (28, "デバイスに空きがありません"),
    (29, "シークできません"),
    (30, "読み取り専用のファイルシステムです"),
    (31, "リンクが多すぎます"),
    (32, "パイプの相手が閉じられました"),
    (36, "ファイル名が長すぎます"),
    (38, "カーネルにこの機能がありません"),
    (39, "ディレクトリが空ではありません"),
    (40, "シンボリックリンクが循環しています"),
    (61, "データがありません"),
    (71, "プロトコルのエラーです"),
    (75, "値が大きすぎて扱えません"),
    (95, "対応していない操作です"),
    (98, "アドレスはすでに使われています"),
    (99, "そのアドレスは使えません"),
    (103, "接続が中断されました"),
    (104, "接続が相手から切られました"),
    (107, "接続されていません"),
    (110, "時間切れです"),
    (111, "接続を拒否されました"),
    (116, "ファイルハンドルが古くなっています"),
    (117, "ファイルシステムが壊れています"),
    (121, "リモート I/O エラーです"),
    (122, "ディスクの割り当て(クォータ)を超えています"),
    (123, "媒体が入っていません"),
];

/// The text between the system's message and its number.
const NUMBER: &str = " (os error ";

/// Replaces the system's messages in a sentence by Japanese ones.
pub(crate) fn in_japanese(sentence: String) -> String {
    if !sentence.contains(NUMBER) {
        return sentence;
    }
    WORDS.iter().fold(sentence, |sentence, (number, ja)| {
        let end = format!("{NUMBER}{number})");
        if !sentence.contains(&end) {
            return sentence;
        }
        sentence.replace(
            &std::io::Error::from_raw_os_error(*number).to_string(),
            &format!("{ja}(エラー {number})"),
        )
    })
}

#[cfg(test)]
mod tests {
    use crate::{ErrorKind, Lang, text};

    #[test]
    fn an_error_of_the_system_is_japanese_wherever_it_stands() {
        let error = std::io::Error::from_raw_os_error(2);
        let sentence = text!("cannot drop it ({error}): slow", "破棄できません({error})。遅くなります");
        assert_eq!(
            sentence.ja,
            "破棄できません(そのようなファイルやディレクトリはありません(エラー 2))。遅くなります"
        );
        assert!(sentence.en.contains("(os error 2)"), "{}", sentence.en);
        let failed = ErrorKind::Io.error(text!("it failed", "失敗しました")).because(&error);
        assert_eq!(
            failed.render(Lang::Ja),
            "kurabe: 失敗しました: そのようなファイルやディレクトリはありません(エラー 2)"
        );
        assert!(failed.what_and_why().ja.contains("ディレクトリはありません"), "{failed:?}");
        // The table lists only common errors. All other messages stay unchanged.
        let rare = std::io::Error::from_raw_os_error(57);
        assert!(text!("{rare}", "{rare}").ja.ends_with("(os error 57)"));
    }
}
