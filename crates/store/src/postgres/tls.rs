//! TLS for the PostgreSQL client, by rustls with ring.
//!
//! The checks of the server's certificate are decided before the first byte ([`Checked`]); the
//! session decides whether TLS is used at all. Signatures of the handshake are always checked, so a
//! certificate cannot be used without its key.

use super::guard::Wire;
use kurabe_core::{ErrorKind, Result, shown, text};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio_rustls::TlsConnector;

/// Checks of the server's certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checked {
    Nothing,
    Issuer,
    IssuerAndName,
}

/// Where distributions install public root certificates (`sslrootcert=system`).
const SYSTEM_ROOTS: [&str; 3] =
    ["/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem"];

pub(super) struct Tls(Arc<ClientConfig>);

impl Tls {
    pub(super) fn new(checked: Checked, roots: Option<PathBuf>) -> Result<Self> {
        let provider = Arc::new(ring::default_provider());
        let issuer = match (checked, roots) {
            (Checked::Nothing, _) => None,
            (_, Some(path)) => Some(issuer(&path, &provider)?),
            (_, None) => {
                return Err(ErrorKind::Usage
                    .error(text!("no root certificate is given", "ルート証明書が指定されていません"))
                    .remedy(text!(
                        "add it to the address: sslrootcert=FILE, or sslrootcert=system for the \
                         certificates of this machine",
                        "アドレスに sslrootcert=FILE を書いてください(このマシンのものなら sslrootcert=system)"
                    )));
            }
        };
        let verifier = Arc::new(Verifier { checked, issuer, provider: provider.clone() });
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| {
                ErrorKind::Internal.error(text!("cannot set up TLS", "TLS を準備できません")).because(error)
            })?
            .dangerous()
            .with_custom_certificate_verifier(verifier)
            .with_no_client_auth();
        Ok(Self(Arc::new(config)))
    }

    /// Encrypts a connection to the server of this name.
    pub(super) async fn encrypted(&self, name: &str, wire: Box<dyn Wire>) -> io::Result<Box<dyn Wire>> {
        let name = ServerName::try_from(name.to_owned()).map_err(io::Error::other)?;
        Ok(Box::new(TlsConnector::from(self.0.clone()).connect(name, wire).await?))
    }
}

fn issuer(path: &Path, provider: &Arc<CryptoProvider>) -> Result<Issuer> {
    let name = shown::path(path);
    let refused = |cause: String| {
        ErrorKind::Store
            .error(text!("cannot use the root certificates of {name}", "{name} のルート証明書を使えません"))
            .because(cause)
    };
    let system = SYSTEM_ROOTS.iter().map(Path::new).find(|path| path.exists());
    let path = if path == Path::new("system") { system.unwrap_or(path) } else { path };
    let mut roots = RootCertStore::empty();
    let mut certificates = Vec::new();
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| refused(error.to_string()))? {
        let certificate = certificate.map_err(|error| refused(error.to_string()))?;
        roots.add(certificate.clone()).map_err(|error| refused(error.to_string()))?;
        certificates.push(certificate);
    }
    let subjects = roots.roots.iter().map(|root| root.subject.to_vec());
    let trusted = certificates.into_iter().zip(subjects).collect();
    WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone())
        .build()
        .map(|verifier| Issuer { verifier, trusted })
        .map_err(|error| refused(error.to_string()))
}

/// Authorities that may have issued the server's certificate.
#[derive(Debug)]
struct Issuer {
    verifier: Arc<WebPkiServerVerifier>,
    /// Their certificates, with the content of their subjects in DER.
    trusted: Vec<(CertificateDer<'static>, Vec<u8>)>,
}

impl Issuer {
    fn verify(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForNameContext, Other};
        let verdict = self.verifier.verify_server_cert(certificate, between, name, ocsp, now);
        let Err(rustls::Error::InvalidCertificate(Other(reason))) = &verdict else { return verdict };
        let itself = self.trusted.iter().find(|(trusted, _)| trusted == certificate);
        // A server's certificate that is itself trusted, such as one created by `openssl req
        // -x509`, needs no issuer. webpki refuses it because it may issue others. Its validity
        // period was checked before that.
        let Some((_, subject)) = itself.filter(|_| reason.to_string() == "CaUsedAsEndEntity") else {
            return verdict;
        };
        match verify_server_name(&ParsedCertificate::try_from(certificate)?, name) {
            // As in libpq, the subject's common name counts only if no other field has a name.
            Err(rustls::Error::InvalidCertificate(NotValidForNameContext { presented, .. }))
                if presented.is_empty() && has_common_name(subject, &name.to_str()) =>
            {
                Ok(ServerCertVerified::assertion())
            }
            named => named.map(|()| ServerCertVerified::assertion()),
        }
    }
}

/// Returns whether a subject has this common name.
fn has_common_name(subject: &[u8], name: &str) -> bool {
    // Object identifier of the field, followed by the type, length and content of the text.
    const COMMON_NAME: [u8; 5] = [0x06, 0x03, 0x55, 0x04, 0x03];
    let field = subject.windows(COMMON_NAME.len()).position(|bytes| bytes == COMMON_NAME);
    let text = field.and_then(|at| match &subject[at + COMMON_NAME.len()..] {
        [_, length, rest @ ..] => rest.get(..usize::from(*length)),
        _ => None,
    });
    text.is_some_and(|text| text.eq_ignore_ascii_case(name.as_bytes()))
}

#[derive(Debug)]
struct Verifier {
    checked: Checked,
    issuer: Option<Issuer>,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> std::result::Result<ServerCertVerified, rustls::Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        let Some(issuer) = &self.issuer else { return Ok(ServerCertVerified::assertion()) };
        match issuer.verify(certificate, between, name, ocsp, now) {
            // The name is checked last, so everything else is valid.
            Err(rustls::Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                if self.checked == Checked::Issuer =>
            {
                Ok(ServerCertVerified::assertion())
            }
            verdict => verdict,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> std::result::Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(
            message,
            certificate,
            signature,
            &self.provider.signature_verification_algorithms,
        )
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
