use std::net::{IpAddr, SocketAddr};

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header, uri::Authority};

use super::failure::Failure;

const CONTENT_SECURITY_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; \
    connect-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types 'none'";

const SECURITY_HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
];

/// Which names a request may call the server by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Hosts {
    /// Those of the loopback address. A page of another site can make its own name point here (DNS
    /// rebinding) and would be let in as the same origin.
    Loopback,
    /// Any: how the server is called is the business of whoever exposed it.
    Any,
}

impl Hosts {
    /// The rule for a listener on `address`; the strict one where that isn't known.
    pub(super) fn of(address: Option<SocketAddr>) -> Self {
        match address {
            Some(address) if !address.ip().to_canonical().is_loopback() => Self::Any,
            _ => Self::Loopback,
        }
    }

    fn check(self, uri: &Uri, headers: &HeaderMap) -> Result<(), Failure> {
        if self == Self::Any {
            return Ok(());
        }
        let mut hosts = headers.get_all(header::HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).unwrap_or_default();
        let second = hosts.next().is_some();
        let in_line = uri.authority().is_none_or(|authority| is_loopback(authority.as_str()));
        if is_loopback(host) && in_line && !second { Ok(()) } else { Err(Failure::host(host)) }
    }
}

/// Whether `host` names the loopback address, with any port: `kubectl port-forward` gives it another.
fn is_loopback(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    // User information before the host is never sent by a browser.
    if host.contains('@') {
        return false;
    }
    let name = authority.host();
    let address = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
    name.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

/// Refuses what isn't a read or came by a wrong name, and closes every answer against misuse by
/// other sites and by what stands in the data.
pub(super) async fn guard(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let mut response = match refusal(hosts, &request) {
        Some(failure) => failure.into_response(),
        None => next.run(request).await,
    };
    let headers = response.headers_mut();
    for (name, value) in SECURITY_HEADERS {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

fn refusal(hosts: Hosts, request: &Request) -> Option<Failure> {
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return Some(Failure::method(request.method().as_str()));
    }
    hosts.check(request.uri(), request.headers()).err()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_the_loopback_address_are_taken() {
        for good in ["localhost", "LocalHost:8080", "127.0.0.1:1", "127.8.9.1", "[::1]:8080", "[::1]"] {
            assert!(is_loopback(good), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "localhost.evil.example:8080",
            "127.0.0.1.evil.example",
            "localhost@evil.example",
            "evil@localhost",
            "10.0.0.1",
            "0.0.0.0:8080",
            "::1",
            "[::2]",
            "localhost:80:80",
            "localhost/",
        ] {
            assert!(!is_loopback(bad), "{bad}");
        }
    }

    #[test]
    fn an_unknown_address_is_checked() {
        assert_eq!(Hosts::of(None), Hosts::Loopback);
        assert_eq!(Hosts::of("[::ffff:127.0.0.1]:80".parse().ok()), Hosts::Loopback);
        assert_eq!(Hosts::of("10.0.0.1:80".parse().ok()), Hosts::Any);
        assert_eq!(Hosts::of("0.0.0.0:80".parse().ok()), Hosts::Any);
    }
}
