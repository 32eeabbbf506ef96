//! What a connection carries: its line rate less its code, and what is left for data in practice.
//!
//! Sources: Serial ATA 3.x and USB 2.0 (8 of 10 bits, 13 bulk packets of 512 bytes in a microframe), USB 3.2 (8b/10b at
//! 5 Gbit/s, 128b/132b above), PCI Express base specification (8b/10b up to 5 GT/s, 128b/130b from 8 GT/s on). The
//! share that is left for data is what good devices reach on them.

use kurabe_core::environment::Link;
use kurabe_core::{Text, text};

/// A connection's most.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ceiling {
    /// `SATA at 6 Gbit/s`.
    pub(crate) name: Text,
    /// Bytes per second after the line code: nothing is faster.
    pub(crate) raw: f64,
    /// Bytes of data per second that good devices reach.
    pub(crate) usual: f64,
    /// Whether nothing but the line itself ends at this share of it: packets take no other share by their size.
    pub(crate) exact: bool,
    /// Whether it carries one command at a time, so that its rate depends on the bridge.
    pub(crate) one_command: bool,
    /// `PCIe 3 ×4`, if the device can more than it is given.
    pub(crate) could: Option<f64>,
}

/// Parallel ATA of so many MB/s: bytes go beside one another, so there is no line code.
pub(crate) fn parallel(megabytes_per_s: f64) -> Ceiling {
    Ceiling {
        name: text!("ATA/{megabytes_per_s}", "ATA/{megabytes_per_s}"),
        raw: megabytes_per_s * 1e6,
        usual: megabytes_per_s * 1e6 * 0.93,
        exact: true,
        one_command: false,
        could: None,
    }
}

/// What a link carries; `None` where nobody tells its rate, or it has none.
pub(crate) fn ceiling(link: &Link) -> Option<Ceiling> {
    match link {
        Link::Sata { speed_gbit_per_s, speed_max_gbit_per_s, .. } => {
            let speed = speed_gbit_per_s.filter(|speed| *speed > 0.0)?;
            let raw = |gbit: f64| gbit * 1e9 * 0.8 / 8.0;
            Some(Ceiling {
                name: text!("SATA at {speed} Gbit/s", "SATA {speed} Gbit/s"),
                raw: raw(speed),
                usual: raw(speed) * 0.92,
                exact: true,
                one_command: false,
                could: speed_max_gbit_per_s.filter(|most| *most > speed).map(raw),
            })
        }
        Link::Usb { speed_mbit_per_s, protocol, .. } => {
            let speed = speed_mbit_per_s.filter(|speed| *speed > 0.0)?;
            let (raw, usual) = match speed {
                speed if speed <= 12.0 => (speed * 1e6 / 8.0, 1.1e6 * speed / 12.0),
                speed if speed <= 480.0 => (speed * 1e6 / 8.0, 42e6),
                speed if speed <= 5000.0 => (speed * 1e6 * 0.8 / 8.0, 420e6),
                speed => {
                    let raw = speed * 1e6 * 128.0 / 132.0 / 8.0;
                    (raw, raw * 0.87)
                }
            };
            let bot = protocol.as_deref().is_some_and(|protocol| protocol.eq_ignore_ascii_case("bot"));
            let (what, what_ja) =
                if bot { (" (one command at a time)", "(コマンドは 1 つずつ)") } else { ("", "") };
            Some(Ceiling {
                name: text!("USB at {speed} Mbit/s{what}", "USB {speed} Mbit/s{what_ja}"),
                raw,
                usual,
                exact: speed <= 480.0,
                one_command: bot,
                could: None,
            })
        }
        Link::Pcie { speed_gt_per_s, width, speed_max_gt_per_s, width_max } => {
            let (speed, width) = ((*speed_gt_per_s)?, (*width)?);
            let raw = |speed: f64, width: u32| {
                let code = if speed < 8.0 { 0.8 } else { 128.0 / 130.0 };
                speed * 1e9 * code / 8.0 * f64::from(width)
            };
            let most = raw(speed_max_gt_per_s.unwrap_or(speed), width_max.unwrap_or(width));
            let now = raw(speed, width);
            (now > 0.0).then(|| Ceiling {
                name: text!("PCIe at {speed} GT/s ×{width}", "PCIe {speed} GT/s ×{width}"),
                raw: now,
                usual: now * 0.88,
                exact: false,
                one_command: false,
                could: (most > now * 1.01).then_some(most),
            })
        }
        Link::Virtio | Link::Loop { .. } | Link::Memory | Link::Other { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(link: &Link) -> (f64, f64) {
        let found = ceiling(link).expect("a rate");
        ((found.raw / 1e6).round(), (found.usual / 1e6).round())
    }

    #[test]
    fn the_code_of_the_line_is_taken_off() {
        let sata = |speed| Link::Sata {
            speed_gbit_per_s: Some(speed),
            speed_max_gbit_per_s: Some(6.0),
            ncq_depth: None,
        };
        assert_eq!(of(&sata(6.0)), (600.0, 552.0));
        assert_eq!(of(&sata(1.5)), (150.0, 138.0));
        assert!(ceiling(&sata(3.0)).unwrap().could.is_some() && ceiling(&sata(6.0)).unwrap().could.is_none());
        let usb = |speed| Link::Usb { speed_mbit_per_s: Some(speed), protocol: None, version: None };
        assert_eq!(of(&usb(480.0)), (60.0, 42.0));
        assert_eq!(of(&usb(5000.0)), (500.0, 420.0));
        assert_eq!(of(&usb(10_000.0)).0, 1212.0);
        let pcie = |speed, width| Link::Pcie {
            speed_gt_per_s: Some(speed),
            width: Some(width),
            speed_max_gt_per_s: Some(8.0),
            width_max: Some(4),
        };
        assert_eq!(of(&pcie(8.0, 4)).0, 3938.0);
        assert_eq!(of(&pcie(2.5, 1)).0, 250.0);
        assert!(ceiling(&pcie(8.0, 2)).unwrap().could.is_some());
    }

    #[test]
    fn what_has_no_rate_has_no_ceiling() {
        assert_eq!(ceiling(&Link::Virtio), None);
        let unknown = Link::Sata { speed_gbit_per_s: None, speed_max_gbit_per_s: Some(6.0), ncq_depth: None };
        assert_eq!(ceiling(&unknown), None);
    }
}
