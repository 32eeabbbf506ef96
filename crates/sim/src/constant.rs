//! The simplest medium: every request takes the same time and a time for its bytes, so many at once. It stands for what
//! has no mechanism worth modelling, and for a medium in tests.

use crate::account::Cause;
use crate::build::Builder;
use crate::layer::{Below, Layer, LayerKind};
use crate::schema::{Parameter, ParameterType, SOME_SIZE};
use crate::settings::Setting;
use crate::timeline::{Timeline, transfer_ns};
use crate::world::{JobId, Kind, World};
use kurabe_core::Result;

/// The kind.
pub const CONSTANT: LayerKind = LayerKind {
    word: "constant",
    title: ("a medium with constant times", "所要時間が一定の媒体"),
    of_host: false,
    below: Below::Nothing,
    parameters: &[
        Parameter::needed("capacity", SOME_SIZE, ("bytes of the medium", "媒体の容量")),
        Parameter::needed("access", ParameterType::Time, ("time of every request", "要求ごとの所要時間"))
            .live(),
        Parameter::needed("rate", ParameterType::Rate, ("rate of its bytes", "転送速度")).live(),
        Parameter::usual(
            "parallel",
            ParameterType::Count(1, 1024),
            "1",
            "assumed",
            ("requests served at once", "同時に処理できる要求数"),
        ),
    ],
    relations: &[],
    build,
};

#[derive(Clone)]
struct Constant {
    capacity_bytes: u64,
    access_ns: u64,
    rate_bytes_per_s: f64,
    servers: Vec<Timeline>,
    waiting: Cause,
    access: Cause,
    transfer: Cause,
}

fn build(builder: &mut Builder<'_>) -> Result<Box<dyn Layer>> {
    Ok(Box::new(Constant {
        capacity_bytes: builder.bytes("capacity"),
        access_ns: builder.ns("access"),
        rate_bytes_per_s: builder.rate("rate"),
        servers: vec![Timeline::default(); builder.count("parallel") as usize],
        waiting: builder.line(
            "waiting",
            ("waiting for the medium", "媒体が空くのを待つ時間"),
            ("earlier requests are still being served", "前の要求がまだ処理中です"),
        ),
        access: builder.cause(
            "access",
            ("access", "アクセス"),
            ("the time that every request takes, however short", "長さによらず要求ごとにかかる時間です"),
        ),
        transfer: builder.cause(
            "transfer",
            ("moving the bytes", "データの転送"),
            ("bytes at the rate of the medium", "媒体の速度でデータを移す時間です"),
        ),
    }))
}

impl Layer for Constant {
    fn capacity_bytes(&self) -> u64 {
        self.capacity_bytes
    }

    fn arrive(&mut self, job: JobId, world: &mut World) {
        let request = world.request(job);
        let bytes = match request.kind {
            Kind::Read | Kind::Write => u64::from(request.length_bytes),
            Kind::Flush | Kind::Trim | Kind::WriteZeroes => 0,
        };
        let transfer_ns = transfer_ns(bytes, self.rate_bytes_per_s);
        let Some(server) = self.servers.iter_mut().min_by_key(|server| server.free_ns()) else { return };
        let (start_ns, end_ns) = server.take(world.now_ns(), self.access_ns + transfer_ns);
        world.charge(job, self.waiting, start_ns);
        world.charge(job, self.access, end_ns - transfer_ns);
        world.charge(job, self.transfer, end_ns);
        world.finish_at(end_ns, job);
    }

    fn change(&mut self, setting: &Setting) {
        match setting.parameter.key {
            "access" => self.access_ns = setting.whole(),
            "rate" => self.rate_bytes_per_s = setting.real(),
            _ => setting.refused(),
        }
    }
}
