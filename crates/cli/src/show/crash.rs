//! Results of power cuts, as lines.

use kurabe_core::{Text, shown, text};
use kurabe_lab::{BrokenKind, BrokenPromise, CrashDone, CutOutcome, CutTrial, HazardKind, UnsafeOrder};

/// Returns the number of power cuts that lost data, then the first cuts of each kind with the seed
/// that reproduces each, and the unsafe orders of calls.
pub fn crash_lines(done: &CrashDone) -> Vec<Text> {
    let trials = &done.trials;
    let cuts = trials.len();
    let of = |outcome: CutOutcome| trials.iter().filter(move |trial| trial.outcome == outcome);
    let (lost, unmountable) = (of(CutOutcome::Lost).count(), of(CutOutcome::Unmountable).count());
    let unpromised =
        of(CutOutcome::Lost).filter(|trial| trial.lost_by.is_some() && trial.broken.is_none()).count();
    let first = match (lost, unmountable) {
        (0, 0) => text!("{cuts} power cuts: nothing was lost", "電源断 {cuts} 回: 失われたものはありません"),
        (_, 0) if unpromised == lost => text!(
            "{cuts} power cuts: {lost} lost data that the order of calls does not protect",
            "電源断 {cuts} 回: うち {lost} 回で、呼び出しの順序では守られないデータが失われました"
        ),
        (_, 0) => text!(
            "{cuts} power cuts: {lost} lost acknowledged data",
            "電源断 {cuts} 回: うち {lost} 回で、保証済みのデータが失われました"
        ),
        _ => text!(
            "{cuts} power cuts: {lost} lost acknowledged data, {unmountable} left a file system that \
             cannot be mounted",
            "電源断 {cuts} 回: うち {lost} 回で保証済みのデータが失われ、{unmountable} 回でファイルシステムがマウントできなくなりました"
        ),
    };
    let losses = trials.iter().filter(|trial| trial.outcome != CutOutcome::Kept).take(SHOWN);
    let listed = losses.flat_map(trial_lines);
    let orders = done.orders.iter().flatten().take(SHOWN).map(|order| order_line(order, trials));
    let unfollowed = done.unfollowed.map(|name| {
        text!(
            "not checked: the command uses {name}, whose requests to files are not followed",
            "未確認: コマンドが {name} を使っており、そのファイル操作は追跡できません"
        )
    });
    std::iter::once(first).chain(listed).chain(orders).chain(unfollowed).collect()
}

/// Maximum number of power cuts that are listed.
const SHOWN: usize = 10;

fn trial_lines(trial: &CutTrial) -> Vec<Text> {
    let CutTrial { seed, after_writes, sectors_lost, .. } = trial;
    let cut = text!(
        "  after write {after_writes}, {sectors_lost} sectors lost: repeat it with seed {seed}",
        "  書き込み {after_writes} 回目の後、{sectors_lost} セクターが消失: シード {seed} で再現できます"
    );
    let broken = trial.broken.as_ref().map(broken_line);
    let by_order = trial.lost_by.as_ref().filter(|_| trial.broken.is_none()).map(|order| {
        let [file, first, second] =
            [&order.file, &order.first, &order.second].map(|words| shown::line(words));
        text!(
            "    {file}: lost between {first} and {second}; no fsync had promised it",
            "    {file}: {first} と {second} の間で消失。fsync による保証はありません"
        )
    });
    [cut].into_iter().chain(broken).chain(by_order).collect()
}

fn broken_line(broken: &BrokenPromise) -> Text {
    let file = shown::line(&broken.file);
    let at = broken.offset_bytes.unwrap_or_default();
    let what = match broken.kind {
        BrokenKind::NameLost => text!("is missing", "がありません"),
        BrokenKind::NameBack => text!("exists again", "が再び現れました"),
        BrokenKind::OtherFile => text!("is another file", "が別のファイルです"),
        BrokenKind::BytesLost => text!("differs from byte {at}", "はバイト {at} から異なります"),
        BrokenKind::SizeLost => text!("has another size", "の大きさが異なります"),
    };
    let line = |words: &Option<String>| words.as_deref().map(shown::line);
    match (line(&broken.operation), line(&broken.acknowledged_by)) {
        (Some(operation), Some(by)) if operation == by => text!(
            "    {file} {what}: lost after an acknowledged {operation}",
            "    {file} {what}: {operation} が成功した後に失われました"; what
        ),
        (Some(operation), Some(by)) => text!(
            "    {file} {what}: {operation} was lost after an acknowledged {by}",
            "    {file} {what}: {operation} は、{by} が成功した後に失われました"; what
        ),
        _ => text!(
            "    {file} {what}: it was durable before the command started",
            "    {file} {what}: コマンドの開始前から永続化されていました"; what
        ),
    }
}

/// Returns an unsafe order of calls, and whether a power cut lost data by it.
fn order_line(order: &UnsafeOrder, trials: &[CutTrial]) -> Text {
    let [file, first, second] = [&order.file, &order.first, &order.second].map(|words| shown::line(words));
    let is_this = |trial: &&CutTrial| {
        trial.lost_by.as_ref().is_some_and(|lost| (lost.kind, &lost.file) == (order.kind, &order.file))
    };
    let what = match order.kind {
        HazardKind::RenameBeforeData => text!(
            "{second} gives a new file its name before the data of {first} are durable: fsync the file first",
            "{second} の時点で {first} のデータは永続化されていません。先にファイルを fsync してください"
        ),
        HazardKind::NameNotSynced => text!(
            "{first} and {second} make the data durable, but not the name: fsync the folder",
            "{first} と {second} でデータは永続化されますが、名前は永続化されません。フォルダーを fsync してください"
        ),
        HazardKind::OldContentDestroyed => text!(
            "{first} and {second} destroy the old content before the new one is durable: write a new file, \
             fsync it, and rename it",
            "{first} と {second} は、新しい内容が永続化される前に古い内容を壊します。新しいファイルに書き、fsync してから改名してください"
        ),
        HazardKind::SourceRemoved => text!(
            "{second} removes the source before the data of {first} are durable: fsync the file first",
            "{second} は、{first} のデータが永続化される前に元のファイルを削除します。先にファイルを fsync してください"
        ),
        HazardKind::CommitBeforeData => text!(
            "{second} may be durable without {first} before it: fsync between the two, or use a checksum",
            "{second} だけが永続化され、その前の {first} が失われることがあります。間に fsync するか、チェックサムを付けてください"
        ),
    };
    match trials.iter().filter(is_this).count() {
        0 => text!(
            "unsafe, {file}: {what}; not guaranteed by POSIX, this file system kept it",
            "危険な順序、{file}: {what}。POSIX の保証はありませんが、このファイルシステムでは失われませんでした"; what
        ),
        _ => text!("unsafe, {file}: {what}", "危険な順序、{file}: {what}"; what),
    }
}
