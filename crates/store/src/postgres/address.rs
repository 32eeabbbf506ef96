//! Connection parameters: an address, completed with the settings that libpq takes from elsewhere.
//!
//! The settings of an address become a configuration of the client library. Settings that the
//! library does not know (`sslmode=verify-full`, `sslrootcert`) or does not decide (hosts, TLS,
//! timeout) are removed first. A password comes from the address, from `PGPASSWORD`, or from the
//! password file by libpq's rules: the first matching line, and only if other users cannot read the
//! file.

use super::session::ServerPlace;
use super::tls::{Checked, Tls};
use crate::SharedAddress;
use crate::passwords::without_passwords;
use kurabe_core::{Error, ErrorKind, Result, Text, shown, text};
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::time::Duration;
use tokio_postgres::config::{Config, SslMode};

/// Time limit for connecting, from the name resolution to the login, unless the address specifies
/// one.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) struct DatabaseAddress {
    /// Configuration for the login.
    pub(super) config: Config,
    pub(super) places: Vec<ServerPlace>,
    pub(super) tls: Option<Tls>,
    pub(super) must_encrypt: bool,
    /// Whether the connection begins with TLS directly.
    pub(super) is_tls_direct: bool,
    /// Whether the server must accept writes.
    pub(super) must_write: bool,
    pub(super) patience: Duration,
    /// Address as it is shown.
    pub(super) shown: String,
}

type Env<'e> = &'e dyn Fn(&str) -> Option<OsString>;

impl DatabaseAddress {
    pub(super) fn read(address: &SharedAddress, env: Env<'_>) -> Result<Self> {
        let of_env = |name: &str| word(env, name);
        let mode = address.get("sslmode").map(str::to_owned).or_else(|| of_env("PGSSLMODE"));
        let roots = address.get("sslrootcert").map(str::to_owned).or_else(|| of_env("PGSSLROOTCERT"));
        let roots = roots.map(PathBuf::from);
        let (mode, checked) = match mode.as_deref().unwrap_or("prefer") {
            "disable" => (SslMode::Disable, Checked::Nothing),
            "allow" | "prefer" => (SslMode::Prefer, Checked::Nothing),
            // As in libpq, a root certificate that is specified is used.
            "require" if roots.is_some() => (SslMode::Require, Checked::Issuer),
            "require" => (SslMode::Require, Checked::Nothing),
            "verify-ca" => (SslMode::Require, Checked::Issuer),
            "verify-full" => (SslMode::Require, Checked::IssuerAndName),
            _ => return Err(wrong_setting("sslmode")),
        };
        let mut config = Config::new();
        // The session encrypts the connection before the library sees it.
        config.ssl_mode(SslMode::Disable).application_name("kurabe");
        login(&mut config, address)?;
        let user =
            address.get("user").map(str::to_owned).or_else(|| of_env("PGUSER")).or_else(|| of_env("USER"));
        let user = user.ok_or_else(|| wrong_setting("user"))?;
        config.user(&user);
        let places = places(address)?;
        let password = match address.password().map(str::to_owned).or_else(|| of_env("PGPASSWORD")) {
            Some(password) => Some(password),
            None => of_file(address, &places, &user, env)?,
        };
        if let Some(password) = password {
            config.password(password);
        }
        let is_tls_direct = match address.get("sslnegotiation") {
            None | Some("postgres") => false,
            // The server cannot reply that it has no TLS.
            Some("direct") if mode == SslMode::Require => true,
            Some(_) => return Err(wrong_setting("sslnegotiation")),
        };
        let tls = (mode != SslMode::Disable).then(|| Tls::new(checked, roots.or_else(|| usual_roots(env))));
        Ok(Self {
            config,
            places,
            tls: tls.transpose()?,
            must_encrypt: mode == SslMode::Require,
            is_tls_direct,
            must_write: match address.get("target_session_attrs") {
                None | Some("any") => false,
                Some("read-write" | "primary") => true,
                Some(_) => return Err(wrong_setting("target_session_attrs")),
            },
            patience: patience(address)?,
            shown: without_passwords(&address.shown_with(&user)).into_owned(),
        })
    }

    /// Returns a text of the server without the password, which it may repeat, cut to the length of
    /// a message.
    pub(super) fn without_password(&self, text: &str) -> String {
        const MOST_LETTERS: usize = 500;
        let password = self.config.get_password().and_then(|password| std::str::from_utf8(password).ok());
        let text = match password.filter(|password| !password.is_empty()) {
            Some(password) => text.replace(password, "…"),
            None => text.to_owned(),
        };
        match text.char_indices().nth(MOST_LETTERS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

/// Applies the settings that the library supports, except those that the session decides.
fn login(config: &mut Config, address: &SharedAddress) -> Result<()> {
    for (setting, value) in address.settings() {
        match setting {
            "application_name" => config.application_name(value),
            "dbname" => config.dbname(value),
            "options" => config.options(value),
            // The library does not know the TLS connection, so the login cannot be bound to it.
            "channel_binding" if !["disable", "prefer"].contains(&value) => {
                return Err(wrong_setting(setting));
            }
            _ => config,
        };
    }
    Ok(())
}

fn patience(address: &SharedAddress) -> Result<Duration> {
    match address.get("connect_timeout") {
        None => Ok(PATIENCE),
        Some(seconds) => match seconds.parse::<u32>() {
            // In libpq this means no limit; here the default limit applies.
            Ok(0) => Ok(PATIENCE),
            Ok(seconds) if seconds <= MOST_PATIENCE_S => Ok(Duration::from_secs(seconds.into())),
            _ => Err(wrong_setting("connect_timeout")),
        },
    }
}

/// Longest time limit for a connection that an address may specify, in seconds.
const MOST_PATIENCE_S: u32 = 600;

/// Returns the servers that an address names, in order.
fn places(address: &SharedAddress) -> Result<Vec<ServerPlace>> {
    let list =
        |setting| address.get(setting).map(|words| words.split(',').collect::<Vec<_>>()).unwrap_or_default();
    let (names, addresses, ports) = (list("host"), list("hostaddr"), list("port"));
    let count = names.len().max(addresses.len());
    let fits = |words: &[&str]| words.is_empty() || words.len() == count;
    if !(fits(&names) && fits(&addresses) && (fits(&ports) || ports.len() == 1)) {
        return Err(wrong_setting("host"));
    }
    let place = |at: usize| {
        let name = names.get(at).copied().unwrap_or_default();
        let host = addresses.get(at).copied().filter(|host| !host.is_empty()).unwrap_or(name);
        let port = ports.get(at).or(ports.first()).copied().filter(|port| !port.is_empty()).unwrap_or("5432");
        let (host, name) = (host.to_owned(), if name.is_empty() { host } else { name }.to_owned());
        Some(ServerPlace { name, port: port.parse().ok()?, host }).filter(|place| !place.host.is_empty())
    };
    let places: Option<Vec<ServerPlace>> = (0..count).map(place).collect();
    places.filter(|places| !places.is_empty()).ok_or_else(|| wrong_setting("host"))
}

fn word(env: Env<'_>, name: &str) -> Option<String> {
    env(name).and_then(|value| value.into_string().ok()).filter(|value| !value.is_empty())
}

fn wrong_setting(setting: &str) -> Error {
    ErrorKind::Usage
        .error(text!(
            "the database address lacks `{setting}`, or has a value for it that kurabe does not support",
            "データベースのアドレスに `{setting}` がないか、対応していない値です"
        ))
        .remedy(text!(
            "write it like postgres://USER@HOST:5432/DATABASE?sslmode=verify-full",
            "postgres://USER@HOST:5432/DATABASE?sslmode=verify-full のように書いてください"
        ))
}

/// Returns the path of libpq's default root certificates.
fn usual_roots(env: Env<'_>) -> Option<PathBuf> {
    let path = PathBuf::from(env("HOME")?).join(".postgresql/root.crt");
    path.exists().then_some(path)
}

/// Returns the password for this address from the password file.
fn of_file(
    address: &SharedAddress,
    places: &[ServerPlace],
    user: &str,
    env: Env<'_>,
) -> Result<Option<String>> {
    let usual = || Some(PathBuf::from(env("HOME")?).join(".pgpass"));
    let named = address.get("passfile").map(PathBuf::from).or_else(|| env("PGPASSFILE").map(PathBuf::from));
    let Some(path) = named.or_else(usual) else { return Ok(None) };
    let Ok(facts) = fs::metadata(&path) else { return Ok(None) };
    let name = shown::path(&path);
    if !facts.is_file() || facts.permissions().mode() & 0o077 != 0 {
        return Err(refused(text!(
            "the password file {name} is readable by other users",
            "パスワードファイル {name} をほかのユーザーも読めます"
        ))
        .remedy(text!(
            "restrict it to yourself: chmod 600 {name}",
            "自分だけが読めるようにしてください: chmod 600 {name}"
        )));
    }
    let lines = fs::read_to_string(&path)
        .map_err(|error| refused(text!("cannot read {name}", "{name} を読めません")).because(error))?;
    let place = places.first().ok_or_else(|| wrong_setting("host"))?;
    let host = if place.host.starts_with('/') { "localhost" } else { place.name.as_str() };
    let own = [host, &place.port.to_string(), address.get("dbname").unwrap_or(user), user];
    Ok(lines.lines().find_map(|line| password_of(line, own)))
}

fn refused(message: Text) -> Error {
    ErrorKind::Store.error(message)
}

/// Returns the password of a line if its host, port, database and user match; `*` matches anything.
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
        DatabaseAddress::read(&SharedAddress::parse(words)?, &value)
    }

    fn password(address: &DatabaseAddress) -> &[u8] {
        address.config.get_password().unwrap_or_default()
    }

    #[test]
    fn an_address_says_where_and_as_whom_to_log_in() {
        let user = [("USER", "me")];
        for words in [
            "postgres://aki:s3%2Fcret@db.example:6000/lab?sslmode=disable",
            "host=db.example port=6000 user=aki password=s3/cret dbname=lab sslmode=disable",
        ] {
            let address = read(words, &user).unwrap();
            assert_eq!(address.shown, "postgres://aki@db.example:6000/lab");
            assert_eq!((password(&address), address.config.get_dbname()), (&b"s3/cret"[..], Some("lab")));
            assert!(address.tls.is_none() && !address.must_encrypt);
        }
        let address = read("postgres:///lab?host=/run/pg", &user).unwrap();
        assert_eq!(address.shown, "postgres://me@/lab?host=/run/pg");
        let address = read("host=a,b hostaddr=::1,10.0.0.2 port=,6000 sslmode=require", &user).unwrap();
        let places: Vec<_> = address
            .places
            .iter()
            .map(|place| (place.host.as_str(), place.name.as_str(), place.port))
            .collect();
        assert_eq!(places, [("::1", "a", 5432), ("10.0.0.2", "b", 6000)]);
        assert!(address.tls.is_some() && address.must_encrypt);
    }

    #[test]
    fn a_setting_that_is_not_supported_is_refused_without_its_value() {
        for words in [
            "postgres://a:s3cret@db/l?sslmode=often",
            "postgres://a:s3cret@db/l?connect_timeout=s3cret",
            "postgres://a:s3cret@db/l?sslnegotiation=direct",
            "postgres://a:s3cret@db/l?channel_binding=require",
            "postgres://a:s3cret@db,c:1,d:2/l?hostaddr=::1",
            "dbname=lab password=s3cret",
        ] {
            let error = read(words, &[("USER", "me")]).err().unwrap();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(!format!("{error:?}").contains("s3cret"), "{error:?}");
        }
    }

    #[test]
    fn a_text_of_the_server_is_shown_cut_and_without_the_password() {
        let address = read("host=db user=aki password=s3cret", &[]).unwrap();
        let shown = address.without_password(&"no s3cret here ".repeat(1000));
        assert!(shown.starts_with("no … here") && shown.chars().count() == 501, "{shown}");
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
