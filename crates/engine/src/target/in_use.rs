//! Refusals: to write to a target that is in use, and to access files that kurabe itself uses.

use kurabe_core::{Error, ErrorKind, Result, Text, record::TargetKind, shown, text};
use kurabe_host::Claim;
use rustix::fs::Stat;
use std::fs::File;
use std::path::Path;

/// Rejects a device or a file that is in use. `file` is open only for reading, and `shown` is its
/// name for display.
///
/// # Errors
/// Fails if it is in use, or if that can't be determined.
pub(crate) fn refuse_if_in_use(kind: TargetKind, file: &File, shown: &Path) -> Result<()> {
    let claims = kurabe_host::claims(file, shown)?;
    let Some(first) = claims.first() else { return Ok(()) };
    let error = in_use(kind, shown, &clause(first, claims.len() - 1));
    if claims.iter().any(|claim| !claim.is_signature) {
        return Err(error);
    }
    Err(error.remedy(text!(
        "if it is no longer in use, remove the signature with wipefs, or measure a directory on it instead",
        "もう使われていないなら wipefs で署名を消すか、その上のディレクトリを測ってください"
    )))
}

/// Rejects a file that kurabe itself has open, because even reading could cause harm: closing any
/// descriptor of the store releases the store's locks.
///
/// # Errors
/// Fails if it is the store or another target.
pub(crate) fn refuse_own(facts: &Stat, shown: &Path) -> Result<()> {
    if !kurabe_host::this_process_holds(facts.st_dev, facts.st_ino) {
        return Ok(());
    }
    let shown = shown::path(shown);
    Err(ErrorKind::Refused
        .error(text!(
            "refusing to measure {shown}: kurabe itself uses it, as its store or as another target",
            "{shown} は kurabe 自身が結果の保存先またはほかの対象として使用中のため測定しません"
        ))
        .remedy(text!("name another file or a directory", "別のファイルかディレクトリを指定してください")))
}

/// Describes the first holder, and the number of others.
fn clause(first: &Claim, more: usize) -> Text {
    let held = first.device.as_ref().map_or(String::new(), |device| format!("{device}: "));
    let by = &first.by;
    match more {
        0 => text!("{held}{by}", "{held}{by}"; by),
        _ => text!("{held}{by}; and {more} more", "{held}{by}、ほか {more} 件"; by),
    }
}

/// Returns the refusal, with the way to release the target.
pub(crate) fn in_use(kind: TargetKind, shown: &Path, by: &Text) -> Error {
    let shown = shown::path(shown);
    let what = text!(
        "refusing to write to {shown}: it is in use ({by})",
        "{shown} は使用中のため書き込みません({by})";
        by
    );
    ErrorKind::Refused.error(what).remedy(match kind {
        TargetKind::File => text!(
            "stop the processes that use it first, or measure another file or a directory",
            "先に使用中のプロセスを終了するか、別のファイルかディレクトリを測ってください"
        ),
        _ => text!(
            "unmount or release it first, or measure a directory on it instead",
            "先にアンマウントなどで解放するか、その上のディレクトリを測ってください"
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_names_the_first_holder_and_counts_the_others() {
        let claim = |device: Option<&str>| Claim {
            device: device.map(str::to_owned),
            by: text!("mounted on /x", "/x にマウント中"),
            is_signature: false,
            is_descriptor: false,
        };
        assert_eq!(clause(&claim(Some("sda1")), 2).en, "sda1: mounted on /x; and 2 more");
        assert_eq!(clause(&claim(None), 0).ja, "/x にマウント中");
        let refusal = |kind| in_use(kind, Path::new("/y"), &clause(&claim(None), 0)).to_string();
        assert_eq!(refusal(TargetKind::File), "refusing to write to /y: it is in use (mounted on /x)");
    }
}
