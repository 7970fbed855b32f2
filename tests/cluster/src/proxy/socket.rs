//! A connection that can be reset.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::rules::Rules;

/// Says whether a connection is to end with a reset.
#[derive(Clone, Debug, Default)]
pub(super) struct Reset(Arc<AtomicBool>);

impl Reset {
    pub(super) fn ask(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A connection of a client.
pub(super) struct Socket {
    stream: TcpStream,
    reset: Reset,
    rules: Arc<Rules>,
}

impl Socket {
    pub(super) fn new(stream: TcpStream, reset: Reset, rules: Arc<Rules>) -> Self {
        rules.opened();
        Self { stream, reset, rules }
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        if self.reset.0.load(Ordering::Relaxed) {
            // A socket that can't be told so is closed as any other.
            let _ = self.stream.set_zero_linger();
        }
        self.rules.closed();
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.reset.0.load(Ordering::Relaxed) {
            // An orderly end before the reset would be taken for the end of the answer.
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
