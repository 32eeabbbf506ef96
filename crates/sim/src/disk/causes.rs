//! What the time of a turning medium goes to, in words for its reader.

use super::mechanism::Access;
use crate::build::words;
use crate::world::{JobId, World};

words! {
    /// What the time of a disk goes to.
    pub(super) struct Causes {
        memory: cause("memory",
            ("moving data in the drive's memory", "ドライブ内メモリーの転送"),
            ("data go from or to the drive's memory", "ドライブのメモリーとの間でデータを移す時間です"));
        room: cause("room",
            ("waiting for room in the write cache", "書き込みキャッシュの空き待ち"),
            ("the write cache is full of data that are not on the disk yet",
             "まだディスクに書けていないデータで書き込みキャッシュが埋まっています"));
        back: cause("written-back",
            ("waiting while the write cache is written", "書き込みキャッシュの書き出し待ち"),
            ("the arm is writing earlier data from the write cache, and does not stop in the middle",
             "アームが先に受け取ったデータを書いている途中なので、終わるまで待ちます"));
        flush: cause("flush",
            ("emptying the write cache", "書き込みキャッシュの書き出し"),
            ("a flush is done when everything in the write cache is on the disk",
             "フラッシュは、書き込みキャッシュの中身がすべてディスクに書かれて完了します"));
        waiting: line("waiting",
            ("waiting for other commands", "ほかのコマンドの待ち"),
            ("the arm can be in one place only, and it is busy with other commands",
             "アームは 1 本なので、ほかのコマンドの処理が終わるのを待っています"));
        command: cause("command",
            ("handling the command", "コマンドの処理"),
            ("the drive's own processor works out what to do", "ドライブ内のプロセッサーが動作を決める時間です"));
        seek: cause("seek",
            ("moving the arm", "シーク(アームの移動)"),
            ("the arm moves to the track and settles on it",
             "アームを目的のトラックまで動かして落ち着かせる時間です"));
        rotation: cause("rotation",
            ("waiting for the disk to turn", "回転待ち"),
            ("the arm is in place and waits until the first sector has turned round to it",
             "アームの下に目的のセクターが回ってくるのを待つ時間です"));
        transfer: cause("transfer",
            ("sectors passing the head", "データの読み書き"),
            ("the sectors pass under the head at the speed of the disk", "セクターがヘッドの下を通り過ぎる時間です"));
        switch: cause("switch",
            ("changing tracks within a transfer", "転送途中のトラック切り替え"),
            ("the data go on on the next track, so the head changes and waits for its start",
             "データが次のトラックに続くので、ヘッドを切り替えて先頭を待つ時間です"));
    }
}

impl Causes {
    /// Charges the phases of an access.
    pub(super) fn charge(&self, world: &mut World, job: JobId, access: &Access) {
        world.charge(job, self.seek, access.sought_ns);
        world.charge(job, self.memory, access.data_ns);
        world.charge(job, self.rotation, access.turned_ns);
        world.charge(job, self.switch, access.turned_ns + access.switch_ns);
        world.charge(job, self.transfer, access.end_ns);
    }
}
