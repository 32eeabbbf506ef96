use super::*;
use kurabe_core::Lang;
use kurabe_core::profile::{IoStep, Tracked};
use kurabe_core::workload::{
    AccessZone, Arrival, BlockSize, BlocksInOrder, Direction, End, EndSync, FioPlaces, Flow, LatencyTarget,
    OpenLoop, Pattern, Processors, Thinking, ThreadShare,
};
use proptest::prelude::*;

fn steps(source: &str) -> Vec<IoStep> {
    let job = read_fio_job("a/job.fio", source, &NoSurroundings)
        .unwrap_or_else(|error| panic!("{}", error.render(Lang::En)));
    let step = |step: Step| match step {
        Step::Io(step) => *step,
        other => panic!("{other:?}"),
    };
    job.profile.steps.into_iter().map(step).collect()
}

fn step(options: &str) -> IoStep {
    steps(&format!("[global]\nfilename=/x\nsize=1g\nioengine=libaio\n[a]\n{options}")).remove(0)
}

#[test]
fn sections_are_steps_and_global_holds_for_those_behind_it() {
    let source = "; a comment\n[global]\ndirect=1\nioengine=io_uring\nsize=64m\nfilename=/mnt/x\nbs=4k\n\n\
        [seq]\nrw=write\nbs=1M\n\
        # another\n[rand read]\nstonewall\nrw=randread\niodepth=8\nruntime=30\ntime_based\nnorandommap\n";
    let job = read_fio_job("jobs/mine.fio", source, &NoSurroundings).unwrap();
    let Profile { name, rules, differs, .. } = &job.profile;
    assert_eq!((name.as_str(), rules.direct, rules.size_bytes, rules.runs), ("mine.fio", true, 64 << 20, 1));
    assert!(differs.as_ref().unwrap().en.contains("--runs"));
    assert_eq!(job.access.target.as_deref(), Some("/mnt/x"));
    let [one, two] = <[IoStep; 2]>::try_from(steps(source)).unwrap();
    assert_eq!(
        (&one.directions[..], one.pattern, one.iodepth),
        (&[Direction::Write][..], Pattern::Sequential, 1)
    );
    assert_eq!(one.block_sizes, [BlockSize { size_bytes: 1 << 20, weight: 1 }]);
    assert_eq!(one.end, End { passes: Some(1), ..End::default() });
    assert_eq!(
        (two.label.as_deref(), two.pattern, two.iodepth),
        (Some("RND 4 KiB Q8 T1 · rand read"), Pattern::Random, 8)
    );
    assert_eq!(two.end, End { time_ns: Some(30_000_000_000), ..End::default() });
    // No job is longer than the others of the run, as in fio's results.
    assert_eq!(rules.time_ns, 30_000_000_000);
}

#[test]
fn a_cell_is_called_by_its_work_and_its_job() {
    let label = |name: &str| {
        steps(&format!("[{name}]\nioengine=libaio\nsize=1m\nrw=read\nbs=1m\niodepth=8\n")).remove(0).label
    };
    let called = |name: &str| label(name).unwrap();
    assert_eq!(called("db"), "SEQ 1 MiB Q8 T1 · db");
    for written_by_kurabe in ["SEQ 1 MiB Q8 T1 read", "SEQ 1 MiB Q8 T1 · db read"] {
        assert_eq!(called(written_by_kurabe), written_by_kurabe.replace(" read", ""));
    }
}

#[test]
fn each_option_is_what_fio_means_by_it() {
    assert_eq!(step("bs=4k").block_sizes[0].size_bytes, 4096);
    assert_eq!(step("bs=4kB").block_sizes[0].size_bytes, 4096);
    assert_eq!(step("kb_base=1000\nbs=4k").block_sizes[0].size_bytes, 4000);
    assert_eq!(step("rw=randwrite\nbs=4k,16k").block_sizes[0].size_bytes, 16384);
    assert_eq!(step("bssplit=4k/90:64k/10").block_sizes[1], BlockSize { size_bytes: 65536, weight: 10 });
    assert_eq!(step("rw=randread").pattern, Pattern::Permutation);
    assert_eq!(step("rw=randread\nrandom_distribution=zipf:1.2").pattern, Pattern::Zipf { exponent: 1.2 });
    assert_eq!(step("rw=randread\nrandom_distribution=pareto:0.3").pattern, Pattern::Pareto { skew: 0.3 });
    let zoned = step("rw=randread\nrandom_distribution=zoned:90/10:10/90");
    assert_eq!(zoned.zones[1], AccessZone { access_percent: 10, span_percent: 90 });
    assert_eq!(step("rw=read:-8k").pattern, Pattern::Strided { run_bytes: None, gap_bytes: -8192 });
    let zones = Pattern::Strided { run_bytes: Some(1 << 20), gap_bytes: 3 << 20 };
    assert_eq!(step("zonemode=strided\nzonesize=1m\nzonerange=2m\nzoneskip=2m").pattern, zones);
    assert_eq!(step("rw=randread:8").in_order, Some(BlocksInOrder::Blocks(8)));
    assert_eq!(step("rw=randrw\npercentage_random=30,40").in_order, Some(BlocksInOrder::Percent(70)));
    assert_eq!(step("rw=read\npercentage_random=30").in_order, None);
    assert_eq!(step("numjobs=3\nflow=2\nflow_id=7").flow, Some(Flow { weight: 6, group: 7 }));
    let target = LatencyTarget { latency_ns: 500_000, percentile: 99.9, window_ns: 5_000_000_000 };
    let seeking =
        step("iodepth=128\nioengine=libaio\nlatency_target=500\nlatency_window=5s\nlatency_percentile=99.9");
    assert_eq!(seeking.latency_target, Some(target));
    assert!(step("exitall").ends_all && !step("exitall=0").ends_all);
    assert_eq!(step("rw=randrw\nrwmixwrite=30").read_percent, 70);
    let mixed = step("rw=randrw\nbs=4k,64k");
    assert_eq!((mixed.block_sizes[0].size_bytes, mixed.write_block_sizes[0].size_bytes), (4096, 65536));
    assert_eq!(step("bsrange=4k-16k").block_sizes.len(), 4);
    // A size without a share gets the remainder.
    let split: Vec<u32> = step("bssplit=4k/60:8k/:64k/").block_sizes.iter().map(|size| size.weight).collect();
    assert_eq!(split, [120, 40, 40]);
    assert_eq!(step("size=(2*512m)").span_bytes, Some(1 << 30));
    let pause = step("thinktime=500\nthinktime_blocks=4").thinking;
    assert_eq!(pause, Some(Thinking { time_ns: 500_000, every_operations: 4 }));
    assert_eq!(step("rw=rw").read_percent, 50);
    assert_eq!(
        step("timeout=2m\nio_limit=8m").end,
        End { time_ns: Some(120_000_000_000), bytes: Some(8 << 20), ..End::default() }
    );
    assert_eq!(step("loops=3").end.passes, Some(3));
    assert_eq!(step("number_ios=100\nbs=8k").end.bytes, Some(819_200));
    assert_eq!(step("ramp_time=5").warm_up_ns, 5_000_000_000);
    let sync = step("rw=write\nsync=1\nfsync=8\nend_fsync=1").sync;
    assert_eq!((sync.o_sync, sync.every_writes, sync.at_end), (true, Some(8), EndSync::Timed));
    let data_only = step("rw=write\nfdatasync=1").sync;
    assert_eq!((data_only.data_only, data_only.every_writes), (true, Some(1)));
    let pages = step("rw=write\nsync_file_range=wait_before,write:8").sync;
    assert_eq!((pages.page_range_flags, pages.every_writes), (Some(3), Some(8)));
    let rate = OpenLoop { rate_iops: 256.0, arrival: Arrival::Even };
    assert_eq!(step("rw=write\nbs=4k\nrate=1m").open_loop, Some(rate));
    let poisson = OpenLoop { rate_iops: 300.0, arrival: Arrival::Poisson };
    assert_eq!(step("rw=randrw\nrate_iops=100,50\nrate_process=poisson\nnumjobs=2").open_loop, Some(poisson));
    assert_eq!(step("rw=write\nzero_buffers").data, Some(Data::Zero));
    let discards = |options: &str| {
        let step = step(options);
        (step.directions[0], step.pattern.is_sequential(), step.trims)
    };
    assert_eq!(discards("rw=randtrim"), (Direction::Write, false, Some(Trims::Only)));
    assert_eq!(discards("rw=trimwrite"), (Direction::Write, true, Some(Trims::BeforeWrites)));
    assert_eq!(step("rw=trimwrite\niodepth=8").label().split(" · ").next(), Some("SEQ 4 KiB Q1 T1"));
    let on = |numbers: &[u32], one_each| Some(Processors { numbers: numbers.to_vec(), one_each });
    assert_eq!(step("cpus_allowed=0,2-4").processors, on(&[0, 2, 3, 4], false));
    assert_eq!(step("cpumask=34\ncpus_allowed_policy=split").processors, on(&[1, 5], true));
    assert_eq!((step("offset=1m").offset_bytes, step("fileoffset=1m").offset_bytes), (1 << 20, 1 << 20));
}

#[test]
fn jobs_of_a_section_cover_what_fios_cover() {
    let share = |options: &str| {
        let step = step(options);
        (step.thread_share, step.span_bytes, step.end.passes)
    };
    let gib: u64 = 1 << 30;
    assert_eq!(share("numjobs=2"), (ThreadShare::Whole, Some(gib), Some(1)));
    assert_eq!(share("numjobs=2\noffset_increment=1g"), (ThreadShare::Usual, Some(2 * gib), Some(1)));
    assert_eq!(share("numjobs=2\nrw=randread"), (ThreadShare::Whole, Some(gib), Some(1)));
    assert_eq!(
        share("numjobs=2\nrw=randread\noffset_increment=1g"),
        (ThreadShare::Parts, Some(2 * gib), Some(1))
    );
    let drawn = step("numjobs=2\nrw=randread\nnorandommap");
    assert_eq!((drawn.thread_share, drawn.end.bytes), (ThreadShare::Usual, Some(2 * gib)));
    // Without a file name, each job has its own file.
    let own = steps("[a]\nnumjobs=4\nsize=1m\nrw=randread\n").remove(0);
    assert_eq!((own.thread_share, own.span_bytes), (ThreadShare::Parts, Some(4 << 20)));
}

#[test]
fn random_places_are_fios_where_it_has_one_size_and_one_law() {
    let places = |options: &str| step(&format!("bs=4k\nrw=randread\n{options}")).fio_places;
    let own = FioPlaces { seed: None, first_job: 1, is_old: false, is_wide: false };
    assert_eq!(places(""), Some(own));
    assert_eq!(places("randseed=5"), Some(FioPlaces { seed: Some(5), ..own }));
    assert_eq!(places("random_generator=tausworthe64"), Some(FioPlaces { is_wide: true, ..own }));
    for others in
        ["randrepeat=0", "random_generator=lfsr", "bs=4k,8k\nrw=randrw", "rw=randread:4", "rw=read", "ba=8k"]
    {
        assert_eq!(places(others), None, "{others}");
    }
    // Jobs are counted over all sections.
    let numbers = steps(
        "[global]\nfilename=/x\nsize=1m\nrw=randread\n[a]\nnumjobs=3\n[b]\nnumjobs=2\noffset_increment=2m\n[c]\n",
    );
    let numbers: Vec<_> =
        numbers.iter().filter_map(|step| step.fio_places).map(|places| places.first_job).collect();
    assert_eq!(numbers, [1, 4, 5, 6]);
    assert!(is_before_3_35("fio-3.33") && is_before_3_35("fio-2.21.1-dirty"));
    assert!(!is_before_3_35("fio-3.35") && !is_before_3_35("fio-4.0") && !is_before_3_35("/usr/bin/fio"));
}

#[test]
fn a_job_that_is_to_become_steady_is_rounds() {
    let rounds = |options: &str| {
        let file = format!("[a]\nfilename=/x\nsize=1m\nruntime=100\ntime_based\n{options}");
        read_fio_job("a.fio", &file, &NoSurroundings).map(|job| (job.profile.rounds, job.profile.steps))
    };
    let (Some(rounds_of_iops), steps) = rounds("steadystate=iops:5%\nss_dur=10").unwrap() else {
        panic!("no rounds")
    };
    assert_eq!((rounds_of_iops.most, rounds_of_iops.window, rounds_of_iops.excursion_percent), (50, 5, 10.0));
    let Step::Io(step) = &steps[0] else { panic!("a step") };
    assert_eq!(step.end, End { time_ns: Some(2_000_000_000), ..End::default() });
    let (Some(of_slope), _) = rounds("steadystate=bw_slope:0.3%\nss_dur=10").unwrap() else {
        panic!("no rounds")
    };
    assert!((of_slope.slope_percent - 2.7).abs() < 1e-9 && of_slope.tracked == Tracked::Rate);
    for wrong in ["steadystate=iops:5", "steadystate=lat:5%", "steadystate=iops:5%\nss_dur=0"] {
        assert!(rounds(wrong).is_err(), "{wrong}");
    }
    assert!(rounds("steadystate=iops:5%\nss_dur=10\n[b]\nstonewall\nfilename=/x\n").is_err());
}

#[test]
fn jobs_that_do_not_wait_run_beside_each_other() {
    let on_one = steps(
        "[global]\nfilename=/x\nsize=1g\n[a]\n[b]\nrw=write\nstartdelay=2\n[c]\nstonewall\n[d]\nwait_for=c\n",
    );
    assert_eq!(on_one.iter().map(|step| step.beside).collect::<Vec<_>>(), [false, true, false, false]);
    assert_eq!((on_one[1].start_delay_ns, on_one[1].offset_bytes), (2_000_000_000, 0));
    // Jobs of one section whose parts are not adjacent are separate steps.
    let spread = steps("[a]\nfilename=/x\nsize=1m\nnumjobs=3\noffset_increment=4m\n");
    let places: Vec<(u64, bool)> = spread.iter().map(|step| (step.offset_bytes, step.beside)).collect();
    assert_eq!(places, [(0, false), (4 << 20, true), (8 << 20, true)]);
    // The same applies to parts in percent.
    let parts = steps("[a]\nfilename=/x\nsize=25%\noffset=10%\nnumjobs=3\noffset_increment=30%\n");
    let places: Vec<_> = parts.iter().map(|step| step.span_percent).collect();
    assert_eq!(places, [Some((10, 25)), Some((40, 25)), Some((70, 25))]);
    assert_eq!(
        parts[1].workload(&Rules::once(), Direction::Read, 1 << 20).offset_bytes,
        (1 << 20) * 2 / 5 / 4096 * 4096
    );
    // Each has its own file: here a part of one file.
    let apart = steps("[global]\nsize=1m\n[a]\n[b]\nsize=2m\n[c]\noffset=64k\n");
    let places: Vec<u64> = apart.iter().map(|step| step.offset_bytes).collect();
    assert_eq!(places, [0, 1 << 20, (3 << 20) + (64 << 10)]);
}

#[test]
fn jobs_that_wait_and_go_elsewhere_are_runs_of_their_own() {
    let jobs = "[global]\nsize=1m\n[a]\nfilename=/dev/null\nrw=write\n[b]\nfilename=/dev/zero\n";
    let line = |source: String| FioLine { source, ..FioLine::default() };
    let runs =
        read_fio_jobs(&line(format!("{jobs}stonewall\n[c]\nfilename=/dev/zero\n")), &NoSurroundings).unwrap();
    let targets: Vec<_> =
        runs.iter().map(|job| (job.access.target.as_deref(), job.profile.steps.len())).collect();
    assert_eq!(targets, [(Some("/dev/null"), 1), (Some("/dev/zero"), 2)]);
    // They cannot run concurrently, and a single job file is one run.
    for jobs in [jobs.to_owned(), format!("{jobs}stonewall\n")] {
        let error = read_fio_job("a.fio", &jobs, &NoSurroundings).unwrap_err();
        assert!(error.to_string().contains("filename"), "{error}");
    }
    assert!(read_fio_jobs(&line(jobs.to_owned()), &NoSurroundings).is_err());
}

#[test]
fn a_command_line_is_a_job_file() {
    let read = |line: &str| {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        read_fio_line(&words)
    };
    let line = read(
        "--bs=8k --name=a -rw=write --size 1m --direct 1 --group_reporting --name=b --time_based \
         --runtime=5 --size=1m --eta=never",
    );
    let line = line.unwrap();
    assert_eq!(
        line.source,
        "[global]\nbs=8k\n[a]\nrw=write\nsize=1m\ndirect=1\ngroup_reporting\n[b]\ntime_based\nruntime=5\nsize=1m\n"
    );
    assert_eq!(line.idle[0].0, "--eta");
    let jobs = read_fio_jobs(&FioLine { sections: vec!["b".to_owned()], ..line }, &NoSurroundings).unwrap();
    assert_eq!(jobs.iter().map(|job| job.profile.steps.len()).collect::<Vec<_>>(), [1]);
    // Sections that are not requested are not parsed, as in fio.
    let line = read("--section=a --name=a --size=1m --name=b --rw=${NOBODY}").unwrap();
    assert!(read_fio_jobs(&line, &NoSurroundings).is_ok());
    for (line, part) in [
        ("--name=a --iodpeth=3", "did you mean --iodepth?"),
        ("--name=a --bs", "--bs has no value"),
        ("--bs=4k", "no job"),
        ("--client=host --name=a", "the fio program itself"),
    ] {
        let message = read(line).unwrap_err().render(Lang::En);
        assert!(message.contains(part), "{line}: {message}");
    }
}

#[test]
fn an_engine_without_a_queue_has_none_here_either() {
    let source = "[a]\nsize=1m\niodepth=32\n";
    let job = read_fio_job("a.fio", source, &NoSurroundings).unwrap();
    assert_eq!(steps(source)[0].iodepth, 1);
    assert!(job.profile.differs.unwrap().en.contains("iodepth=32 of [a] is effectively 1"));
    assert_eq!(step("iodepth=32").iodepth, 32);
}

#[test]
fn what_is_mapped_is_buffered_and_a_trim_has_nothing_to_do_with_that() {
    let job = |source: &str| read_fio_job("a.fio", source, &NoSurroundings).unwrap();
    let mapped = "[a]\nioengine=mmap\nrw=write\nsize=1m\niodepth=4\ndirect=1\n";
    let (read, step) = (job(mapped), steps(mapped).remove(0));
    assert!(read.access.is_mapped && !read.profile.rules.direct);
    assert_eq!((step.iodepth, step.sync.o_sync), (1, true), "msync follows each write");
    assert!(!steps(&mapped.replace("direct=1", "sync=1"))[0].sync.o_sync, "as in fio");
    // A trim can be combined with both.
    let beside = "[global]\nfilename=/x\nsize=1m\n[t]\nrw=randtrim\n[a]\ndirect=1\n";
    assert!(job(beside).profile.rules.direct);
    let error = read_fio_job("a.fio", &format!("{beside}[b]\n"), &NoSurroundings).unwrap_err();
    assert!(error.to_string().contains("`direct` differs"), "{error}");
}

#[test]
fn what_cannot_be_done_is_refused_by_name_and_line() {
    for (source, line, parts) in [
        ("[a]\nsize=1m\nverify=crc32c\n", 1, ["could be verified", "verify="]),
        ("[a]\nsize=1m\niodpeth=3\n", 3, ["`iodpeth`", "`iodepth`"]),
        ("[a]\nsize=1m\nbs=4q\n", 3, ["bs=4q", "4k"]),
        ("[a]\nrw=trimread\n", 2, ["rw=trimread", "trimwrite"]),
        ("[a]\nrw=trim\nbs=4k,4k,8k\n", 3, ["bs=4k,4k,8k", "writes and trims"]),
        ("[a]\nrw=trim\nsize=1m\nverify=md5\n", 1, ["could be verified", "verify="]),
        ("[a]\ncpus_allowed=3-1\n", 2, ["cpus_allowed=3-1", "0,5,8-15"]),
        ("[a]\nioengine=mmap\nsize=1m\n[b]\nsize=1m\n", 4, ["`ioengine` differs", "stonewall"]),
        ("[a]\nrw=randread:x\n", 2, ["rw=randread:x", "COUNT"]),
        ("[a]\n[b]\nsize=1m\n", 1, ["the file sizes of concurrent jobs", "size="]),
        ("[a]\ndirect=1\n[b]\nstonewall\ndirect=0\n", 5, ["`direct` differs", "kurabe fio"]),
        ("[a]\nioengine=rados\n", 2, ["ioengine=rados", "io_uring"]),
        ("[a]\ntime_based\n", 2, ["no runtime", "runtime=30"]),
        ("[a]\nsize=${SIZE}\n", 2, ["variable `SIZE`", "value"]),
        ("[a]\nsize=(4*k)\n", 2, ["not an arithmetic expression", "value"]),
        ("include other.fio\n", 0, ["other.fio cannot", "include"]),
        ("[a]\niodepth\n", 2, ["has no value", "iodepth=VALUE"]),
        ("[a]\nzonemode=zbd\n", 2, ["zonemode=zbd", "strided"]),
        ("[a]\nfsync=1\nfdatasync=1\n", 3, ["fdatasync=1", "one of"]),
        ("size=4k\n", 1, ["before the first section", "[global]"]),
        ("[a]\nsize=1m\nlatency_target=1ms\n[b]\nsize=1m\n", 1, ["with a single job", "stonewall"]),
        ("[a]\nread_iolog=x\n", 2, ["`read_iolog`", "trace"]),
    ] {
        let error = read_fio_job("a.fio", source, &NoSurroundings).unwrap_err();
        let message = error.render(Lang::En);
        assert_eq!(error.place().map_or(0, |place| place.line), line, "{message}");
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
        assert!(error.remedy_text().is_some_and(|remedy| remedy.ja != remedy.en), "{message}");
    }
    assert!(
        read_fio_job("a.fio", "[global]\nsize=1m\n", &NoSurroundings)
            .unwrap_err()
            .render(Lang::Ja)
            .contains("ジョブがありません")
    );
}

/// Returns the supported options of job files.
fn done() -> Vec<&'static str> {
    let groups = fio_options().iter().filter(|group| group.kind == FioOptionKind::Done && !group.of_line);
    groups.flat_map(|group| &group.names).map(String::as_str).collect()
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(source in ".{0,300}") {
        let _ = read_fio_job("a.fio", &source, &NoSurroundings);
    }

    #[test]
    fn any_values_make_a_sound_step_or_an_error(
        options in prop::collection::vec((prop::sample::select(done()), "[0-9a-z:,/%.]{0,8}"), 0..8),
    ) {
        let lines: String = options.iter().map(|(name, value)| format!("{name}={value}\n")).collect();
        if let Ok(job) = read_fio_job("a.fio", &format!("[a]\n{lines}"), &NoSurroundings) {
            let Step::Io(step) = &job.profile.steps[0] else { panic!("a step") };
            prop_assert!(step.end.is_given() && step.iodepth > 0 && step.threads > 0);
            prop_assert!(step.block_sizes.iter().all(|block| block.size_bytes > 0 && block.weight > 0));
            prop_assert!(!job.profile.tasks(1 << 20).is_empty());
        }
    }
}
