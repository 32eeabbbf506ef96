//! The bytes of the protocol's text, and arbitrary bytes.

use super::*;
use proptest::prelude::*;

fn exports() -> Arc<[Export]> {
    let export = |name: &str, size_bytes: u64| Export {
        name: name.to_owned(),
        description: format!("disk {name}"),
        size_bytes,
        is_rotational: name == "b",
        has_trim: name == "a",
        has_quick_zeroes: name == "a",
    };
    Arc::new([export("a", 1 << 20), export("b", 1 << 50)])
}

/// Parses bytes from words in hexadecimal; a word that begins with `'` is text.
fn bytes(words: &str) -> Vec<u8> {
    let byte = |at: &str| u8::from_str_radix(at, 16).unwrap();
    let one = |word: &str| match word.strip_prefix('\'') {
        Some(text) => text.as_bytes().to_vec(),
        None => (0..word.len() / 2).map(|at| byte(&word[2 * at..2 * at + 2])).collect(),
    };
    words.split_whitespace().flat_map(one).collect()
}

/// Returns an option with its body, as the client sends it.
fn option(number: &str, body: &str) -> Vec<u8> {
    let body = bytes(body);
    [bytes("'IHAVEOPT"), bytes(number), (body.len() as u32).to_be_bytes().to_vec(), body].concat()
}

/// Starts a conversation with these options, and returns the last turn.
fn after(options: &[Vec<u8>]) -> (Conversation, Turn) {
    let mut conversation = Conversation::new(exports());
    let mut turn = conversation.next(&bytes("00000003"));
    for option in options {
        turn = conversation.next(option);
    }
    (conversation, turn)
}

fn answer(options: &[Vec<u8>]) -> Vec<u8> {
    match after(options).1 {
        Turn::Answer { taken, bytes } => {
            assert_eq!(taken, options.last().unwrap().len());
            bytes
        }
        turn => panic!("{turn:?}"),
    }
}

const STRUCTURED: &str = "00000008";

#[test]
fn the_greeting_is_that_of_fixed_newstyle() {
    assert_eq!(Conversation::greeting(), bytes("'NBDMAGIC 'IHAVEOPT 0003"));
}

/// Returns the reply to an option according to the protocol's text.
fn answered(option: &str, kind: &str, body: &str) -> Vec<u8> {
    let body = bytes(body);
    let length = (body.len() as u32).to_be_bytes().to_vec();
    [bytes("0003e889045565a9"), bytes(option), bytes(kind), length, body].concat()
}

const ACK: &str = "00000001";
const INVALID: &str = "80000003";
const UNKNOWN: &str = "80000006";
const UNSUPPORTED: &str = "80000001";

/// The name of a case, the client's options, and the replies to the last one.
type OptionCase = (&'static str, Vec<Vec<u8>>, Vec<Vec<u8>>);

fn hexadecimal(words: &str) -> String {
    words.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn compare_answers(cases: &[OptionCase]) {
    for (case, options, answers) in cases {
        assert_eq!(answer(options), answers.concat(), "{case}");
    }
}

#[test]
fn every_option_is_answered_with_the_bytes_of_the_protocols_text() {
    let sizes = "0003 00000001 00001000 02000000";
    compare_answers(&[
        (
            "LIST",
            vec![option("00000003", "")],
            vec![
                answered("00000003", "00000002", &format!("00000001 'a {}", hexadecimal("disk a"))),
                answered("00000003", "00000002", &format!("00000001 'b {}", hexadecimal("disk b"))),
                answered("00000003", ACK, ""),
            ],
        ),
        ("LIST with a body", vec![option("00000003", "00")], vec![answered("00000003", INVALID, "")]),
        ("STRUCTURED_REPLY", vec![option(STRUCTURED, "")], vec![answered(STRUCTURED, ACK, "")]),
        (
            "STRUCTURED_REPLY with a body",
            vec![option(STRUCTURED, "01")],
            vec![answered(STRUCTURED, INVALID, "")],
        ),
        (
            "GO to the first, by no name",
            vec![option("00000007", "00000000 0000")],
            vec![
                answered("00000007", "00000003", "0000 0000000000100000 0d6d"),
                answered("00000007", "00000003", sizes),
                answered("00000007", ACK, ""),
            ],
        ),
        (
            "INFO on the second: its name, its description; fragments mean something by now",
            vec![option(STRUCTURED, ""), option("00000006", "00000001 'b 0003 0001 0002 0003")],
            vec![
                answered("00000006", "00000003", "0000 0004000000000000 0ddd"),
                answered("00000006", "00000003", "0001 'b"),
                answered("00000006", "00000003", &format!("0002 {}", hexadecimal("disk b"))),
                answered("00000006", "00000003", sizes),
                answered("00000006", ACK, ""),
            ],
        ),
        (
            "GO to what is not there",
            vec![option("00000007", "00000001 'c 0000")],
            vec![answered("00000007", UNKNOWN, &hexadecimal("kurabe has no export with this name"))],
        ),
        (
            "GO cut short",
            vec![option("00000007", "00000009 'a 0000")],
            vec![answered("00000007", INVALID, "")],
        ),
        (
            "STARTTLS",
            vec![option("00000005", "")],
            vec![answered("00000005", UNSUPPORTED, &hexadecimal("kurabe does not support this option"))],
        ),
    ]);
}

#[test]
fn contexts_are_listed_and_agreed_with_the_bytes_of_the_protocols_text() {
    compare_answers(&[
        (
            "contexts before structured replies",
            vec![option("0000000a", "00000000 00000000")],
            vec![answered("0000000a", INVALID, "")],
        ),
        (
            "LIST_META_CONTEXT",
            vec![option(STRUCTURED, ""), option("00000009", "00000000 00000000")],
            vec![
                answered("00000009", "00000004", "00000000 'base:allocation"),
                answered("00000009", ACK, ""),
            ],
        ),
        (
            "SET_META_CONTEXT with one that is not there",
            vec![
                option(STRUCTURED, ""),
                option("0000000a", "00000001 'a 00000002 00000003 'x:y 0000000f 'base:allocation"),
            ],
            vec![
                answered("0000000a", "00000004", "00000001 'base:allocation"),
                answered("0000000a", ACK, ""),
            ],
        ),
        (
            "SET_META_CONTEXT of a name space alone selects nothing",
            vec![option(STRUCTURED, ""), option("0000000a", "00000000 00000001 00000005 'base:")],
            vec![answered("0000000a", ACK, "")],
        ),
    ]);
}

#[test]
fn the_old_way_to_choose_has_its_zeroes_unless_they_are_not_wanted() {
    assert_eq!(answer(&[option("00000001", "'b")]), bytes("0004000000000000 0d5d"));
    let mut conversation = Conversation::new(exports());
    conversation.next(&bytes("00000001"));
    let Turn::Answer { bytes: with_zeroes, .. } = conversation.next(&option("00000001", "")) else {
        panic!()
    };
    assert_eq!(with_zeroes, [bytes("0000000000100000 0d6d"), vec![0; 124]].concat());
    assert!(conversation.has_begun());
    // It has no error reply.
    assert_eq!(after(&[option("00000001", "'c")]).1, Turn::End { bytes: Vec::new() });
}

#[test]
fn what_is_no_part_of_the_protocol_ends_the_conversation() {
    let end = Turn::End { bytes: Vec::new() };
    assert_eq!(Conversation::new(exports()).next(&bytes("00000007")), end);
    assert_eq!(after(&[bytes("'GET 20 '/ 20 'HTTP/1.1 0d0a0d0a")]).1, end);
    assert_eq!(after(&[bytes("'IHAVEOPT 00000003 00010001")]).1, end);
    let (mut conversation, _) = after(&[option("00000007", "00000000 0000")]);
    assert_eq!(conversation.next(&bytes("67446698")), end);
    let abort = after(&[option("00000002", "")]).1;
    assert_eq!(abort, Turn::End { bytes: bytes("0003e889045565a9 00000002 00000001 00000000") });
}

/// Returns a request with these flags, command, offset and length.
fn request(flags: u16, command: u16, offset: u64, length: u32) -> Vec<u8> {
    let (flags, command) = (flags.to_be_bytes(), command.to_be_bytes());
    let (offset, length) = (offset.to_be_bytes(), length.to_be_bytes());
    [&bytes("25609513")[..], &flags, &command, &bytes("00000000c0ffee11"), &offset, &length].concat()
}

/// Returns a conversation that has chosen the first export, with or without structured replies.
fn begun(structured: bool) -> Conversation {
    let mut options = Vec::new();
    if structured {
        options.push(option(STRUCTURED, ""));
        options.push(option("0000000a", "00000001 'a 00000001 0000000f 'base:allocation"));
    }
    options.push(option("00000007", "00000000 0000"));
    after(&options).0
}

fn asked(conversation: &mut Conversation, bytes: &[u8]) -> NbdRequest {
    match conversation.next(bytes) {
        Turn::Request { taken: 28, request } => request,
        turn => panic!("{turn:?}"),
    }
}

/// Flags, command, offset, length, and the results for a plain client and for one with all options.
type CheckCase = (u16, u16, u64, u32, Option<NbdError>, Option<NbdError>);

#[test]
fn requests_are_checked_against_what_was_agreed() {
    use NbdError::{Invalid, NoSpace, TooLong};
    let end = 1 << 20;
    let table: [CheckCase; 24] = [
        (0, 0, 0, 512, None, None),
        (0, 0, end - 1, 1, None, None),
        (0, 0, end - 1, 2, Some(Invalid), Some(Invalid)),
        (0, 0, u64::MAX, 1, Some(Invalid), Some(Invalid)),
        (0, 0, 0, 0, Some(Invalid), Some(Invalid)),
        (0, 0, 0, MOST_REQUEST_BYTES + 1, Some(TooLong), Some(TooLong)),
        (4, 0, 0, 512, Some(Invalid), None),
        (2, 0, 0, 512, Some(Invalid), Some(Invalid)),
        (0, 1, 0, 512, None, None),
        (1, 1, 0, 512, None, None),
        (0, 1, end, 1, Some(NoSpace), Some(NoSpace)),
        (2, 1, 0, 512, Some(Invalid), Some(Invalid)),
        (0, 3, 0, 0, None, None),
        (1, 3, 0, 0, None, None),
        (0, 4, 0, 1 << 20, None, None),
        (0, 4, 1, 1 << 20, Some(Invalid), Some(Invalid)),
        (0, 5, 0, 512, None, None),
        (3, 6, 0, 1 << 20, None, None),
        (16, 6, 0, 512, None, None),
        (0, 6, 1, 1 << 20, Some(NoSpace), Some(NoSpace)),
        (0, 7, 0, 512, Some(Invalid), None),
        (8, 7, 0, 512, Some(Invalid), None),
        (0, 8, 0, 512, Some(Invalid), Some(Invalid)),
        (0, 0xffff, 0, 512, Some(Invalid), Some(Invalid)),
    ];
    for (flags, command, offset, length, plain, full) in table {
        for (structured, error) in [(false, plain), (true, full)] {
            let mut conversation = begun(structured);
            let request = asked(&mut conversation, &request(flags, command, offset, length));
            let case = format!("{flags} {command} {offset} {length} {structured}");
            assert_eq!(conversation.check(&request).err(), error, "{case}");
        }
    }
    // The second export does not support trims, and writes zeroes as data.
    let (mut second, _) = after(&[option("00000007", "00000001 'b 0000")]);
    for (flags, command, error) in
        [(0, 4, Some(Invalid)), (16, 6, Some(NbdError::NotQuick)), (2, 6, None), (0, 1, None)]
    {
        let request = asked(&mut second, &request(flags, command, 0, 512));
        assert_eq!(second.check(&request).err(), error, "{flags} {command}");
    }
}

#[test]
fn one_client_too_many_is_refused_with_the_reason_whatever_it_wants() {
    let mut surplus = Conversation::new(Arc::new([]));
    surplus.next(&bytes("00000003"));
    let reason = hexadecimal("kurabe already has 16 clients; disconnect one of them first");
    for number in ["00000003", "00000006", "00000007", STRUCTURED] {
        let asked = option(number, "00000000 0000");
        let answer = Turn::Answer { taken: asked.len(), bytes: answered(number, "80000002", &reason) };
        assert_eq!(surplus.next(&asked), answer, "{number}");
    }
    assert!(!surplus.has_begun());
    let end = surplus.next(&option("00000002", ""));
    assert_eq!(end, Turn::End { bytes: bytes("0003e889045565a9 00000002 00000001 00000000") });
    // The old way has no error reply.
    let mut surplus = Conversation::new(Arc::new([]));
    surplus.next(&bytes("00000003"));
    assert_eq!(surplus.next(&option("00000001", "'a")), Turn::End { bytes: Vec::new() });
}

#[test]
fn replies_are_the_bytes_of_the_protocols_text() {
    let reply = |structured: bool, command: u16, write: &dyn Fn(&Conversation, &NbdRequest, &mut Vec<u8>)| {
        let mut conversation = begun(structured);
        let request = asked(&mut conversation, &request(0, command, 0x1000, 0x200));
        let mut out = Vec::new();
        write(&conversation, &request, &mut out);
        out
    };
    let cookie = "00000000c0ffee11";
    let data = |conversation: &Conversation, request: &NbdRequest, out: &mut Vec<u8>| {
        conversation.before_data(request, out);
    };
    assert_eq!(reply(false, 0, &data), bytes(&format!("67446698 00000000 {cookie}")));
    let chunk = format!("668e33ef 0001 0001 {cookie} 00000208 0000000000001000");
    assert_eq!(reply(true, 0, &data), bytes(&chunk));
    let hole = reply(true, 0, &|conversation, request, out| assert!(conversation.hole(request, out)));
    assert_eq!(hole, bytes(&format!("668e33ef 0001 0002 {cookie} 0000000c 0000000000001000 00000200")));
    assert!(
        reply(false, 0, &|conversation, request, out| assert!(!conversation.hole(request, out))).is_empty()
    );
    let failed = |conversation: &Conversation, request: &NbdRequest, out: &mut Vec<u8>| {
        conversation.failure(request, NbdError::Io, out);
    };
    let chunk = format!("668e33ef 0001 8001 {cookie} 00000006 00000005 0000");
    for (structured, command, error) in [
        (false, 0, format!("67446698 00000005 {cookie}")),
        (true, 0, chunk.clone()),
        (true, 7, chunk),
        (true, 1, format!("67446698 00000005 {cookie}")),
    ] {
        assert_eq!(reply(structured, command, &failed), bytes(&error), "{structured} {command}");
    }
    let extents = [(512, ExtentKind::Data), (4096, ExtentKind::Hole)]
        .map(|(length_bytes, kind)| StatusExtent { length_bytes, kind });
    let status =
        reply(true, 7, &|conversation, request, out| conversation.block_status(request, &extents, out));
    let extents = "00000001 00000200 00000000 00001000 00000003";
    assert_eq!(status, bytes(&format!("668e33ef 0001 0005 {cookie} 00000014 {extents}")));
}

#[test]
fn a_context_agreed_for_one_export_means_nothing_for_another() {
    let set = option("0000000a", "00000001 'b 00000001 0000000f 'base:allocation");
    let (mut conversation, _) = after(&[option(STRUCTURED, ""), set, option("00000007", "00000000 0000")]);
    let request = asked(&mut conversation, &request(0, 7, 0, 512));
    assert_eq!(conversation.check(&request), Err(NbdError::Invalid));
}

#[test]
fn a_write_that_is_too_long_is_the_last_thing_that_is_heard() {
    let mut conversation = begun(false);
    let turn = conversation.next(&request(0, 1, 0, MOST_REQUEST_BYTES + 1));
    assert_eq!(turn, Turn::End { bytes: bytes("67446698 0000004b 00000000c0ffee11") });
}

/// Passes bytes to a conversation in pieces. Returns its turns, as if all payloads were skipped.
fn listen(bytes: &[u8], piece: usize) -> Vec<String> {
    let mut conversation = Conversation::new(exports());
    let mut turns = Vec::new();
    let (mut from, mut to) = (0, 0);
    loop {
        match conversation.next(&bytes[from..to]) {
            Turn::Wait if to == bytes.len() => return turns,
            Turn::Wait => {
                assert!(to - from < MOST_HELD_BYTES, "{} bytes are no turn yet", to - from);
                to = (to + piece).min(bytes.len());
            }
            turn @ Turn::End { .. } => {
                turns.push(format!("{turn:?}"));
                return turns;
            }
            turn => {
                let (Turn::Answer { taken, .. } | Turn::Request { taken, .. }) = turn else { unreachable!() };
                turns.push(format!("{turn:?}"));
                assert!(taken > 0 && taken <= to - from);
                from += taken;
            }
        }
    }
}

/// Generates parts of a conversation, complete or not.
fn any_bytes() -> impl Strategy<Value = Vec<u8>> {
    let options =
        prop_oneof![Just(1u32), Just(3), Just(6), Just(7), Just(8), Just(9), Just(10), any::<u32>()];
    let body = prop::collection::vec(prop_oneof![Just(0u8), Just(1), Just(b'a'), any::<u8>()], 0..40);
    let option_of = |(number, body): (u32, Vec<u8>)| {
        [&b"IHAVEOPT"[..], &number.to_be_bytes(), &(body.len() as u32).to_be_bytes(), &body].concat()
    };
    let part = prop_oneof![
        4 => (options, body).prop_map(option_of),
        2 => Just(option(STRUCTURED, "")),
        2 => Just(option("00000007", "00000000 0000")),
        3 => (any::<u16>(), 0u16..10, 0u64..2 << 20, any::<u32>())
            .prop_map(|(flags, command, offset, length)| request(flags, command, offset, length)),
        1 => prop::collection::vec(any::<u8>(), 0..60),
    ];
    prop::collection::vec(part, 0..12).prop_map(|parts| {
        let flags = vec![bytes("00000003")];
        [flags, parts].concat().concat()
    })
}

proptest! {
    /// No input panics or exceeds the buffer limit, and the division into pieces has no effect.
    #[test]
    fn any_bytes_are_heard(bytes in any_bytes(), piece in 1usize..80) {
        prop_assert_eq!(listen(&bytes, piece), listen(&bytes, bytes.len().max(1)));
    }
}
