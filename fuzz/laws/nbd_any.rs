//! Any bytes as an NBD client, in pieces: no panic, no more held than the limit, and what is asked for is checked and
//! answered in a form that has the length it says.

use kurabe_serve::protocol::{
    Conversation, Export, ExtentKind, MOST_HELD_BYTES, MOST_REQUEST_BYTES, NbdError, StatusExtent, Turn,
};
use std::sync::Arc;

fn exports() -> Arc<[Export]> {
    let export = |name: &str, size_bytes| Export {
        name: name.to_owned(),
        description: "a disk".to_owned(),
        size_bytes,
        is_rotational: false,
        has_trim: true,
        has_quick_zeroes: false,
    };
    Arc::new([export("a", 1 << 20), export("b", u64::MAX)])
}

pub fn holds(input: &[u8]) {
    let Some((piece, bytes)) = input.split_first() else { return };
    let piece = usize::from(*piece).max(1);
    let mut conversation = Conversation::new(exports());
    let (mut from, mut to) = (0, 0);
    loop {
        match conversation.next(&bytes[from..to]) {
            Turn::Wait if to == bytes.len() => return,
            Turn::Wait => {
                assert!(to - from < MOST_HELD_BYTES);
                to = (to + piece).min(bytes.len());
            }
            Turn::Answer { taken, .. } => from += taken,
            Turn::End { .. } => return,
            Turn::Request { taken, request } => {
                from += taken;
                assert!(request.payload_bytes() <= MOST_REQUEST_BYTES);
                let mut out = Vec::new();
                match conversation.check(&request) {
                    Err(error) => conversation.failure(&request, error, &mut out),
                    Ok(()) => {
                        conversation.success(&request, &mut out);
                        conversation.failure(&request, NbdError::Io, &mut out);
                        conversation.hole(&request, &mut out);
                        if request.length_bytes <= MOST_REQUEST_BYTES {
                            conversation.before_data(&request, &mut out);
                        }
                        let extent = StatusExtent { length_bytes: 1, kind: ExtentKind::Hole };
                        conversation.block_status(&request, &[extent], &mut out);
                    }
                }
                assert!(!out.is_empty() && out.len() < 200);
                // What a write brings comes next.
                from = (from + request.payload_bytes() as usize).min(bytes.len());
                to = to.max(from);
            }
        }
    }
}
