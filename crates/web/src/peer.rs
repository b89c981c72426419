//! Whose process is at the other end of a connection on this machine.
//!
//! Loopback is reached by every local user, so the address alone says nothing. The kernel is asked for
//! the socket at the other end (`sock_diag`), and says which user made it.
//!
//! Two sockets have no user although the kernel says 0: one that its process has closed already, and one
//! in TIME_WAIT. Both have no inode either, so they are told from root's.

use std::io;
use std::net::{IpAddr, SocketAddr};

use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, netlink};

/// Length of a netlink header, of the request behind it, and of the part of the answer that is read.
const HEADER: usize = 16;
const REQUEST: usize = 56;
const ANSWER: usize = 72;
/// `SOCK_DIAG_BY_FAMILY`: the kind of both messages.
const BY_FAMILY: u16 = 20;
/// `NLM_F_REQUEST` without `NLM_F_DUMP`: one socket, by its addresses.
const ONE: u16 = 1;
const TCP: u8 = 6;

/// The user who made the socket at the other end of a connection between two addresses of this machine:
/// nothing where no process has it any more.
///
/// # Errors
/// The kernel cannot say: it has no `sock_diag`, or does not know the socket.
pub fn user_of(own: SocketAddr, peer: SocketAddr) -> io::Result<Option<u32>> {
    let socket = net::socket_with(
        AddressFamily::NETLINK,
        SocketType::RAW,
        SocketFlags::CLOEXEC,
        Some(netlink::SOCK_DIAG),
    )?;
    net::send(&socket, &question(own, peer), SendFlags::empty())?;
    let mut answer = [0_u8; 4096];
    // The kernel has answered before `send` returns.
    let (length, _) = net::recv(&socket, &mut answer, RecvFlags::DONTWAIT)?;
    read(answer.get(..length).unwrap_or_default())
}

/// Asks for the other end: there, its address comes first.
fn question(own: SocketAddr, peer: SocketAddr) -> Vec<u8> {
    let (own, peer) = (canonical(own), canonical(peer));
    let mut bytes = Vec::with_capacity(HEADER + REQUEST);
    let length = u32::try_from(HEADER + REQUEST).unwrap_or_default();
    bytes.extend(length.to_ne_bytes());
    bytes.extend(BY_FAMILY.to_ne_bytes());
    bytes.extend(ONE.to_ne_bytes());
    bytes.extend([0; 8]);
    let family = if peer.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    bytes.extend([u8::try_from(family.as_raw()).unwrap_or_default(), TCP, 0, 0]);
    bytes.extend(u32::MAX.to_ne_bytes());
    bytes.extend(peer.port().to_be_bytes());
    bytes.extend(own.port().to_be_bytes());
    bytes.extend(address(peer.ip()));
    bytes.extend(address(own.ip()));
    // Any interface, and no cookie.
    bytes.extend([0; 4]);
    bytes.extend([u8::MAX; 8]);
    bytes
}

/// What a client has connected to by IPv4 is an IPv4 address at its end, whatever it is at ours.
fn canonical(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

fn address(ip: IpAddr) -> [u8; 16] {
    match ip {
        IpAddr::V6(ip) => ip.octets(),
        IpAddr::V4(ip) => {
            let mut bytes = [0; 16];
            let (first, _) = bytes.split_at_mut(4);
            first.copy_from_slice(&ip.octets());
            bytes
        }
    }
}

fn read(message: &[u8]) -> io::Result<Option<u32>> {
    let short = || io::Error::new(io::ErrorKind::InvalidData, "the kernel's answer is too short");
    let (header, body) = message.split_at_checked(HEADER).ok_or_else(short)?;
    if header.get(4..6) != Some(&BY_FAMILY.to_ne_bytes()[..]) {
        return Err(io::Error::new(io::ErrorKind::NotFound, "the kernel does not know the socket"));
    }
    let body = body.get(..ANSWER).ok_or_else(short)?;
    let number = |at: usize| {
        let bytes = body.get(at..at + 4).and_then(|it| it.try_into().ok());
        bytes.map(u32::from_ne_bytes).ok_or_else(short)
    };
    let (user, inode) = (number(64)?, number(68)?);
    Ok((inode != 0).then_some(user))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_connection_of_ones_own_is_ones_own() {
        for listen in ["127.0.0.1:0", "[::1]:0"] {
            let listener = TcpListener::bind(listen).unwrap();
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, peer) = listener.accept().unwrap();
            let own = server.local_addr().unwrap();
            let me = rustix::process::geteuid().as_raw();
            assert_eq!(user_of(own, peer).unwrap(), Some(me), "{listen}");
            // Closed with the question on its way: no process is there to be anybody.
            drop(client);
            assert!(!matches!(user_of(own, peer), Ok(Some(_))), "{listen}");
        }
    }

    #[test]
    fn an_address_of_both_families_is_found() {
        let listener = TcpListener::bind("[::]:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let _client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (server, peer) = listener.accept().unwrap();
        assert!(peer.is_ipv6());
        assert!(user_of(server.local_addr().unwrap(), peer).unwrap().is_some());
    }

    #[test]
    fn a_socket_that_is_not_there_is_nobodys() {
        let of = |port| SocketAddr::from(([127, 0, 0, 1], port));
        assert!(user_of(of(1), of(2)).is_err());
        assert!(read(&[]).is_err());
        assert!(read(&[0; 40]).is_err());
    }
}
