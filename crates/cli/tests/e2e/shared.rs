//! A shared database: runs are pushed to it, queried there, and pulled from it.

use crate::lab::{Ended, Lab, Live, SHORT, list_of, names};
use kurabe_testkit::needs::skip;
use kurabe_testkit::postgres::{PASSWORD, PostgresServer};

/// Starts a PostgreSQL server, or reports the skipped test.
fn server() -> Option<PostgresServer> {
    PostgresServer::start().map_err(skip).ok()
}

/// Returns a store with two runs of one target.
fn measured() -> Lab {
    let lab = Lab::new();
    for firmware in ["firmware=1", "firmware=2"] {
        lab.run(&lab.target(), &[&SHORT[..], &["--label", firmware]].concat()).ok();
    }
    lab
}

/// Runs kurabe and checks that its output does not contain the password.
fn kurabe(lab: &Lab, words: &[&str]) -> Ended {
    let ended = lab.kurabe(words);
    assert!(
        !format!("{}{}", ended.out, ended.err).contains("s3cret"),
        "{words:?}\n{}{}",
        ended.out,
        ended.err
    );
    ended
}

#[test]
fn runs_are_sent_once_asked_for_from_everywhere_and_taken_home() {
    let Some(server) = server() else { return };
    let (here, away) = (measured(), measured());
    let address = server.address("owner", PASSWORD);
    assert!(kurabe(&here, &["push", &address, "last"]).ok().out.starts_with("1 sent, 0 already present"));
    assert!(kurabe(&here, &["push", &address]).ok().out.starts_with("1 sent, 1 already present"));
    let line = &kurabe(&away, &["push", &address, "--json"]).ok().json_lines()[0];
    assert_eq!((line["event"].as_str(), line["brought"].as_u64()), (Some("exchanged"), Some(2)));
    let shared = |words: &[&str]| kurabe(&here, &[words, &["--db", &address]].concat());
    assert_eq!(shared(&["list", "--json"]).ok().json_lines().len(), 4);
    assert_eq!(shared(&["list", "--json", "--last", "1"]).ok().json_lines().len(), 1);
    let pivoted = &shared(&["compare", "--by", "label:firmware", "--json"]).ok().json_lines()[0];
    assert_eq!(pivoted["pivot"]["run_count"], 4);
    assert_eq!(list_of(&pivoted["pivot"]["columns"]).len(), 2);
    // The server's aggregates match those of the individual runs.
    let all = away.beside("all.db").display().to_string();
    kurabe(&away, &["pull", &address, "--db", &all]).ok();
    for words in [
        &["--by", "label:firmware"][..],
        &["--by", "label:firmware,month", "--baseline", "1"],
        &["--by", "run"],
        &["--by", "kernel,date"],
    ] {
        let asked = |store: &str| {
            let ended = kurabe(&away, &[&["compare", "--db", store], words].concat());
            (ended.code(), ended.out, ended.err)
        };
        assert_eq!(asked(&address), asked(&all), "{words:?}");
    }
    let own = here.list()[0]["id"].as_str().unwrap().to_owned();
    for words in [
        &["show"][..],
        &["history"],
        &["why"],
        &["compare", &own, "last"],
        &["export"],
        &["report", "-o", "-"],
    ] {
        assert!(!shared(words).ok().out.is_empty(), "{words:?}");
    }
    // Only runs measured elsewhere are fetched.
    assert!(kurabe(&here, &["pull", &address]).ok().out.starts_with("2 fetched, 2 already present"));
    assert_eq!(here.list().len(), 4);
    assert_eq!(kurabe(&here, &["pull", &address]).ok().out, "0 fetched, 4 already present.\n");
    let store = std::fs::read(here.store()).unwrap();
    assert!(!store.windows(6).any(|bytes| bytes == b"s3cret"), "no password is stored");
}

#[test]
fn what_measures_or_changes_is_refused_with_the_remedy() {
    let Some(server) = server() else { return };
    let lab = measured();
    let address = server.address("owner", PASSWORD);
    kurabe(&lab, &["list", "--db", &address]).is_refusal(12, &["contains no runs yet", "kurabe push"]);
    kurabe(&lab, &["push", &address]).ok();
    let target = lab.target().display().to_string();
    let refused = [
        &["run", target.as_str()][..],
        &["label", "last", "a=b"],
        &["rm", "last"],
        &["versus", "model:samsung-980", "model:wd-red-3tb"],
        &["import", "x.json"],
        &["push", &address],
        &["check"],
        &["sweep", "model:samsung-980"],
        &["doctor"],
    ];
    for words in refused {
        kurabe(&lab, &[words, &["--db", &address]].concat())
            .is_refusal(2, &["does not measure into it", "kurabe push"]);
    }
    assert_eq!(kurabe(&lab, &["list", "--json", "--db", &address]).ok().json_lines().len(), 2);
}

#[test]
fn what_cannot_be_sent_stays_and_is_said_without_a_password() {
    let Some(server) = server() else { return };
    let lab = measured();
    let address = server.address("owner", PASSWORD);
    kurabe(&lab, &["push", &address]).ok();
    // The stored run was changed: the other run is present, and this one is refused by name.
    server
        .sql(
            "lab",
            "UPDATE kurabe.runs SET record = replace(record, '\"status\":\"complete\"', \
            '\"status\":\"failed\"'), record_sha256 = sha256(convert_to(replace(record, \
            '\"status\":\"complete\"', '\"status\":\"failed\"'), 'UTF8')) WHERE arrival = 1",
        )
        .unwrap();
    let first = lab.list()[0]["id"].as_str().unwrap().to_owned();
    let ended = kurabe(&lab, &["push", &address]);
    assert!(
        ended.code() == Some(6) && ended.err.contains(&format!("remain where they were: {first}")),
        "{}",
        ended.err
    );
    assert!(ended.out.starts_with("0 sent, 1 already present"), "{}", ended.out);
    // Without a server, with a wrong password, and with an address where none is allowed.
    kurabe(&lab, &["push", "--quiet", &server.address("owner", "wrong-s3cret")]).is_refusal(9, &["pgpass"]);
    for words in [
        &["show", &address][..],
        &["push", "postgre://a:s3cret@b/c"],
        &["list", &address],
        &["push", &address, "--nothing"],
        &["push", "postgres://a:s3cret@b:x/c"],
        &["--json", "show", &address],
        &["pusch", &address],
    ] {
        assert_ne!(kurabe(&lab, words).code(), Some(0), "{words:?}");
    }
    server.stop("immediate");
    kurabe(&lab, &["push", &address]).is_refusal(9, &["runs stored on this machine are unaffected"]);
    assert_eq!(lab.list().len(), 2);
}

/// Command lines with ADDRESS as a placeholder; no server is listening.
const WITH_ADDRESS: [&str; 35] = [
    "list --db ADDRESS",
    "list --db=ADDRESS",
    "--json list --db ADDRESS",
    "list ADDRESS",
    "show ADDRESS",
    "show --db ADDRESS",
    "why ADDRESS",
    "why --db ADDRESS",
    "compare ADDRESS last",
    "compare --by model --db ADDRESS",
    "history --db ADDRESS",
    "recommend --for desktop ADDRESS",
    "report ADDRESS",
    "report --db ADDRESS",
    "card ADDRESS",
    "card --db ADDRESS",
    "export ADDRESS",
    "export -o ADDRESS",
    "import ADDRESS",
    "import --db ADDRESS -",
    "check ADDRESS",
    "check --db ADDRESS",
    "rm ADDRESS",
    "label ADDRESS a=b",
    "push ADDRESS",
    "push --json ADDRESS",
    "pull ADDRESS",
    "run ADDRESS",
    "run --db ADDRESS .",
    "fio ADDRESS",
    "versus ADDRESS .",
    "sweep ADDRESS",
    "serve ADDRESS --db ADDRESS",
    "pusch ADDRESS",
    "ADDRESS",
];

#[test]
fn no_command_repeats_a_password_wherever_the_address_was_typed() {
    let lab = Lab::new();
    let addresses = [
        "postgres://aki:s3cret@127.0.0.1:1/lab",
        "postgres://aki:s3c@s3cret@127.0.0.1:1/lab",
        "postgres://aki:s3/c?s3cret#@127.0.0.1:1/lab",
        "postgres://aki@127.0.0.1:1/lab?password=s3cret",
        "postgresql://aki:%73s3cret@127.0.0.1:x/lab",
        "host=127.0.0.1 port=1 user=aki password=s3cret dbname=lab",
        "host=127.0.0.1 port=1 password='s 3cret s3cret",
        "aki:s3cret@127.0.0.1/lab",
    ];
    let below = lab.beside("below");
    std::fs::create_dir(&below).expect("a directory");
    for words in WITH_ADDRESS {
        for address in addresses {
            let words: Vec<String> = words.split(' ').map(|word| word.replace("ADDRESS", address)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let mut command = lab.command(&words);
            command.current_dir(&below);
            let ended = Live::start(command).end();
            assert_ne!(ended.code(), Some(0), "{words:?}: {ended:#?}");
            assert!(!format!("{}{}", ended.out, ended.err).contains("s3cret"), "{words:?}: {ended:#?}");
            assert_eq!(names(&below), [""; 0], "{words:?} makes a file");
        }
    }
}
