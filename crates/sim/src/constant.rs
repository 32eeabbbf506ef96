//! The simplest medium: every request takes the same time and a time for its bytes, so many at once. It stands for what
//! has no mechanism worth modelling, and for a medium in tests.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Layer, LayerKind};
use crate::settings::{Live, Setting};
use crate::timeline::{Timeline, transfer_ns};
use crate::world::{JobId, RequestKind, World};
use kurabe_core::Result;

/// The kind.
pub const CONSTANT: LayerKind = LayerKind {
    word: "constant",
    title: ("a medium with constant times", "所要時間が一定の媒体"),
    of_host: false,
    below: Below::Nothing,
    parameters: PARAMETERS,
    relations: &[],
    build,
};

parameters! {
    /// Values of its parameters.
    struct Values, PARAMETERS {
        "capacity" capacity_bytes: SOME_SIZE, needed, ("bytes of the medium", "媒体の容量");
        "access" access_ns: Time, needed.live(), ("time of every request", "要求ごとの所要時間");
        "rate" rate_bytes_per_s: Rate, needed.live(), ("rate of its bytes", "転送速度");
        "parallel" parallel: Count(1, 1024), usual("1", "assumed"),
            ("requests served at once", "同時に処理できる要求数");
    }
}

#[derive(Clone)]
struct Constant {
    servers: Vec<Timeline>,
    values: Values,
    words: Words,
}

words! {
    struct Words {
        waiting: line("waiting",
            ("waiting for the medium", "媒体が空くのを待つ時間"),
            ("earlier requests are still being served", "前の要求がまだ処理中です"));
        access: cause("access",
            ("access", "アクセス"),
            ("the time that every request takes, however short", "長さによらず要求ごとにかかる時間です"));
        transfer: cause("transfer",
            ("moving the bytes", "データの転送"),
            ("bytes at the rate of the medium", "媒体の速度でデータを移す時間です"));
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    let values = Values::new(builder);
    Ok(Box::new(Constant {
        servers: vec![Timeline::default(); values.parallel as usize],
        values,
        words: Words::new(builder),
    }))
}

impl Layer for Constant {
    fn capacity_bytes(&self) -> u64 {
        self.values.capacity_bytes
    }

    fn arrive(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let bytes = match request.kind {
            RequestKind::Read | RequestKind::Write => u64::from(request.length_bytes),
            RequestKind::Flush | RequestKind::Trim | RequestKind::WriteZeroes => 0,
        };
        let transfer_ns = transfer_ns(bytes, self.values.rate_bytes_per_s);
        let Some(server) = self.servers.iter_mut().min_by_key(|server| server.free_ns()) else { return };
        let (start_ns, end_ns) = server.take(world.now_ns(), self.values.access_ns + transfer_ns);
        world.charge(job, self.words.waiting, start_ns);
        world.charge(job, self.words.access, end_ns - transfer_ns);
        world.charge(job, self.words.transfer, end_ns);
        world.finish_at(end_ns, job);
    }

    fn change(&mut self, setting: &Setting) {
        self.values.change(setting);
    }
}
