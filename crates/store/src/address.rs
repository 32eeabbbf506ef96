//! Addresses of shared databases in libpq's syntax: `postgres://USER@HOST/DATABASE` and `host=HOST
//! dbname=DATABASE`.
//!
//! An address is parsed once, at the edge, into a type that shows no secret. Text that looks like
//! an address but cannot be parsed is refused with a fixed message that repeats none of it.
//! Otherwise an unencoded `@` or `/` in a password would move part of the password into the host or
//! the database name, which are shown and looked up.

use crate::passwords::{self, is_path};
use kurabe_core::{Error, ErrorKind, Text, shown, text};
use std::ffi::OsStr;
use std::fmt;
use std::ops::Range;

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];

/// Settings of libpq that are supported.
const SETTINGS: [&str; 21] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_count",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "options",
    "passfile",
    "password",
    "port",
    "sslmode",
    "sslnegotiation",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Other settings of libpq, and their names in other drivers. They identify an address as well, and
/// are refused by name.
const FOREIGN_SETTINGS: [&str; 22] = [
    "client_encoding",
    "database",
    "fallback_application_name",
    "gssencmode",
    "gsslib",
    "krbsrvname",
    "load_balance_hosts",
    "passwd",
    "pwd",
    "replication",
    "require_auth",
    "requirepeer",
    "server",
    "service",
    "ssl",
    "sslcert",
    "sslcrl",
    "sslkey",
    "sslpassword",
    "sslsni",
    "uid",
    "username",
];

/// Address of a shared database. Neither `Display` nor `Debug` shows a password.
#[derive(Clone, PartialEq, Eq)]
pub struct SharedAddress {
    /// Settings of libpq, each at most once.
    settings: Vec<(&'static str, String)>,
}

/// Purpose for which a shared store is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedAccess {
    /// Reading.
    Read,
    /// Adding runs. The tables are created or migrated if necessary.
    Write,
}

/// Reason why an address is refused, without any part of it that may be secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AddressFault(Text);

type Parsed<T> = Result<T, AddressFault>;

impl From<AddressFault> for Error {
    fn from(AddressFault(what): AddressFault) -> Self {
        ErrorKind::Usage.error(what).remedy(text!(
            "write postgres://USER@HOST:5432/DATABASE?sslmode=verify-full or \"host=HOST dbname=DATABASE \
             user=USER\"; keep the password in ~/.pgpass. In a postgres:// address, write @ : / ? # % in \
             a password as %40 %3A %2F %3F %23 %25",
            "postgres://USER@HOST:5432/DATABASE?sslmode=verify-full または \"host=HOST dbname=DATABASE \
             user=USER\" の形で書いてください。パスワードは ~/.pgpass に書くのが安全です。postgres:// \
             で始まるアドレスでは、パスワードの @ : / ? # % を %40 %3A %2F %3F %23 %25 と書きます"
        ))
    }
}

fn unreadable() -> AddressFault {
    AddressFault(text!("the address of the database cannot be read", "データベースのアドレスを読めません"))
}

fn unsupported(setting: &str) -> AddressFault {
    AddressFault(text!(
        "the address of the database has the setting `{setting}`, which kurabe does not support",
        "データベースのアドレスの設定 `{setting}` には対応していません"
    ))
}

impl SharedAddress {
    /// Parses a word as an address, or returns the reason why it is not valid. `None` if the word
    /// is a file name.
    pub fn named(word: &OsStr) -> Option<Parsed<Self>> {
        let words = word.to_string_lossy();
        let is_address = !is_path(&words)
            && (scheme(&words).is_some() || has_setting(&words) || !passwords::hidden(&words).is_empty());
        is_address.then(|| word.to_str().map_or_else(|| Err(unreadable()), Self::parse))
    }

    /// Parses an address.
    ///
    /// # Errors
    /// If it is not one, or has a setting that is not supported.
    pub fn parse(words: &str) -> Parsed<Self> {
        let words = words.trim();
        let address = match SCHEMES.iter().find_map(|scheme| words.strip_prefix(scheme)) {
            Some(rest) => Self::of_url(rest)?,
            None if scheme(words).is_none() && has_setting(words) => Self::of_settings(words)?,
            None => {
                return Err(AddressFault(text!(
                    "a database address begins with postgres:// or is a list of settings",
                    "データベースのアドレスは postgres:// で始まるか、設定の並びです"
                )));
            }
        };
        address.is_unambiguous().then_some(address).ok_or_else(unreadable)
    }

    /// Returns the value of a setting of libpq.
    pub fn get(&self, setting: &str) -> Option<&str> {
        self.settings.iter().find(|(own, _)| *own == setting).map(|(_, value)| value.as_str())
    }

    /// Returns the password, if the address has one.
    pub fn password(&self) -> Option<&str> {
        self.get("password")
    }

    #[cfg(feature = "postgres")]
    pub(crate) fn settings(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.settings.iter().map(|(setting, value)| (*setting, value.as_str()))
    }

    fn set(&mut self, setting: &str, value: String) -> Parsed<()> {
        let Some(setting) = SETTINGS.iter().find(|own| **own == setting) else {
            let foreign = FOREIGN_SETTINGS.iter().find(|own| **own == setting);
            return Err(foreign.map_or_else(unreadable, |setting| unsupported(setting)));
        };
        if value.contains('\0') {
            return Err(unreadable());
        }
        self.settings.retain(|(own, _)| own != setting);
        self.settings.push((setting, value));
        Ok(())
    }

    /// Parses the part after `postgres://`.
    fn of_url(rest: &str) -> Parsed<Self> {
        let mut address = Self { settings: Vec::new() };
        let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
        let (account, hosts) =
            authority.split_once('@').map_or((None, authority), |(one, two)| (Some(one), two));
        if let Some(account) = account {
            let (user, password) =
                account.split_once(':').map_or((account, None), |(one, two)| (one, Some(two)));
            if !user.is_empty() {
                address.set("user", decoded(user)?)?;
            }
            password.map_or(Ok(()), |password| address.set("password", decoded(password)?))?;
        }
        address.set_hosts(hosts)?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let database = path.trim_start_matches('/');
        if !database.is_empty() {
            address.set("dbname", unquoted(database)?)?;
        }
        for setting in query.split('&').filter(|setting| !setting.is_empty()) {
            let (setting, value) = setting.split_once('=').ok_or_else(unreadable)?;
            let value = if setting == "password" { decoded(value)? } else { unquoted(value)? };
            address.set(&decoded(setting)?, value)?;
        }
        Ok(address)
    }

    /// Parses the hosts of an authority with their ports: `a,b:6000,[::1]:6001`.
    fn set_hosts(&mut self, authority: &str) -> Parsed<()> {
        if authority.is_empty() {
            return Ok(());
        }
        let (mut hosts, mut ports) = (Vec::new(), Vec::new());
        for one in authority.split(',') {
            let (host, port) = match one.strip_prefix('[').map(|inside| inside.split_once(']')) {
                Some(Some((host, ""))) => (host, ""),
                Some(Some((host, port))) => (host, port.strip_prefix(':').ok_or_else(unreadable)?),
                Some(None) => return Err(unreadable()),
                None => one.split_once(':').unwrap_or((one, "")),
            };
            hosts.push(unquoted(host)?);
            ports.push(port);
        }
        if ports.iter().any(|port| !port.is_empty()) {
            self.set("port", ports.join(","))?;
        }
        self.set("host", hosts.join(","))
    }

    /// Parses `host=db.example dbname='my lab'`.
    fn of_settings(words: &str) -> Parsed<Self> {
        let mut address = Self { settings: Vec::new() };
        let mut rest = words;
        while !rest.is_empty() {
            let (setting, value) = rest.split_once('=').ok_or_else(unreadable)?;
            let (value, after) = setting_value(value.trim_start())?;
            if !after.is_empty() && !after.starts_with(char::is_whitespace) {
                return Err(unreadable());
            }
            address.set(setting.trim_end(), value)?;
            rest = after.trim_start();
        }
        Ok(address)
    }

    /// Returns whether every setting has a valid form, and the parts that are shown cannot contain
    /// a password.
    fn is_unambiguous(&self) -> bool {
        let hosts = self.get("host").into_iter().flat_map(|hosts| hosts.split(','));
        let ports = self.get("port").into_iter().flat_map(|ports| ports.split(','));
        let named = ["user", "dbname"].iter().filter_map(|setting| self.get(setting));
        hosts.clone().all(is_host)
            && ports.clone().all(|port| port.is_empty() || port.parse::<u16>().is_ok_and(|port| port > 0))
            && named.clone().all(|name| name.len() <= MOST_NAME && passwords::hidden(name).is_empty())
            && self.settings.iter().all(|(setting, value)| {
                *setting == "password" || !passwords::has_key(value) && !value.contains("://")
            })
    }

    /// Formats the address for display, with the user from the environment.
    pub(crate) fn shown_with(&self, user: &str) -> String {
        let user = if user.is_empty() { String::new() } else { format!("{user}@") };
        let host = self.get("host").or(self.get("hostaddr")).unwrap_or_default();
        let host = host.split(',').next().unwrap_or_default();
        let port = self.get("port").and_then(|ports| ports.split(',').next()).filter(|port| !port.is_empty());
        let port = port.map_or(String::new(), |port| format!(":{port}"));
        let database = self.get("dbname").unwrap_or_default();
        shown::line(&match host.starts_with('/') {
            true => format!("postgres://{user}/{database}?host={host}"),
            false if host.contains(':') => format!("postgres://{user}[{host}]{port}/{database}"),
            false => format!("postgres://{user}{host}{port}/{database}"),
        })
    }
}

/// Longest name of a role or a database; PostgreSQL truncates names to 63 bytes.
const MOST_NAME: usize = 256;

impl fmt::Display for SharedAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown_with(self.get("user").unwrap_or_default()))
    }
}

impl fmt::Debug for SharedAddress {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SharedAddress({self})")
    }
}

/// Returns whether a word can be the host of an address: a name, an IP address, or the directory of
/// a socket.
pub(crate) fn is_host(host: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || "-._:%".contains(letter);
    let is_folder =
        host.starts_with('/') && !host.contains(|letter: char| letter.is_control() || letter == '@');
    host.len() <= MOST_NAME && (is_folder || host.chars().all(is_letter))
}

/// Returns the scheme of a word in the form of an address, for any database: `postgre://`,
/// `jdbc:postgresql://`.
fn scheme(words: &str) -> Option<Range<usize>> {
    let words = words.trim_start();
    let named = words.find("://").filter(|at| {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "+-.:".contains(letter);
        *at > 0 && words[..*at].chars().all(is_letter)
    });
    let short = || {
        let at = words.find(':')?;
        words[..at].to_ascii_lowercase().starts_with("postgre").then_some(at)
    };
    named.or_else(short).map(|end| 0..end)
}

/// Returns whether the text contains a setting of libpq, first or after settings with other names.
fn has_setting(words: &str) -> bool {
    let names = words.match_indices('=').filter_map(|(at, _)| words[..at].split_whitespace().next_back());
    names.into_iter().any(is_setting)
}

/// Returns whether a word is the name of a setting of libpq or another driver.
pub(crate) fn is_setting(name: &str) -> bool {
    SETTINGS.iter().chain(&FOREIGN_SETTINGS).any(|own| own.eq_ignore_ascii_case(name))
}

/// Parses a value in a list of settings, and returns the remaining text. A backslash escapes the
/// next character.
fn setting_value(words: &str) -> Parsed<(String, &str)> {
    let (words, is_quoted) = words.strip_prefix('\'').map_or((words, false), |quoted| (quoted, true));
    let mut value = String::new();
    let mut letters = words.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => value.push(letters.next().ok_or_else(unreadable)?.1),
            '\'' if is_quoted => return Ok((value, &words[at + 1..])),
            letter if !is_quoted && letter.is_whitespace() => return Ok((value, &words[at..])),
            letter => value.push(letter),
        }
    }
    if is_quoted { Err(unreadable()) } else { Ok((value, "")) }
}

/// Decodes a percent-encoded part of a URL.
fn decoded(words: &str) -> Parsed<String> {
    percent_decoded(words).ok_or_else(unreadable)
}

/// Decodes a part like [`decoded`], but refuses an `@`, which may belong to a password.
fn unquoted(words: &str) -> Parsed<String> {
    if words.contains('@') { Err(unreadable()) } else { decoded(words) }
}

/// Decodes percent-encoding, or returns `None` if it is not valid.
pub(crate) fn percent_decoded(words: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut parts = words.split('%');
    bytes.extend(parts.next()?.as_bytes());
    for part in parts {
        let code = part.get(..2).filter(|code| code.bytes().all(|digit| digit.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(code, 16).ok()?);
        bytes.extend(&part.as_bytes()[2..]);
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(words: &str) -> Vec<(&'static str, String)> {
        SharedAddress::parse(words).unwrap().settings
    }

    #[test]
    fn both_forms_of_an_address_are_read() {
        let one = [
            ("user", "aki"),
            ("password", "s3@cret"),
            ("port", "6000"),
            ("host", "db.example"),
            ("dbname", "lab"),
            ("sslmode", "disable"),
        ];
        let one: Vec<_> = one.map(|(setting, value)| (setting, value.to_owned())).into();
        assert_eq!(settings("postgres://aki:s3%40cret@db.example:6000/lab?sslmode=disable"), one);
        let same = " user=aki password='s3@cret' port=6000\thost = db.example  dbname=lab sslmode=disable";
        assert_eq!(settings(same), one);
        assert_eq!(settings(r"password='s3 c\'r\\et' user=a\ b")[0].1, r"s3 c'r\et");
        let several = settings("postgresql://[::1]:1,b/?user=a%40b");
        assert_eq!(several[..2], [("port", "1,".to_owned()), ("host", "::1,b".to_owned())]);
        assert_eq!(settings("postgres://aki:s3#c:r et@db/lab")[1].1, "s3#c:r et", "as libpq reads it");
        assert_eq!(settings("postgres://aki@db/lab?password=s3@c/r?et")[3].1, "s3@c/r?et");
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for (words, shown) in [
            (
                "postgres://aki:s3cret@db.example:6000/lab?sslmode=disable",
                "postgres://aki@db.example:6000/lab",
            ),
            ("postgres://aki@/lab?host=/run/pg&password=s3cret", "postgres://aki@/lab?host=/run/pg"),
            ("host=::1 password=s3cret", "postgres://[::1]/"),
        ] {
            let address = SharedAddress::parse(words).unwrap();
            assert_eq!(address.to_string(), shown);
            assert_eq!(format!("{address:?}"), format!("SharedAddress({shown})"));
            assert!(address.password().is_some());
        }
    }

    #[test]
    fn an_address_that_may_show_a_password_is_refused_without_a_word_of_it() {
        for words in [
            "postgres://aki:s3@cret@db/lab",
            "postgres://aki:s3/cret@db/lab",
            "postgres://aki:53/s3cret@db/lab",
            "postgres://aki:53?s3cret@db/lab",
            "postgres://aki:53?user=s3cret@db/lab",
            "postgres://aki:s3%cret@db/lab",
            "postgres://aki:s3cret@db:x/lab",
            "postgres://aki%3As3cret%40db/lab",
            "postgres://db/lab;password=s3cret",
            "postgres://db/lab?s3=cret",
            "postgre://aki:s3cret@db",
            "Postgres://aki:s3cret@db",
            "jdbc:postgresql://db/lab?user=aki&password=s3cret",
            "postgresql:aki:s3cret@db/lab",
            "aki:s3cret@db/lab",
            "host=db;password=s3cret",
            "host=db,password=s3cret",
            "Host=db;Username=aki;Password=s3cret",
            "hots=db password=s3cret",
            "host=db dbname=lab;pwd=s3cret",
            "host=db password=s3 cret",
            "host=db password='s3cret",
            "host=db password='s3'cret",
            "user=aki:s3cret@db dbname=lab",
        ] {
            let fault = SharedAddress::named(OsStr::new(words)).expect(words).expect_err(words);
            let error = Error::from(fault);
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert!(!format!("{error:?}{error}").contains("cret"), "{words}: {error:?}");
        }
        let error = Error::from(SharedAddress::parse("host=db service=lab").unwrap_err());
        assert!(error.to_string().contains("`service`"), "{error}");
    }

    #[test]
    fn the_name_of_a_file_is_no_address() {
        for word in [
            "/mnt/a:b@c",
            "./host=db",
            "runs.db",
            "my runs.db",
            "a=b.db",
            "../x/postgres://a:b@c",
            "C:runs.db",
        ] {
            assert_eq!(SharedAddress::named(OsStr::new(word)), None, "{word}");
        }
    }
}
