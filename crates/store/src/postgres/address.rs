//! Addresses: what stands in one, what libpq takes from elsewhere, and how an address is shown.
//!
//! The model: what the client's own reader does not know (`sslmode=verify-full`, `sslrootcert`) is taken out before it reads.
//! A password comes from the address, else from `PGPASSWORD`, else from the password file, by libpq's rules: the first line that
//! fits, and no file that others may read. What is shown of an address is made of what was understood, so no password is in it.

use super::tls::{Checked, Tls};
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use postgres::config::{Config, Host, SslMode};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;

/// Nobody waits longer for a server that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// An address that was understood.
pub(super) struct DatabaseAddress {
    pub(super) config: Config,
    pub(super) tls: Tls,
    /// As it is shown.
    pub(super) shown: String,
}

type Env<'e> = &'e dyn Fn(&str) -> Option<OsString>;

impl DatabaseAddress {
    pub(super) fn read(words: &str, env: Env<'_>) -> Result<Self> {
        let (place, options) = words.split_once('?').unwrap_or((words, ""));
        let (mut mode, mut roots, mut others) =
            (word(env, "PGSSLMODE"), word(env, "PGSSLROOTCERT"), Vec::new());
        for option in options.split('&').filter(|option| !option.is_empty()) {
            match option.split_once('=') {
                Some(("sslmode", value)) => mode = Some(value.to_owned()),
                Some(("sslrootcert", value)) => roots = Some(decoded(value).ok_or_else(unreadable)?),
                _ => others.push(option),
            }
        }
        let rest = if others.is_empty() { place.to_owned() } else { format!("{place}?{}", others.join("&")) };
        // Its reason may repeat what was typed.
        let mut config: Config = rest.parse().map_err(|_| unreadable())?;
        let roots = roots.map(PathBuf::from);
        let (mode, checked) = match mode.as_deref().unwrap_or("prefer") {
            "disable" => (SslMode::Disable, Checked::Nothing),
            "allow" | "prefer" => (SslMode::Prefer, Checked::Nothing),
            // As libpq does it: a named root is there to be asked.
            "require" if roots.is_some() => (SslMode::Require, Checked::Issuer),
            "require" => (SslMode::Require, Checked::Nothing),
            "verify-ca" => (SslMode::Require, Checked::Issuer),
            "verify-full" => (SslMode::Require, Checked::IssuerAndName),
            _ => return Err(unreadable()),
        };
        config.ssl_mode(mode);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(PATIENCE);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(PATIENCE);
        }
        if config.get_application_name().is_none() {
            config.application_name("kurabe");
        }
        if let Some(user) =
            config.get_user().is_none().then(|| word(env, "PGUSER").or_else(|| word(env, "USER")))
        {
            config.user(&user.ok_or_else(unreadable)?);
        }
        if config.get_password().is_none()
            && let Some(password) =
                word(env, "PGPASSWORD").map_or_else(|| of_file(&config, env), |word| Ok(Some(word)))?
        {
            config.password(password);
        }
        let tls = Tls::new(checked, roots.or_else(|| usual_roots(env)), mode != SslMode::Disable)?;
        Ok(Self { shown: shown_as(&config), config, tls })
    }
}

fn word(env: Env<'_>, name: &str) -> Option<String> {
    env(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty())
}

fn unreadable() -> Error {
    ErrorKind::Usage
        .error(text!("the address of the database cannot be read", "データベースのアドレスを読めません"))
        .remedy(text!(
            "as in postgres://USER@HOST:5432/DATABASE?sslmode=verify-full; the password is best in ~/.pgpass",
            "例: postgres://USER@HOST:5432/DATABASE?sslmode=verify-full(パスワードは ~/.pgpass に書くのが安全です)"
        ))
}

/// `%2F` as `/`.
fn decoded(value: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut parts = value.split('%');
    bytes.extend(parts.next()?.as_bytes());
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

/// The root certificates that libpq takes unless one is named.
fn usual_roots(env: Env<'_>) -> Option<PathBuf> {
    let path = PathBuf::from(env("HOME")?).join(".postgresql/root.crt");
    path.exists().then_some(path)
}

fn host_word(host: &Host) -> String {
    match host {
        Host::Tcp(name) => name.clone(),
        Host::Unix(path) => path.to_string_lossy().into_owned(),
    }
}

fn shown_as(config: &Config) -> String {
    let host = config.get_hosts().first().map(host_word).unwrap_or_default();
    let user = config.get_user().unwrap_or_default();
    let port = config.get_ports().first().map_or(String::new(), |port| format!(":{port}"));
    let database = config.get_dbname().or(config.get_user()).unwrap_or_default();
    shown::line(&match host.starts_with('/') {
        true => format!("postgres://{user}@/{database}?host={host}"),
        false => format!("postgres://{user}@{host}{port}/{database}"),
    })
}

/// The password that a line of the password file has for this address.
fn of_file(config: &Config, env: Env<'_>) -> Result<Option<String>> {
    let usual = || Some(PathBuf::from(env("HOME")?).join(".pgpass"));
    let Some(path) = env("PGPASSFILE").map(PathBuf::from).or_else(usual) else { return Ok(None) };
    let Ok(facts) = fs::metadata(&path) else { return Ok(None) };
    let name = shown::path(&path);
    if !facts.is_file() || facts.permissions().mode() & 0o077 != 0 {
        return Err(refused(text!(
            "the password file {name} may be read by others",
            "パスワードファイル {name} をほかのユーザーも読めます"
        ))
        .remedy(text!(
            "make it yours alone: chmod 600 {name}",
            "自分だけが読めるようにしてください: chmod 600 {name}"
        )));
    }
    let lines = fs::read_to_string(&path)
        .map_err(|error| refused(text!("cannot read {name}", "{name} を読めません")).because(error))?;
    let host = config.get_hosts().first().map(host_word).unwrap_or_default();
    let host = if host.starts_with('/') { "localhost".to_owned() } else { host };
    let port = config.get_ports().first().copied().unwrap_or(5432).to_string();
    let user = config.get_user().unwrap_or_default();
    let own = [host.as_str(), &port, config.get_dbname().unwrap_or(user), user];
    Ok(lines.lines().find_map(|line| password_of(line, own)))
}

fn refused(message: Text) -> Error {
    ErrorKind::Store.error(message)
}

/// The password of a line, if its host, port, database and user are these; `*` is any.
fn password_of(line: &str, own: [&str; 4]) -> Option<String> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut letters = line.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ':' if fields.len() < 5 => fields.push(String::new()),
            '\\' => fields.last_mut()?.extend(letters.next()),
            _ => fields.last_mut()?.push(letter),
        }
    }
    let [fields @ .., password] = fields.as_slice() else { return None };
    let fits = fields.len() == 4 && fields.iter().zip(own).all(|(field, own)| field == "*" || field == own);
    fits.then(|| password.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str, variables: &[(&str, &str)]) -> Result<DatabaseAddress> {
        let value = |name: &str| {
            variables.iter().find(|(own, _)| *own == name).map(|(_, value)| OsString::from(value))
        };
        DatabaseAddress::read(words, &value)
    }

    fn password(address: &DatabaseAddress) -> &[u8] {
        address.config.get_password().unwrap_or_default()
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let address = read("postgres://aki:s3%2Fcret@db.example:6000/lab?sslmode=disable", &[]).unwrap();
        assert_eq!(address.shown, "postgres://aki@db.example:6000/lab");
        assert_eq!(password(&address), b"s3/cret");
        let address = read("postgres://aki@/lab?host=/run/pg&password=s3cret", &[]).unwrap();
        assert_eq!(address.shown, "postgres://aki@/lab?host=/run/pg");
        for wrong in [
            "postgres://aki:s3cret@db:x/lab",
            "postgres://a:s3cret@db/l?sslmode=often",
            "postgres://a:s3cret@db/l?b=c",
        ] {
            let error = read(wrong, &[]).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        }
    }

    #[test]
    fn a_password_is_taken_from_where_libpq_takes_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pass");
        fs::write(&file, "# a comment\nother:*:*:*:wrong\n*:5432:lab:a\\:ki:s3\\\\c:ret\n*:*:*:*:last\n")
            .unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        let variables = [("PGPASSFILE", file.to_str().unwrap())];
        assert_eq!(password(&read("postgres://a%3Aki@db/lab", &variables).unwrap()), b"s3\\c:ret");
        assert_eq!(password(&read("postgres://aki@db/lab", &variables).unwrap()), b"last");
        assert_eq!(password(&read("postgres://aki:own@db/lab", &variables).unwrap()), b"own");
        let both = [variables[0], ("PGPASSWORD", "of the environment")];
        assert_eq!(password(&read("postgres://aki@db/lab", &both).unwrap()), b"of the environment");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let error = read("postgres://aki@db/lab", &variables).err().unwrap();
        assert!(error.remedy_text().unwrap().en.contains("chmod 600"), "{error}");
    }
}
