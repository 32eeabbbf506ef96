//! The simplest medium: every request takes a fixed time plus a time for its bytes, several in
//! parallel. It represents media without a mechanism worth modelling, and serves as a medium in
//! tests.

use crate::build::{Builder, parameters, words};
use crate::layer::{Below, Built, Layer, LayerKind};
use crate::settings::{Live, Setting};
use crate::timeline::{Timeline, transfer_ns};
use crate::vocabulary::page;
use crate::world::{JobId, RequestKind, World};
use kurabe_core::Result;

/// Constant medium: `constant` in device files.
pub const CONSTANT: LayerKind =
    LayerKind::new(page!("constant"), "constant", Below::Nothing, PARAMETERS, build);

parameters! {
    struct Values, PARAMETERS from "constant" {
        "capacity" capacity_bytes: SOME_SIZE, needed;
        "access" access_ns: Time, needed.live();
        "rate" rate_bytes_per_s: Rate, needed.live();
        "parallel" parallel: Count(1, 1024), usual("1", "assumed");
    }
}

#[derive(Clone)]
struct Constant {
    servers: Vec<Timeline>,
    values: Values,
    words: Words,
}

words! {
    struct Words from "constant" {
        waiting: line("waiting");
        access: cause("access");
        transfer: cause("transfer");
    }
}

fn build(builder: &mut Builder<'_>) -> Result<Built> {
    let values = Values::new(builder);
    let capacity_bytes = values.capacity_bytes;
    let servers = vec![Timeline::default(); values.parallel as usize];
    let alone = servers.len() == 1;
    let constant = Constant { servers, values, words: Words::new(builder) };
    Ok(Built::new(constant, capacity_bytes).in_turn_if(alone))
}

impl Layer for Constant {
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
