use bytes::Bytes;
use http_body_util::BodyExt;
use kube::client::Body;
use memchr::memchr;

use super::FeedError;

/// The longest line that is read: more than the API server stores for one object.
const MAX_LINE: usize = 16 << 20;

/// The lines of a response as they arrive.
pub(super) struct Lines {
    body: Body,
    chunk: Bytes,
    partial: Vec<u8>,
}

impl Lines {
    pub(super) fn new(body: Body) -> Self {
        Self { body, chunk: Bytes::new(), partial: Vec::new() }
    }

    /// The next line without its end, `None` at the end of the response. What stands after the last
    /// line end was cut off and is dropped. Nothing is lost where the future is dropped.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, FeedError> {
        loop {
            if let Some(end) = memchr(b'\n', &self.chunk) {
                let line = self.chunk.split_to(end + 1).slice(..end);
                if self.partial.is_empty() {
                    return Ok(Some(line));
                }
                self.partial.extend_from_slice(&line);
                return Ok(Some(std::mem::take(&mut self.partial).into()));
            }
            if self.partial.len() + self.chunk.len() > MAX_LINE {
                return Err(FeedError::TooLarge);
            }
            self.partial.extend_from_slice(&self.chunk);
            self.chunk.clear();
            match self.body.frame().await {
                Some(frame) => {
                    self.chunk = frame.map_err(|e| FeedError::transport(&e))?.into_data().unwrap_or_default();
                }
                None => return Ok(None),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used)]

    use super::*;

    async fn lines(text: &[u8]) -> Vec<String> {
        let mut lines = Lines::new(Body::from(text.to_vec()));
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.expect("lines") {
            all.push(String::from_utf8_lossy(&line).into_owned());
        }
        all
    }

    #[tokio::test]
    async fn lines_end_where_they_end() {
        assert_eq!(lines(b"one\ntwo\n\nthree cut off").await, ["one", "two", ""]);
        assert!(lines(b"").await.is_empty());
    }

    #[tokio::test]
    async fn an_endless_line_is_an_error() {
        let mut lines = Lines::new(Body::from(vec![b'x'; MAX_LINE + 1]));
        assert!(matches!(lines.next().await, Err(FeedError::TooLarge)));
    }
}
