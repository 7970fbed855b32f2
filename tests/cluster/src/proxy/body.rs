//! Passes an answer on, chunk by chunk, and does to it what is asked for at that moment.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::BodyExt as _;
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};

use super::{
    fault::{After, Fault, How},
    request::Asked,
    rules::Rules,
    socket::Reset,
};

/// How long what was sent has to leave before the connection ends.
const LEAVE: Duration = Duration::from_millis(50);

/// How often something is sent of a slow answer.
const STEP: Duration = Duration::from_millis(100);

/// An answer whose chunks come through a channel.
pub(super) struct Piped(mpsc::Receiver<io::Result<Bytes>>);

#[cfg(test)]
impl Piped {
    pub(super) fn of(chunks: mpsc::Receiver<io::Result<Bytes>>) -> Self {
        Self(chunks)
    }
}

impl Body for Piped {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        self.0.poll_recv(cx).map(|chunk| chunk.map(|chunk| chunk.map(Frame::data)))
    }
}

/// Begins to pass `body` on.
pub(super) fn pipe(body: kube::client::Body, asked: Asked, rules: Arc<Rules>, reset: Reset) -> Piped {
    let (to, from) = mpsc::channel(1);
    let pump = Pump { to, asked, rules, reset, opened: Instant::now(), acting: None };
    tokio::spawn(pump.run(body));
    Piped(from)
}

struct Pump {
    to: mpsc::Sender<io::Result<Bytes>>,
    asked: Asked,
    rules: Arc<Rules>,
    reset: Reset,
    opened: Instant,
    /// The fault that is to happen, and what has passed since it was so.
    acting: Option<Acting>,
}

struct Acting {
    id: u64,
    bytes: usize,
    lines: usize,
}

/// The answer has ended, or nobody wants it any more.
struct Ended;

impl Pump {
    async fn run(mut self, mut body: kube::client::Body) {
        let to = self.to.clone();
        let mut changed = self.rules.changes();
        loop {
            changed.mark_unchanged();
            let fault = self.fault();
            let end = match fault {
                Some(Fault::Reset) if self.happens() => return self.cut(How::Reset).await,
                Some(Fault::Stall | Fault::Mute) => {
                    if !self.happens() {
                        continue;
                    }
                    let over = async { while self.is_there() && changed.changed().await.is_ok() {} };
                    tokio::select! {
                        () = to.closed() => return,
                        () = over => continue,
                    }
                }
                Some(Fault::End(after)) => Some(self.opened + after),
                _ => None,
            };
            let due = async {
                match end {
                    Some(end) => sleep_until(end).await,
                    None => std::future::pending().await,
                }
            };
            let frame = tokio::select! {
                biased;
                () = to.closed() => return,
                _ = changed.changed() => continue,
                () = due => match self.happens() {
                    true => return,
                    false => continue,
                },
                frame = body.frame() => frame,
            };
            let chunk = match frame {
                None => return,
                Some(Err(_)) => return self.cut(How::Reset).await,
                Some(Ok(frame)) => frame.into_data().unwrap_or_default(),
            };
            if self.pass(chunk, fault).await.is_err() {
                return;
            }
        }
    }

    fn fault(&mut self) -> Option<Fault> {
        let (id, fault) = self.rules.late(&self.asked)?;
        if self.acting.as_ref().is_none_or(|acting| acting.id != id) {
            self.acting = Some(Acting { id, bytes: 0, lines: 0 });
        }
        Some(fault)
    }

    /// Whether the fault that acts lasts still.
    fn is_there(&self) -> bool {
        self.acting.as_ref().is_some_and(|acting| self.rules.is_there(acting.id))
    }

    fn happens(&self) -> bool {
        self.acting.as_ref().is_some_and(|acting| self.rules.happens(acting.id))
    }

    async fn pass(&mut self, chunk: Bytes, fault: Option<Fault>) -> Result<(), Ended> {
        match fault {
            Some(Fault::Cut(after, how)) => {
                let place = self.acting.as_mut().and_then(|acting| acting.place(&chunk, after));
                match place {
                    Some(place) if self.happens() => {
                        self.send(chunk.slice(..place)).await?;
                        self.cut(how).await;
                        Err(Ended)
                    }
                    _ => self.send(chunk).await,
                }
            }
            Some(Fault::Slow(rate)) => {
                self.happens();
                let step = usize::try_from(rate / 10).unwrap_or(1).max(1);
                let mut rest = chunk;
                while !rest.is_empty() {
                    // Other faults may have come, or this one has gone.
                    let is_slow = matches!(self.fault(), Some(Fault::Slow(_)));
                    let size = if is_slow { step.min(rest.len()) } else { rest.len() };
                    self.send(rest.split_to(size)).await?;
                    if is_slow {
                        sleep(STEP).await;
                    }
                }
                Ok(())
            }
            _ => self.send(chunk).await,
        }
    }

    async fn send(&self, chunk: Bytes) -> Result<(), Ended> {
        if chunk.is_empty() {
            return Ok(());
        }
        self.to.send(Ok(chunk)).await.map_err(|_| Ended)
    }

    async fn cut(&self, how: How) {
        if how == How::Clean {
            return;
        }
        sleep(LEAVE).await;
        if how == How::Reset {
            self.reset.ask();
        }
        let _ = self.to.send(Err(io::ErrorKind::ConnectionReset.into())).await;
    }
}

impl Acting {
    /// Where in the chunk it is to be cut; otherwise the chunk counts as passed.
    fn place(&mut self, chunk: &[u8], after: After) -> Option<usize> {
        match after {
            After::Bytes(bytes) => {
                let before = self.bytes;
                self.bytes += chunk.len();
                (self.bytes >= bytes).then(|| bytes.saturating_sub(before).min(chunk.len()))
            }
            After::Lines(lines) => {
                let ends = chunk.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
                let missing = lines.saturating_sub(self.lines);
                let start = match missing {
                    0 => Some(0),
                    more => ends.clone().nth(more - 1).map(|end| end + 1),
                };
                self.lines += ends.count();
                let start = start.filter(|start| *start < chunk.len())?;
                let end = chunk[start..].iter().position(|byte| *byte == b'\n');
                let length = end.unwrap_or(chunk.len() - start);
                Some(start + length / 2)
            }
        }
    }
}
