//! Limits on the messages of a server and on whole answers, enforced on the stream before the
//! client library sees a byte.
//!
//! Every message has a type letter and a length. The guard follows them, and knows the letters that
//! can answer kurabe's requests. A message that is too long closes the connection when its length
//! has arrived, so no memory is allocated for its contents. The contents of a few messages can cost
//! the client more than their length, so they are checked as well: a login that demands years of
//! hashing, and a type whose description the library would request repeatedly.

use kurabe_core::{Text, text};
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres::types::Type;

/// Longest row, which is a run with its record.
const MOST_ROW_BYTES: u32 = 64 << 20;
/// Longest error, notice and description of columns.
const MOST_TEXT_BYTES: u32 = 64 << 10;
/// Longest message of any other type.
const MOST_OTHER_BYTES: u32 = 4 << 10;
/// Most bytes of the rows in one answer, including the memory that each takes beyond its length.
const MOST_ANSWER_BYTES: u64 = 1 << 30;
const ROW_OVERHEAD_BYTES: u64 = 256;
/// Most bytes of all other messages of an answer: notices, settings, ends of statements.
const MOST_ASIDE_BYTES: u64 = 1 << 20;
/// Most rounds of hashing that a login may demand. PostgreSQL's default is 4096.
const MOST_SCRAM_ROUNDS: u32 = 1_000_000;

/// A connection, encrypted or not.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Wire for S {}

/// Traffic on a connection since the current request began, and the reason if the guard closed it.
#[derive(Debug, Default)]
pub(super) struct Meter {
    row_bytes: AtomicU64,
    aside_bytes: AtomicU64,
    sent_bytes: AtomicU64,
    refused: Mutex<Option<Text>>,
}

impl Meter {
    pub(super) fn begin(&self) {
        for count in [&self.row_bytes, &self.aside_bytes, &self.sent_bytes] {
            count.store(0, Ordering::Relaxed);
        }
    }

    /// Returns the bytes for which a request is given more time: those that were sent, and the rows
    /// of the answer.
    pub(super) fn moved_bytes(&self) -> u64 {
        self.row_bytes.load(Ordering::Relaxed) + self.sent_bytes.load(Ordering::Relaxed)
    }

    /// Returns the reason why the connection was closed.
    pub(super) fn refused(&self) -> Option<Text> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn refuse(&self, reason: Text) {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }
}

/// A stream on which the limits are enforced.
pub(super) struct Guarded {
    wire: Box<dyn Wire>,
    messages: Messages,
    meter: Arc<Meter>,
}

impl Guarded {
    pub(super) fn new(wire: Box<dyn Wire>, meter: Arc<Meter>) -> Self {
        Self { wire, messages: Messages::default(), meter }
    }
}

/// Position of a stream within the server's messages.
#[derive(Default)]
struct Messages {
    /// Letter and length of the current message, as far as received.
    header: Vec<u8>,
    /// Bytes of its contents that were not received yet.
    rest: usize,
    /// Its contents, if they are checked.
    contents: Vec<u8>,
}

const HEADER_BYTES: usize = 5;

impl Messages {
    /// Follows the messages through received bytes.
    fn follow(&mut self, mut bytes: &[u8], meter: &Meter) -> Result<(), Text> {
        while !bytes.is_empty() {
            if self.header.len() < HEADER_BYTES {
                let (header, after) = bytes.split_at(bytes.len().min(HEADER_BYTES - self.header.len()));
                self.header.extend(header);
                bytes = after;
                if self.header.len() < HEADER_BYTES {
                    break;
                }
                self.rest = begun(&self.header, meter)?;
            }
            let (contents, after) = bytes.split_at(bytes.len().min(self.rest));
            (self.rest, bytes) = (self.rest - contents.len(), after);
            let letter = self.header[0];
            let is_checked = b"RTt".contains(&letter);
            if is_checked {
                self.contents.extend(contents);
            }
            if self.rest == 0 {
                if is_checked {
                    check_contents(letter, &self.contents)?;
                }
                self.contents.clear();
                self.header.clear();
            }
        }
        Ok(())
    }
}

/// Checks the header of a message, and returns the length of its contents.
fn begun(header: &[u8], meter: &Meter) -> Result<usize, Text> {
    let letter = header[0];
    let length = u32::from_be_bytes([header[1], header[2], header[3], header[4]]);
    let most = match letter {
        b'D' => MOST_ROW_BYTES,
        b'E' | b'N' | b'T' | b't' => MOST_TEXT_BYTES,
        b'1' | b'2' | b'3' | b'A' | b'C' | b'I' | b'K' | b'R' | b'S' | b'Z' | b'n' | b's' => MOST_OTHER_BYTES,
        _ => return Err(foreign()),
    };
    if length < 4 {
        return Err(foreign());
    }
    if length > most {
        return Err(text!(
            "the server sent a message of {length} bytes; the limit for this kind is {most}",
            "サーバーが {length} バイトのメッセージを送ってきました(この種類の上限は {most} バイト)"
        ));
    }
    let (count, most, overhead) = match letter {
        b'D' => (&meter.row_bytes, MOST_ANSWER_BYTES, ROW_OVERHEAD_BYTES),
        _ => (&meter.aside_bytes, MOST_ASIDE_BYTES, 0),
    };
    let bytes = u64::from(length) + overhead;
    if count.fetch_add(bytes, Ordering::Relaxed) + bytes > most {
        return Err(match letter {
            b'D' => text!(
                "the server's response has more than {most} bytes of rows",
                "サーバーの応答が行だけで {most} バイトを超えています"
            ),
            _ => text!(
                "the server sent more than {most} bytes of notices and settings in one response",
                "サーバーが 1 回の応答で {most} バイトを超える通知や設定を送ってきました"
            ),
        });
    }
    Ok(length as usize - 4)
}

/// Checks the contents of a message that may cost more than its length.
fn check_contents(letter: u8, contents: &[u8]) -> Result<(), Text> {
    match letter {
        b'R' => check_rounds(contents),
        b'T' => columns(contents)
            .ok_or_else(foreign)?
            .into_iter()
            .try_for_each(|(name, number)| check_type(&name, number)),
        _ => {
            let numbers = contents.get(2..).ok_or_else(foreign)?.chunks_exact(4);
            numbers
                .zip(1..)
                .try_for_each(|(bytes, place)| check_type(&format!("${place}"), big_endian(bytes)))
        }
    }
}

fn big_endian(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Parses the names and types of the columns that a server describes, or returns `None` on a format
/// error.
fn columns(contents: &[u8]) -> Option<Vec<(String, u32)>> {
    let count = big_endian(contents.get(..2)?);
    let mut rest = contents.get(2..)?;
    let mut columns = Vec::new();
    for _ in 0..count {
        let end = rest.iter().position(|byte| *byte == 0)?;
        let name = String::from_utf8_lossy(&rest[..end]).into_owned();
        // The name is followed by the numbers of the table and the column, that of the type, its
        // size, its modifier and the format.
        columns.push((name, big_endian(rest.get(end + 7..end + 11)?)));
        rest = rest.get(end + 19..)?;
    }
    Some(columns)
}

/// Refuses a type whose description the library would request from the server.
fn check_type(column: &str, number: u32) -> Result<(), Text> {
    if Type::from_oid(number).is_some() {
        return Ok(());
    }
    let column: String = column.chars().take(64).collect();
    Err(text!(
        "the column `{column}` has an unexpected type (number {number})",
        "列 `{column}` の型(番号 {number})は kurabe が書くものではありません"
    ))
}

/// Refuses a login by SCRAM that demands too many rounds of hashing (`i=` in RFC 5802).
fn check_rounds(contents: &[u8]) -> Result<(), Text> {
    const CONTINUED: u32 = 11;
    let (kind, message) = contents.split_at_checked(4).ok_or_else(foreign)?;
    if big_endian(kind) != CONTINUED {
        return Ok(());
    }
    let message = String::from_utf8_lossy(message);
    let rounds = message.split(',').find_map(|attribute| attribute.strip_prefix("i="));
    match rounds.and_then(|rounds| rounds.parse::<u32>().ok()) {
        Some(rounds) if rounds <= MOST_SCRAM_ROUNDS => Ok(()),
        _ => Err(text!(
            "the server's authentication requests more than {MOST_SCRAM_ROUNDS} rounds of hashing",
            "サーバーの認証が {MOST_SCRAM_ROUNDS} 回を超えるハッシュ計算を求めています"
        )),
    }
}

/// Creates the error for a peer that is not a PostgreSQL server.
pub(super) fn foreign() -> Text {
    text!("the server does not use the PostgreSQL protocol", "相手は PostgreSQL のプロトコルを話していません")
}

impl AsyncRead for Guarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let Self { wire, messages, meter } = &mut *self;
        let before = into.filled().len();
        let read = Pin::new(wire).poll_read(context, into);
        if matches!(read, Poll::Ready(Ok(())))
            && let Err(reason) = messages.follow(&into.filled()[before..], meter)
        {
            // Data received together with it is not passed on.
            into.set_filled(before);
            meter.refuse(reason);
            return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
        }
        read
    }
}

impl AsyncWrite for Guarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.wire).poll_write(context, bytes);
        if let Poll::Ready(Ok(count)) = written {
            self.meter.sent_bytes.fetch_add(count as u64, Ordering::Relaxed);
        }
        written
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.wire).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(letter: u8, contents: &[u8]) -> Vec<u8> {
        [&[letter][..], &(contents.len() as u32 + 4).to_be_bytes(), contents].concat()
    }

    /// Returns why a server that sends these bytes is refused, however they are split.
    fn refused(bytes: &[u8]) -> Option<String> {
        let outcomes = [1, 3, bytes.len()].map(|size| {
            let (mut messages, meter) = (Messages::default(), Meter::default());
            let followed = bytes.chunks(size).try_for_each(|chunk| messages.follow(chunk, &meter));
            followed.err().map(|reason| reason.en)
        });
        assert!(outcomes.iter().all(|outcome| *outcome == outcomes[0]), "{outcomes:?}");
        outcomes[0].clone()
    }

    #[test]
    fn a_message_is_refused_by_its_length_alone() {
        for (letter, length, refusal) in [
            (b'D', 64 << 20, None),
            (b'D', i32::MAX as u32, Some("the limit for this kind")),
            (b'D', u32::MAX, Some("the limit for this kind")),
            (b'E', 8 << 20, Some("the limit for this kind")),
            (b'Z', 5000, Some("the limit for this kind")),
            (b'Z', 3, Some("does not use")),
            (b'H', 9, Some("does not use")),
        ] {
            let header = [&[letter][..], &u32::to_be_bytes(length)].concat();
            let outcome = refused(&header);
            assert_eq!(outcome.is_some(), refusal.is_some(), "{length}: {outcome:?}");
            assert!(refusal.is_none_or(|words| outcome.unwrap().contains(words)), "{length}");
        }
    }

    #[test]
    fn notices_and_rows_of_an_answer_have_a_limit_together() {
        let notices = message(b'N', &[0; 1000]).repeat(1100);
        assert!(refused(&notices).unwrap().contains("notices"));
        let rows = message(b'D', &[0; 2]).repeat((MOST_ANSWER_BYTES / 262) as usize + 1);
        let meter = Meter::default();
        let refused = Messages::default().follow(&rows, &meter).unwrap_err();
        assert!(refused.en.contains("rows"), "{refused:?}");
        assert!(meter.moved_bytes() > MOST_ANSWER_BYTES);
        meter.begin();
        assert_eq!(Messages::default().follow(&rows[..700], &meter), Ok(()));
    }

    #[test]
    fn a_login_must_not_ask_for_years_of_hashing() {
        let login = |rounds: &str| {
            let contents = [&11_u32.to_be_bytes()[..], format!("r=a,s=b,i={rounds}").as_bytes()].concat();
            refused(&message(b'R', &contents))
        };
        assert_eq!(login("4096"), None);
        for rounds in ["1000001", "4294967295", "99999999999", "-1", ""] {
            assert!(login(rounds).unwrap().contains("hashing"), "{rounds}");
        }
        assert_eq!(refused(&message(b'R', &[0; 4])), None);
        assert!(refused(&message(b'R', &[0; 3])).is_some());
    }

    #[test]
    fn a_type_that_only_the_server_knows_is_refused_with_its_column() {
        let described = |number: u32| {
            let column = [&b"\0\x01status\0"[..], &[0; 6], &number.to_be_bytes(), &[0; 8]].concat();
            refused(&message(b'T', &column))
        };
        assert_eq!(described(25), None);
        assert!(described(16_400).unwrap().contains("`status`"));
        assert!(refused(&message(b't', &[&[0, 1][..], &16_400_u32.to_be_bytes()].concat())).is_some());
        for cut in [&b""[..], b"\0\x02a\0", b"\0\x01name"] {
            assert!(refused(&message(b'T', cut)).unwrap().contains("does not use"));
        }
    }
}
