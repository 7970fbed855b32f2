use bytes::Bytes;
use http_body_util::BodyExt;
use kube::client::Body;
use memchr::memchr;

use super::{
    FeedError,
    wire::{Encoding, Frame},
};

/// The longest frame that is read: more than the API server stores for one object.
const MAX_FRAME: usize = 16 << 20;

/// How long the length is that stands before each protobuf message.
const LENGTH: usize = 4;

/// The events of a response as they arrive: lines of JSON, or protobuf messages that their length goes
/// before.
pub(super) struct Frames<B = Body> {
    body: B,
    encoding: Encoding,
    chunk: Bytes,
    partial: Vec<u8>,
}

impl<B> Frames<B>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
    B::Error: std::error::Error,
{
    pub(super) fn new(body: B, encoding: Encoding) -> Self {
        Self { body, encoding, chunk: Bytes::new(), partial: Vec::new() }
    }

    /// The next frame, `None` at the end of the response. What isn't whole then was cut off and is
    /// dropped. Nothing is lost where the future is dropped.
    pub(super) async fn next(&mut self) -> Result<Option<Frame>, FeedError> {
        loop {
            let whole = match self.encoding {
                Encoding::Json => self.line()?,
                Encoding::Protobuf => self.message()?,
            };
            if let Some(bytes) = whole {
                return Ok(Some(Frame { bytes, encoding: self.encoding }));
            }
            match self.body.frame().await {
                Some(frame) => {
                    self.chunk = frame.map_err(|e| FeedError::transport(&e))?.into_data().unwrap_or_default();
                }
                None => return Ok(None),
            }
        }
    }

    /// A line without its end, where that has arrived.
    fn line(&mut self) -> Result<Option<Bytes>, FeedError> {
        if let Some(end) = memchr(b'\n', &self.chunk) {
            let line = self.chunk.split_to(end + 1).slice(..end);
            if self.partial.is_empty() {
                return Ok(Some(line));
            }
            self.partial.extend_from_slice(&line);
            return Ok(Some(std::mem::take(&mut self.partial).into()));
        }
        if self.partial.len() + self.chunk.len() > MAX_FRAME {
            return Err(FeedError::TooLarge);
        }
        self.put_aside(self.chunk.len());
        Ok(None)
    }

    /// A message without its length, where it has arrived whole.
    fn message(&mut self) -> Result<Option<Bytes>, FeedError> {
        if self.partial.is_empty()
            && let Some(end) = message_end(&self.chunk)?
            && end <= self.chunk.len()
        {
            return Ok(Some(self.chunk.split_to(end).slice(LENGTH..)));
        }
        // The length first, and then what it says.
        for _ in 0..2 {
            let end = message_end(&self.partial)?.unwrap_or(LENGTH);
            let missing = end.saturating_sub(self.partial.len());
            self.put_aside(missing.min(self.chunk.len()));
        }
        match message_end(&self.partial)? {
            Some(end) if end == self.partial.len() => {
                Ok(Some(Bytes::from(std::mem::take(&mut self.partial)).slice(LENGTH..)))
            }
            _ => Ok(None),
        }
    }

    /// Puts so much of what has arrived to the frame that isn't whole yet.
    fn put_aside(&mut self, count: usize) {
        self.partial.extend_from_slice(&self.chunk.split_to(count));
    }
}

/// Where the message ends that begins here; `None` where its length hasn't arrived.
fn message_end(bytes: &[u8]) -> Result<Option<usize>, FeedError> {
    let Some((length, _)) = bytes.split_first_chunk::<LENGTH>() else { return Ok(None) };
    match usize::try_from(u32::from_be_bytes(*length)) {
        Ok(length) if length <= MAX_FRAME => Ok(Some(LENGTH + length)),
        _ => Err(FeedError::TooLarge),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use std::convert::Infallible;

    use futures::stream;
    use http_body_util::StreamBody;
    use proptest::prelude::*;

    use super::*;

    /// What comes of a response that arrives in these pieces.
    async fn frames(encoding: Encoding, pieces: Vec<Vec<u8>>) -> Result<Vec<Bytes>, FeedError> {
        let pieces =
            pieces.into_iter().map(|piece| Ok::<_, Infallible>(hyper::body::Frame::data(piece.into())));
        let body =
            StreamBody::new(stream::iter(pieces.collect::<Vec<Result<hyper::body::Frame<Bytes>, _>>>()));
        let mut frames = Frames::new(body, encoding);
        let mut all = Vec::new();
        while let Some(frame) = frames.next().await? {
            all.push(frame.bytes);
        }
        Ok(all)
    }

    fn message(content: &[u8]) -> Vec<u8> {
        let length = u32::try_from(content.len()).expect("short");
        [&length.to_be_bytes(), content].concat()
    }

    fn now<T>(future: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(future)
    }

    #[test]
    fn lines_end_where_they_end() {
        let all = now(frames(Encoding::Json, vec![b"one\ntwo\n\nthree cut off".to_vec()])).expect("lines");
        assert_eq!(all, ["one", "two", ""]);
        assert!(now(frames(Encoding::Json, Vec::new())).expect("lines").is_empty());
    }

    #[test]
    fn an_endless_frame_is_an_error() {
        let line = vec![b'x'; MAX_FRAME + 1];
        assert_eq!(now(frames(Encoding::Json, vec![line])), Err(FeedError::TooLarge));
        // A JSON error page where protobuf was asked for has a length of a gigabyte.
        let page = br#"{"kind":"Status"}"#.to_vec();
        assert_eq!(now(frames(Encoding::Protobuf, vec![page])), Err(FeedError::TooLarge));
    }

    proptest! {
        #[test]
        fn frames_are_the_same_however_they_arrive(
            contents in prop::collection::vec(prop::collection::vec(b' '..b'~', 0..40), 0..6),
            cuts in prop::collection::vec(0usize..200, 0..12),
            rest in prop::collection::vec(0u8..10, 0..3),
            protobuf: bool,
        ) {
            let encoding = if protobuf { Encoding::Protobuf } else { Encoding::Json };
            let frame = |content: &Vec<u8>| {
                if protobuf { message(content) } else { [content, &b"\n"[..]].concat() }
            };
            let mut bytes: Vec<u8> = contents.iter().flat_map(frame).collect();
            bytes.extend(&rest);
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|cut| bytes[cut[0]..cut[1]].to_vec()).collect();
            let whole = now(frames(encoding, vec![bytes.clone()])).expect("frames");
            prop_assert_eq!(&whole, &contents);
            prop_assert_eq!(now(frames(encoding, pieces)).expect("frames"), whole);
        }
    }
}
