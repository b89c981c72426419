//! Taking the channel that this process was started with.

use std::fs::File;

use rustix::net::SocketType;

use crate::channel::MoverEnd;
use crate::error::MoverError;

/// Takes the channel from standard input and puts `/dev/null` there, so that nothing else reads it.
pub(crate) fn take() -> Result<MoverEnd, MoverError> {
    let stdin = rustix::stdio::stdin();
    if rustix::net::sockopt::socket_type(stdin) != Ok(SocketType::SEQPACKET) {
        return Err(MoverError::NotAChannel);
    }
    let socket = rustix::io::fcntl_dupfd_cloexec(stdin, 3)
        .map_err(MoverError::io("taking the mover's channel"))?;
    let null = File::open("/dev/null").map_err(MoverError::io("opening '/dev/null'"))?;
    rustix::stdio::dup2_stdin(&null).map_err(MoverError::io("closing standard input"))?;
    Ok(MoverEnd::new(socket))
}
