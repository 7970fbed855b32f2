use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
};

use thiserror::Error;
use tokio::net::TcpListener;

/// Where the server listens unless it is told otherwise.
pub const DEFAULT_LISTEN: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 8080);

/// Where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listen {
    /// Address and port; port 0 takes a free one.
    pub address: SocketAddr,
    /// Listen on another address than loopback although nothing asks who is there.
    pub insecure_bind: bool,
}

/// Why the server can't listen.
#[derive(Debug, Error)]
pub enum BindError {
    /// The address can be reached from elsewhere.
    #[error(
        "refusing to listen on {address}: the HTTP endpoint has no authentication yet, and whoever \
         reaches it reads the names and messages of every add-on. Listen on 127.0.0.1:{port} and use \
         `kubectl port-forward`, or give --insecure-bind if the network keeps others away",
        port = address.port()
    )]
    Exposed {
        /// What was asked for.
        address: SocketAddr,
    },
    /// The system refuses the address.
    #[error("can't listen on {address} (--listen gives another address)")]
    Refused {
        /// What was asked for.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
}

/// Whether `address` may be listened on: loopback always, another only if `insecure`.
///
/// # Errors
///
/// [`BindError::Exposed`].
pub fn check_bind(address: SocketAddr, insecure: bool) -> Result<(), BindError> {
    if insecure || address.ip().to_canonical().is_loopback() {
        Ok(())
    } else {
        Err(BindError::Exposed { address })
    }
}

impl Listen {
    /// Checks the address and listens on it.
    ///
    /// # Errors
    ///
    /// [`BindError`], which names the address and the way out.
    pub async fn bind(self) -> Result<TcpListener, BindError> {
        let Self { address, insecure_bind } = self;
        check_bind(address, insecure_bind)?;
        TcpListener::bind(address).await.map_err(|source| BindError::Refused { address, source })
    }
}

impl Default for Listen {
    fn default() -> Self {
        Self { address: DEFAULT_LISTEN, insecure_bind: false }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    fn address(text: &str) -> SocketAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn loopback_is_listened_on_without_asking() {
        for good in ["127.0.0.1:8080", "127.0.0.2:0", "[::1]:8080", "[::ffff:127.0.0.1]:1"] {
            assert!(check_bind(address(good), false).is_ok(), "{good}");
        }
    }

    #[test]
    fn another_address_needs_a_word_of_consent() {
        for exposed in ["0.0.0.0:8080", "[::]:8080", "10.1.2.3:9", "[::ffff:10.1.2.3]:9"] {
            let error = check_bind(address(exposed), false).expect_err(exposed).to_string();
            assert!(error.contains(exposed) && error.contains("--insecure-bind"), "{error}");
            assert!(check_bind(address(exposed), true).is_ok());
        }
    }

    #[tokio::test]
    async fn a_taken_address_is_named() {
        let first = Listen { address: address("127.0.0.1:0"), insecure_bind: false };
        let listener = first.bind().await.expect("a free port");
        let taken = listener.local_addr().expect("an address");
        let error = Listen { address: taken, insecure_bind: false }.bind().await.expect_err("taken");
        let chain = format!("{:#}", anyhow::Error::from(error));
        assert!(
            chain.starts_with(&format!("can't listen on {taken} (--listen gives another address): ")),
            "{chain}"
        );
        assert_eq!(chain.matches("in use").count(), 1, "{chain}");
    }
}
