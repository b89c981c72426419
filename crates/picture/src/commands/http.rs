//! One question over HTTP, with what the standard library has.
//!
//! It speaks to `millpond web` and nothing else: one request, one answer, no redirects, no encryption. What
//! comes back is bounded in size and time, because whoever answers at an address need not be ours.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

/// An answer has up to seven thousand points with sixteen numbers each.
const MOST_BYTES: u64 = 64 << 20;
/// A line of a header, and how many there may be.
const MOST_LINE: u64 = 16 << 10;
const MOST_HEADERS: usize = 256;
const CONNECT_WITHIN: Duration = Duration::from_secs(5);
/// A collection of the pond may have to end first.
const ANSWER_WITHIN: Duration = Duration::from_secs(40);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum HttpError {
    /// The address is not one that is understood.
    #[error("'{url}' is not the address of a `millpond web`: {why}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Nobody answers there, or the connection broke.
    #[error("asking '{server}': {source}")]
    Connection {
        /// Host and port.
        server: String,
        /// What the system said.
        source: io::Error,
    },
    /// What came is not an answer of HTTP.
    #[error("'{server}' does not answer as a `millpond web` does: {why}")]
    Answer {
        /// Host and port.
        server: String,
        /// What is wrong with it.
        why: &'static str,
    },
}

/// A server, taken from its URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Server {
    /// As in the header `Host`.
    authority: String,
    host: String,
    port: u16,
    /// What stands before every path, where the server is behind another one.
    base: String,
}

/// An answer.
#[derive(Debug)]
pub(super) struct Answer {
    /// 200 is the one that was hoped for.
    pub status: u16,
    pub body: Vec<u8>,
}

impl Server {
    pub(super) fn of_url(url: &str) -> Result<Self, HttpError> {
        let wrong = |why| HttpError::Url { url: url.to_owned(), why };
        if url.starts_with("https:") {
            return Err(wrong("this command does not encrypt; use a tunnel, as in `ssh -L`"));
        }
        let rest = url.strip_prefix("http://").ok_or_else(|| wrong("it begins with `http://`"))?;
        if rest.bytes().any(|byte| byte.is_ascii_control() || byte == b' ' || byte == b'@') {
            return Err(wrong("it has a character that no address has"));
        }
        let (authority, base) = rest.split_once('/').unwrap_or((rest, ""));
        if base.contains(['?', '#']) {
            return Err(wrong("it has a question or a fragment"));
        }
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
            _ => (authority, None),
        };
        let port = match port {
            Some(port) => port.parse().map_err(|_| wrong("its port is not a number"))?,
            None => 80,
        };
        let host = host.trim_start_matches('[').trim_end_matches(']');
        if host.is_empty() {
            return Err(wrong("it has no host"));
        }
        let base = base.trim_end_matches('/');
        let base = if base.is_empty() { String::new() } else { format!("/{base}") };
        Ok(Self { authority: authority.to_owned(), host: host.to_owned(), port, base })
    }

    /// Asks for a path, which begins with `/`.
    pub(super) fn get(&self, path: &str, token: Option<&str>) -> Result<Answer, HttpError> {
        let failed = |source| HttpError::Connection { server: self.authority.clone(), source };
        let stream = self.connect().map_err(failed)?;
        let token = token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let request = format!(
            "GET {}{path} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n{}\
             User-Agent: millpond\r\nConnection: close\r\n\r\n",
            self.base,
            self.authority,
            token.unwrap_or_default()
        );
        (&stream).write_all(request.as_bytes()).map_err(failed)?;
        self.read(BufReader::new(stream))
    }

    fn connect(&self) -> io::Result<TcpStream> {
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for address in (self.host.as_str(), self.port).to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, CONNECT_WITHIN) {
                Ok(stream) => {
                    stream.set_read_timeout(Some(ANSWER_WITHIN))?;
                    stream.set_write_timeout(Some(ANSWER_WITHIN))?;
                    return Ok(stream);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn read(&self, mut from: impl BufRead) -> Result<Answer, HttpError> {
        let failed = |source| HttpError::Connection { server: self.authority.clone(), source };
        let wrong = |why| HttpError::Answer { server: self.authority.clone(), why };
        let first = line(&mut from).map_err(failed)?;
        let status = first
            .strip_prefix("HTTP/1.")
            .and_then(|rest| rest.split(' ').nth(1))
            .and_then(|status| status.parse().ok())
            .ok_or_else(|| wrong("it begins with no status of HTTP"))?;
        let (mut length, mut chunked) = (None, false);
        for count in 0.. {
            let header = line(&mut from).map_err(failed)?;
            if header.is_empty() {
                break;
            }
            if count == MOST_HEADERS {
                return Err(wrong("it has too many headers"));
            }
            let Some((name, value)) = header.split_once(':') else { continue };
            let value = value.trim();
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse::<u64>().ok();
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                chunked = value.eq_ignore_ascii_case("chunked");
            }
        }
        if length.is_some_and(|length| length > MOST_BYTES) {
            return Err(wrong("it is too long"));
        }
        let mut body = Vec::new();
        let most = length.unwrap_or(MOST_BYTES);
        let is_whole = if chunked {
            read_chunks(&mut from, &mut body).map_err(failed)?
        } else {
            from.take(most).read_to_end(&mut body).map_err(failed)?;
            length.is_none_or(|length| u64::try_from(body.len()) == Ok(length))
        };
        match is_whole {
            true => Ok(Answer { status, body }),
            false => Err(wrong("it ends too early")),
        }
    }
}

/// A line without its end.
fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut bytes = Vec::new();
    from.take(MOST_LINE).read_until(b'\n', &mut bytes)?;
    if bytes.last() != Some(&b'\n') {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// Reads a body in chunks; false where it ends before its last one.
fn read_chunks(from: &mut impl BufRead, body: &mut Vec<u8>) -> io::Result<bool> {
    loop {
        let header = line(from)?;
        let digits = header.split(';').next().unwrap_or_default().trim();
        let Ok(length) = u64::from_str_radix(digits, 16) else { return Ok(false) };
        let before = u64::try_from(body.len()).unwrap_or(u64::MAX);
        if length == 0 {
            return Ok(true);
        }
        if before.saturating_add(length) > MOST_BYTES {
            return Ok(false);
        }
        let read = from.take(length).read_to_end(body)?;
        if u64::try_from(read) != Ok(length) {
            return Ok(false);
        }
        line(from)?;
    }
}

/// Text as a value in a question.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            quoted.push(char::from(byte));
        } else {
            quoted.push_str(&format!("%{byte:02X}"));
        }
    }
    quoted
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn server(url: &str) -> Result<(String, u16, String), String> {
        let server = Server::of_url(url).map_err(|error| error.to_string())?;
        Ok((server.host, server.port, server.base))
    }

    #[test]
    fn urls_are_read() {
        let is = |url: &str, host: &str, port, base: &str| {
            assert_eq!(server(url), Ok((host.to_owned(), port, base.to_owned())), "{url}");
        };
        is("http://127.0.0.1:7711", "127.0.0.1", 7711, "");
        is("http://gpu7/", "gpu7", 80, "");
        is("http://[::1]:7711/millpond/", "::1", 7711, "/millpond");
        is("http://[::1]", "::1", 80, "");
        for url in [
            "gpu7:7711",
            "https://gpu7",
            "http://",
            "http://a:b",
            "http://u@h",
            "http://h/?x",
            "http://h\r\n:1",
        ] {
            assert!(server(url).is_err(), "{url}");
        }
        assert!(server("https://gpu7").unwrap_err().contains("tunnel"));
    }

    #[test]
    fn text_is_quoted() {
        assert_eq!(quoted("GPU-07/ä&x=1\r\n"), "GPU-07%2F%C3%A4%26x%3D1%0D%0A");
    }

    fn read(answer: &[u8]) -> Result<Answer, HttpError> {
        Server::of_url("http://x").unwrap().read(answer)
    }

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let plain = read(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi there").unwrap();
        assert_eq!((plain.status, plain.body.as_slice()), (200, &b"hi"[..]));
        let open = read(b"HTTP/1.0 404 Not Found\r\n\r\nall of it").unwrap();
        assert_eq!((open.status, open.body.as_slice()), (404, &b"all of it"[..]));
        let chunks = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2;x=y\r\nhi\r\n3\r\n yo\r\n0\r\n\r\n";
        assert_eq!(read(chunks).unwrap().body, b"hi yo");
        for bad in [
            &b""[..],
            b"SSH-2.0-OpenSSH\r\n",
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhi",
            b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffff\r\n",
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhi",
        ] {
            assert!(read(bad).is_err(), "{}", String::from_utf8_lossy(bad));
        }
        let endless = [b"HTTP/1.1 200 OK\r\n".to_vec(), b"a: b\r\n".repeat(1000)].concat();
        assert!(read(&endless).is_err());
        assert!(read(&vec![b'x'; 1 << 20]).is_err());
    }

    #[test]
    fn a_request_has_its_host_and_its_token() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let asked = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            let mut lines = BufReader::new(stream.try_clone().unwrap());
            while !request.ends_with("\r\n\r\n") {
                lines.read_line(&mut request).unwrap();
            }
            stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap();
            request
        });
        let server = Server::of_url(&format!("http://127.0.0.1:{port}/base")).unwrap();
        assert_eq!(server.get("/x?y=1", Some("secret")).unwrap().status, 200);
        let request = asked.join().unwrap();
        assert!(request.starts_with("GET /base/x?y=1 HTTP/1.1\r\n"), "{request}");
        assert!(request.contains(&format!("Host: 127.0.0.1:{port}\r\n")));
        assert!(request.contains("Authorization: Bearer secret\r\n"));
    }
}
