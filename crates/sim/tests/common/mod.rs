//! The procedures behind the published figures at a smaller scale: GNOME Disks and MacBench, on a
//! model.

pub mod gnome_disks;
pub mod macbench;

use kurabe_sim::{DeviceSpec, Request, RequestKind, Stack, device_named};

/// Returns a device of the library with some parameters changed.
pub fn device(name: &str, changes: &[(&str, &str)]) -> DeviceSpec {
    let mut spec = device_named(name).unwrap();
    for (path, value) in changes {
        spec.set(path, value).unwrap();
    }
    spec
}

/// A modelled device with one request in flight.
pub struct OneByOne {
    pub stack: Stack,
    now_ns: u64,
}

impl OneByOne {
    pub fn new(spec: &DeviceSpec) -> Self {
        Self { stack: Stack::new(spec, 1).unwrap(), now_ns: 0 }
    }

    /// Runs a request and returns its duration.
    pub fn time_ns(
        &mut self,
        kind: RequestKind,
        offset_bytes: u64,
        length_bytes: u32,
        identical: bool,
    ) -> u64 {
        let started_ns = self.now_ns;
        self.stack.submit(
            started_ns,
            Request { identical, ..Request::new(kind, offset_bytes, length_bytes) },
            0,
        );
        loop {
            if let Some(done) = self.stack.take_completion() {
                assert!(done.outcome.is_ok());
                self.now_ns = done.at_ns;
                return done.at_ns - started_ns;
            }
            self.stack.check_not_blocked().unwrap();
            let Some(at_ns) = self.stack.next_wake_ns() else { panic!("a request is lost") };
            self.stack.advance(at_ns);
        }
    }

    pub fn read_ns(&mut self, offset_bytes: u64, length_bytes: u32) -> u64 {
        self.time_ns(RequestKind::Read, offset_bytes, length_bytes, false)
    }
}

/// Returns the kB/s of bytes in a time.
pub fn kb_per_s(bytes: u64, time_ns: u64) -> f64 {
    bytes as f64 * 1e6 / time_ns as f64
}
