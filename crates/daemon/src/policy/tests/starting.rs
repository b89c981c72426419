//! A pond that has just begun waits for its driver; one that had a daemon before knows its GPUs.

use millpond_wire::ErrorKind;
use millpond_wire::message::Status;

use super::*;

/// The longest that a request waits for the driver.
const BOUND_MS: u64 = 30_000;

impl Play {
    /// A pond whose driver has not answered, and a client.
    fn starting() -> (Self, ConnId) {
        let mut play = Self::new();
        let (conn, _) = play.client(1);
        play.pond.gpus = Default::default();
        (play, conn)
    }

    fn status(&mut self, number: u64) -> Status {
        match self.answer(number) {
            Some(ReplyBody::Status(status)) => *status,
            other => panic!("no status: {other:?}"),
        }
    }
}

fn named_device() -> RequestBody {
    RequestBody::TensorCreate(TensorCreate { device: Some(GPU), ..spec("x", 100) })
}

#[test]
fn requests_about_gpus_wait_until_the_driver_has_answered() {
    let (mut play, conn) = Play::starting();
    let waiting = [RequestBody::PondStatus, named_device()];
    let numbers = waiting.map(|body| play.start(conn, body));
    assert_eq!(play.ask(conn, RequestBody::Ping), ReplyBody::Done, "nobody else waits");
    assert!(numbers.iter().all(|number| play.answer(*number).is_none()));
    assert!(play.world.asked.is_empty());
    play.driver_ready(1 << 30);
    assert_eq!(play.world.asked.len(), 1, "the create goes on to the driver");
    play.pond.physical(&mut play.world, &[(GPU, 7)]);
    assert_eq!(play.status(numbers[0]).gpus().unwrap().len(), 1);
}

#[test]
fn after_the_driver_failed_creates_are_refused_and_a_status_says_why() {
    let (mut play, conn) = Play::starting();
    let [create, status] =
        [named_device(), RequestBody::PondStatus].map(|body| play.start(conn, body));
    assert!(play.answer(create).is_none() && play.answer(status).is_none());
    play.pond.driver_failed(&mut play.world, "no libcuda".into());
    let Some(ReplyBody::Failure(failure)) = play.answer(create) else { panic!() };
    assert_eq!(failure.kind, ErrorKind::Driver);
    assert!(failure.message.contains("no libcuda"));
    let failure = play.status(status).gpus().unwrap_err();
    assert!(failure.message.contains("no libcuda"), "{failure}");
}

#[test]
fn a_request_that_has_waited_long_enough_is_told_that_the_driver_is_starting() {
    let (mut play, conn) = Play::starting();
    let [create, status] =
        [named_device(), RequestBody::PondStatus].map(|body| play.start(conn, body));
    play.later(BOUND_MS - 1);
    assert!(play.answer(create).is_none() && play.answer(status).is_none());
    play.later(1);
    let Some(ReplyBody::Failure(failure)) = play.answer(create) else { panic!() };
    assert_eq!(failure.kind, ErrorKind::Driver);
    assert_eq!(failure.message, "the pond's driver is still starting");
    let failure = play.status(status).gpus().unwrap_err();
    assert_eq!(failure.message, "the pond's driver is still starting");
    play.driver_ready(1 << 30);
    assert!(play.world.asked.is_empty(), "what was refused is not done later");
}

#[test]
fn a_pond_that_shuts_down_waits_for_no_driver() {
    let (mut play, conn) = Play::starting();
    let create = play.start(conn, named_device());
    play.pond.drain(&mut play.world);
    let Some(ReplyBody::Failure(failure)) = play.answer(create) else { panic!() };
    assert_eq!(failure.kind, ErrorKind::Draining);
    let status = play.start(conn, RequestBody::PondStatus);
    assert!(play.status(status).devices.is_empty());
    assert!(play.pond.is_idle());
}

#[test]
fn after_a_restart_the_gpus_are_known_before_the_driver_answers() {
    let mut play = Play::new();
    play.restart();
    play.pond.gpus.forget_driver();
    let (conn, _) = play.client(1);
    let status = play.start(conn, RequestBody::PondStatus);
    let status = play.status(status);
    assert!(!status.driver_ready);
    assert_eq!(status.gpus().unwrap().len(), 1);
    let create = play.start(conn, named_device());
    assert!(play.answer(create).is_none(), "memory takes the driver");
}
