//! A PostgreSQL server for tests: Debian's programs with a temporary data directory on a free local
//! port, with passwords and a certificate for `localhost` from a private authority.

use crate::needs::has;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Password of the role `owner`, which must never be shown.
pub const PASSWORD: &str = "s3cret-of-the-owner";

/// A server that runs until it is dropped.
pub struct PostgresServer {
    programs: PathBuf,
    directory: TempDir,
    port: u16,
}

impl PostgresServer {
    /// Starts a server with a role `owner` and its database `lab`.
    ///
    /// # Errors
    /// If PostgreSQL or openssl is not installed, or the server did not start.
    pub fn start() -> Result<Self, String> {
        let programs = programs().ok_or("PostgreSQL is not installed")?;
        if !has("openssl") {
            return Err("openssl is not installed".to_owned());
        }
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = port.map_err(|error| error.to_string())?.port();
        let server = Self { programs, directory, port };
        server.set_up().map(|()| server)
    }

    fn set_up(&self) -> Result<(), String> {
        let path = self.directory.path();
        fs::write(path.join("password"), PASSWORD).map_err(|error| error.to_string())?;
        certify(path)?;
        if is_root() {
            done(Command::new("chown").args(["-R", "postgres"]).arg(path).output())?;
        }
        let data = path.join("data");
        let words =
            ["-A", "scram-sha-256", "-U", "owner", "-E", "UTF8", "--locale=C", "--no-sync", "--pwfile"];
        done(self.program("initdb").args(words).arg(path.join("password")).arg(&data).output())?;
        let settings = format!(
            "port = {}\nlisten_addresses = '127.0.0.1'\nunix_socket_directories = '{}'\nfsync = off\nssl = on\n\
             ssl_cert_file = '{1}/server.crt'\nssl_key_file = '{1}/server.key'\n",
            self.port,
            path.display()
        );
        fs::write(data.join("postgresql.auto.conf"), settings).map_err(|error| error.to_string())?;
        self.go_on()?;
        self.sql("postgres", "CREATE DATABASE lab").map(|_| ())
    }

    /// Returns a command of the server, as the user who may start it.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "postgres", "--regid", "postgres", "--clear-groups"]).arg(&program);
        let mut command = if is_root() { command } else { Command::new(program) };
        command.current_dir(self.directory.path()).stdin(Stdio::null());
        command
    }

    /// Starts the server again.
    ///
    /// # Errors
    /// Contains the server's log.
    pub fn go_on(&self) -> Result<(), String> {
        let log = self.directory.path().join("log");
        let mut start = self.program("pg_ctl");
        start.args(["start", "-w", "-D"]).arg(self.directory.path().join("data")).arg("-l").arg(&log);
        // The server would keep inherited pipes open.
        let ended = start.stdout(Stdio::null()).stderr(Stdio::null()).status();
        match ended.is_ok_and(|ended| ended.success()) {
            true => Ok(()),
            false => Err(fs::read_to_string(log).unwrap_or_default()),
        }
    }

    /// Stops the server: `fast` for a normal shutdown, `immediate` for a crash.
    pub fn stop(&self, mode: &str) {
        let mut stop = self.program("pg_ctl");
        // A server that has already ended is not an error.
        let _ = stop.args(["stop", "-m", mode, "-D"]).arg(self.directory.path().join("data")).output();
    }

    /// Runs statements as the owner, and returns the output.
    ///
    /// # Errors
    /// Contains the server's message.
    pub fn sql(&self, database: &str, statements: &str) -> Result<String, String> {
        let mut psql = self.program("psql");
        psql.args([
            "-X",
            "-q",
            "-A",
            "-t",
            "-v",
            "ON_ERROR_STOP=1",
            "-U",
            "owner",
            "-d",
            database,
            "-c",
            statements,
        ]);
        psql.arg("-h")
            .arg(self.directory.path())
            .args(["-p", &self.port.to_string()])
            .env("PGPASSWORD", PASSWORD);
        done(psql.output())
    }

    /// Returns the address of the database `lab` for a role.
    pub fn address(&self, role: &str, password: &str) -> String {
        format!("postgres://{role}:{password}@127.0.0.1:{}/lab", self.port)
    }

    /// Returns the port of the server.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Gives the server a self-signed certificate for `localhost`, as in PostgreSQL's manual, and
    /// returns its path.
    ///
    /// `more` are further arguments of openssl, and `days` is the validity from now.
    ///
    /// # Errors
    /// If openssl fails, or the server does not start with the certificate.
    pub fn certify_itself(&self, more: &str, days: i32) -> Result<PathBuf, String> {
        let path = self.directory.path();
        let words = format!("req -x509 {NEW_KEY} -keyout server.key -out own.crt -subj /CN=localhost {more}");
        openssl(path, words.trim_end())?;
        openssl(path, &format!("x509 -in own.crt -signkey server.key -days {days} -out server.crt"))?;
        if is_root() {
            done(Command::new("chown").args(["-R", "postgres"]).arg(path).output())?;
        }
        self.stop("fast");
        self.go_on()?;
        Ok(path.join("server.crt"))
    }

    /// Returns the certificate of the authority that certified the server.
    pub fn authority(&self) -> PathBuf {
        self.directory.path().join("ca.crt")
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        self.stop("immediate");
    }
}

/// Returns the folder of the newest server.
fn programs() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").ok()?;
    let folders = versions.filter_map(|version| Some(version.ok()?.path().join("bin")));
    folders.filter(|folder| folder.join("initdb").exists()).max()
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// Arguments for a key that is generated quickly.
const NEW_KEY: &str = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";

fn openssl(path: &Path, words: &str) -> Result<String, String> {
    done(Command::new("openssl").args(words.split(' ')).current_dir(path).output())
}

/// Creates an authority, and a certificate for `localhost` from it.
fn certify(path: &Path) -> Result<(), String> {
    openssl(path, &format!("req -x509 {NEW_KEY} -keyout ca.key -out ca.crt -days 9 -subj /CN=authority"))?;
    openssl(path, &format!("req {NEW_KEY} -keyout server.key -out server.csr -subj /CN=localhost"))?;
    fs::write(path.join("names"), "subjectAltName=DNS:localhost").map_err(|error| error.to_string())?;
    openssl(
        path,
        "x509 -req -in server.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 9 -extfile names -out server.crt",
    )?;
    Ok(())
}

fn done(ended: io::Result<Output>) -> Result<String, String> {
    let ended = ended.map_err(|error| error.to_string())?;
    match ended.status.success() {
        true => Ok(String::from_utf8_lossy(&ended.stdout).trim().to_owned()),
        false => Err(String::from_utf8_lossy(&ended.stderr).into_owned()),
    }
}
