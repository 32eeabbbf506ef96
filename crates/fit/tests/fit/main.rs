//! Hidden devices.
mod hidden;
use hidden::NoisyBench;
use kurabe_core::random::Random;
use kurabe_fit::*;
use kurabe_program::Stop;
use kurabe_sim::ModelTarget;

fn cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e9
}

const K: u32 = 1024;

fn held(writes: bool) -> Vec<ProbeWorkload> {
    use ProbeWorkload as P;
    let mut list = vec![
        P::random(8 * K, 4),
        P::sequential(32 * K, 1),
        P::random(128 * K, 8),
        P::sequential(512 * K, 4),
        P::random(768 * K, 1),
        P::random(12 * K, 16),
    ];
    if writes {
        list.extend([
            P::random(16 * K, 8).with(ProbeWrites::Percent(30)),
            P::random(8 * K, 2).writing(),
            P::sequential(512 * K, 4).writing(),
            P::sequential(64 * K, 1).with(ProbeWrites::Turns(12)),
            P::random(128 * K, 1).writing(),
        ]);
    }
    list
}

#[test]
fn try_out() {
    let env = |name: &str, other: &str| std::env::var(name).unwrap_or(other.to_owned());
    let all = Family::all().unwrap();
    let only = env("FAMILY", "usb-stick");
    let own = all.iter().find(|one| one.name == only).unwrap();
    let count: u64 = env("COUNT", "4").parse().unwrap();
    let from: u64 = env("FROM", "0").parse().unwrap();
    let noise: f64 = env("NOISE", "0.02").parse().unwrap();
    let span = if only == "fat-image" { 1_000_000_000 } else if own.is_mechanical() { 2_000_000_000_000 } else { 8_000_000_000 };
    let mut errs = Vec::new();
    let (mut inside, mut total) = (0, 0);
    for number in from..from + count {
        let mut random = Random::new(7, number);
        let point = own.draw(&mut random);
        let mut spec = own.device(&point, span).unwrap();
        if let Ok(truth) = std::env::var("TRUTH") {
            for one in truth.split(';') {
                let (path, value) = one.split_once('=').unwrap();
                spec.set(path, value).unwrap();
            }
        }
        let mut model = ModelTarget::new(&spec, 99).unwrap();
        let stop = Stop::default();
        let bench = kurabe_virtual::bench(&mut model, true, &stop);
        let mut bench = NoisyBench { bench, noise, random: Random::new(8, number) };
        let t = cpu();
        let fitted = fit(&mut bench, &all, number, FitLimits::USUAL, &mut |_| {}).unwrap();
        let m = &fitted.measured;
        println!(
            "--- {number} {} as {} {} misfit {:.2} noise {:.4} {} probes x{} {:.1} s device, {} evals {:.1} s; rivals {:?}",
            own.name, fitted.family.name, if fitted.is_explained { "explained" } else { "GATED" },
            fitted.misfit, fitted.noise, m.probes.len(), m.probes[0].times_ns.len(), m.probing_ns as f64 / 1e9,
            fitted.evaluations, cpu() - t, fitted.rivals,
        );
        for passes in [1, m.probes[0].times_ns.len()] {
            let truth = m.on_model(&spec, passes).unwrap();
            let noise = fitted.noise / (m.probes[0].times_ns.len() as f64).sqrt();
            let r: Vec<f64> = truth.iter().zip(&m.probes).map(|(a, p)| (a - p.log_time()) / noise).collect();
            let rms = (r.iter().map(|a| a * a).sum::<f64>() / r.len() as f64).sqrt();
            println!("    truth with {passes} passes: rms {rms:.2} {}", r.iter().map(|a| format!("{a:.1}")).collect::<Vec<_>>().join(" "));
        }
        for r in fitted.residuals.iter().take(if fitted.is_explained {1} else {6}) {
            println!("    {:?} {:.1} {:.1} {:.1}", r.workload, r.measured_ns, r.modelled_ns, r.errors);
        }
        if fitted.family.name == own.name {
            for (i, one) in own.free.iter().enumerate() {
                let mut v: Vec<f64> = fitted.samples.iter().map(|s| one.value_at(s[i])).collect();
                v.sort_by(f64::total_cmp);
                println!("    {:20} true {:>14} best {:>14} {:.5e} {:.5e}", one.path, own.written(i, &point), own.written(i, &fitted.point), v[0], v[v.len() - 1]);
            }
        }
        let held = held(true);
        let plan = m.planned(&held, 200);
        let truth = plan.on_model(&spec, 1).unwrap();
        let best = plan.on_model(&fitted.family.device(&fitted.point, m.span_bytes).unwrap(), 1).unwrap();
        let preds: Vec<Vec<f64>> = fitted.samples.iter().step_by(fitted.samples.len() / 40 + 1).filter_map(|p| plan.on_model(&fitted.family.device(p, m.span_bytes).ok()?, 1).ok()).collect();
        let mut words = String::new();
        for i in 0..held.len() {
            let mut v: Vec<f64> = preds.iter().map(|p| p[i] - truth[i]).collect();
            v.sort_by(f64::total_cmp);
            let mean = v.iter().sum::<f64>() / v.len() as f64;
            let sd = (v.iter().map(|a| (a - mean).powi(2)).sum::<f64>() / v.len() as f64).sqrt();
            let ok = (mean - 2.0 * sd - 1e-4 <= 0.0) && (mean + 2.0 * sd + 1e-4 >= 0.0);
            total += 1;
            inside += usize::from(ok);
            errs.push(((best[i] - truth[i]).exp() - 1.0).abs() * 100.0);
            words += &format!(" {:+.2} [{:+.1} {:+.1}]{}", (best[i] - truth[i]) * 100.0, (mean - 2.0 * sd) * 100.0, (mean + 2.0 * sd) * 100.0, if ok { "" } else { "!" });
        }
        println!("   held {words}");
    }
    errs.sort_by(f64::total_cmp);
    println!("held out: median {:.2} p90 {:.2} max {:.1}; inside {inside}/{total}", errs[errs.len() / 2], errs[errs.len() * 9 / 10], errs[errs.len() - 1]);
}
