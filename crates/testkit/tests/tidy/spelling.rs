//! Checks that Japanese words with several spellings are always spelled in the same way.

use crate::rules::Breach;
use std::collections::BTreeMap;

/// The rejected spelling, the following characters for which it is another word, and the required
/// spelling.
const SPELLINGS: [(&str, &str, &str); 37] = [
    ("ひとつ", "", "1 つ"),
    ("ふたつ", "", "2 つ"),
    ("一つ", "", "1 つ"),
    ("読み取り", "専用", "読み出し"),
    ("読み込み", "済み", "読み出し"),
    ("読出", "", "読み出"),
    ("書込", "", "書き込"),
    ("キューの深さ", "", "キュー深さ"),
    ("ブロックの大きさ", "", "ブロックサイズ"),
    ("バッファ", "ー", "バッファー"),
    ("コンテナ", "ー", "コンテナー"),
    ("コントローラ", "ー", "コントローラー"),
    ("サーバ", "ー", "サーバー"),
    ("スケジューラ", "ー", "スケジューラー"),
    ("セクタ", "ー", "セクター"),
    ("ドライバ", "ー", "ドライバー"),
    ("パラメータ", "ー", "パラメーター"),
    ("フォルダ", "ー", "フォルダー"),
    ("ブラウザ", "ー", "ブラウザー"),
    ("メモリ", "ー", "メモリー"),
    ("ユーザ", "ー", "ユーザー"),
    ("コンマ", "", "カンマ"),
    ("トリム", "", "TRIM"),
    ("慣らし", "", "ウォームアップ"),
    ("記憶装置", "", "ストレージ"),
    ("区間つき", "", "区間付き"),
    ("根拠つき", "", "根拠付き"),
    ("出典つき", "", "出典付き"),
    ("検証つき", "", "検証付き"),
    ("トレースつき", "", "トレース付き"),
    ("一巡", "", "1 周"),
    ("1 巡", "", "1 周"),
    ("既に", "", "すでに"),
    ("全ての", "", "すべての"),
    ("わから", "", "分から"),
    ("下さい", "", "ください"),
    ("～", "", "〜"),
];

/// Returns whether a file contains Japanese text of the product. Texts by others keep their
/// spelling.
fn speaks(path: &str) -> bool {
    let is_source = (path.ends_with(".rs") || path.ends_with(".txt")) && path.contains("/src/");
    let is_data =
        ["profiles/", "devices/", "studies/", "uses/"].iter().any(|folder| path.starts_with(folder));
    let is_page = ["docs/ja/", "README.ja"].iter().any(|start| path.starts_with(start));
    is_source || is_data || is_page || path.ends_with(".ja.txt") || path.starts_with("crates/sim/words/")
}

/// Returns every word with a rejected spelling. The title of a source keeps its author's spelling.
pub fn spellings(files: &BTreeMap<String, String>) -> Vec<Breach> {
    let mut all = Vec::new();
    for (path, text) in files.iter().filter(|(path, _)| speaks(path)) {
        for (number, line) in
            text.lines().enumerate().filter(|(_, line)| !line.contains("USB メモリに使うべき"))
        {
            for (refused, other_word, written) in SPELLINGS {
                let is_refused = |(place, _): (usize, &str)| {
                    let behind = &line[place + refused.len()..];
                    other_word.is_empty() || !behind.starts_with(other_word)
                };
                if line.match_indices(refused).any(is_refused) {
                    all.push(Breach {
                        rule: "spelling",
                        subject: path.clone(),
                        place: format!("line {}", number + 1),
                        what: format!("{written}, not {refused}"),
                    });
                }
            }
        }
    }
    all
}

#[test]
fn another_spelling_is_seen() {
    let page = |line: &str| BTreeMap::from([("docs/ja/using.md".to_owned(), line.to_owned())]);
    assert_eq!(spellings(&page("測定はひとつ、メモリ上"))[0].what, "1 つ, not ひとつ");
    assert_eq!(spellings(&page("測定はひとつ、メモリ上")).len(), 2);
    assert!(spellings(&page("メモリー上の読み取り専用のファイルを 1 つ読み出します")).is_empty());
}
