//! Faults on purpose: which call answers what, when, and how late.
//!
//! ```text
//! plan   = rule *( ";" rule )
//! rule   = call ":" action *( "," action )
//! call   = the name of an entry point, with or without its version ("cuMemAlloc")
//! action = "error=" code      answer this code instead of doing the work
//!        | "on=" n            only the n-th call (the first is 1)
//!        | "from=" n          the n-th call and all later ones
//!        | "oom_after=" n     n calls work, then 2 (out of memory); same as error=2,from=n+1
//!        | "latency_us=" n    wait n microseconds before the call
//!        | "until=" path      wait until this file exists
//!        | "panic=" n         the n-th call panics
//! ```
//!
//! `on` and `from` need an `error`. Several rules may name the same call; each counts for itself.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use millpond_cuda::sys::Status;

/// How often a call that waits for a file looks for it.
const LOOK: Duration = Duration::from_millis(1);

/// Why a fault plan was refused.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum FaultError {
    /// A rule without a colon.
    #[error("fault rule '{0}' is not of the form call:action")]
    NoCall(String),
    /// A call that the driver does not have.
    #[error("fault rule names '{0}', which is no call of this driver")]
    UnknownCall(String),
    /// An action that does not exist, or without a value.
    #[error(
        "fault action '{action}' of {call} is not one of error=, on=, from=, oom_after=, latency_us=, until=, panic="
    )]
    UnknownAction { call: String, action: String },
    /// A value that is not a number in range.
    #[error("fault action '{action}' of {call} needs a number in range")]
    BadNumber { call: String, action: String },
    /// Actions that do not go together, or one twice.
    #[error("fault rule for {call}: {reason}")]
    Conflict { call: String, reason: &'static str },
}

/// Which of a rule's calls fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum When {
    On(u64),
    From(u64),
}

#[derive(Debug)]
struct Rule {
    call: String,
    error: Option<(Status, When)>,
    latency: Option<Duration>,
    until: Option<PathBuf>,
    panic: Option<u64>,
    seen: AtomicU64,
}

/// A parsed plan; an empty one does nothing.
#[derive(Debug, Default)]
pub struct FaultPlan {
    rules: Vec<Rule>,
}

impl FaultPlan {
    /// Reads a plan strictly: whatever is not understood is an error.
    ///
    /// `known` answers the full name of a call, or `None`.
    ///
    /// # Errors
    /// The first thing in the text that is not in the grammar.
    pub fn parse(text: &str, known: fn(&str) -> Option<&'static str>) -> Result<Self, FaultError> {
        let mut rules = Vec::new();
        for part in text.split(';').map(str::trim).filter(|part| !part.is_empty()) {
            let (call, actions) =
                part.split_once(':').ok_or_else(|| FaultError::NoCall(part.to_owned()))?;
            let call = known(call.trim())
                .ok_or_else(|| FaultError::UnknownCall(call.trim().to_owned()))?;
            rules.push(Rule::parse(call, actions)?);
        }
        Ok(Self { rules })
    }

    /// True when the plan has any rule.
    #[must_use]
    pub fn is_set(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Waits and fails as the plan says for one call.
    fn meet(&self, call: &str) -> Result<(), Status> {
        let mut answer = Ok(());
        for rule in self.rules.iter().filter(|rule| rule.call == call) {
            if let Some(latency) = rule.latency {
                std::thread::sleep(latency);
            }
            if let Some(path) = &rule.until {
                while !path.exists() {
                    std::thread::sleep(LOOK);
                }
            }
            let count = rule.seen.fetch_add(1, Ordering::Relaxed) + 1;
            if rule.panic == Some(count) {
                panic_in(call);
            }
            if let Some((status, when)) = rule.error {
                let hit = match when {
                    When::On(n) => count == n,
                    When::From(n) => count >= n,
                };
                if hit && answer.is_ok() {
                    answer = Err(status);
                }
            }
        }
        answer
    }
}

/// What becomes of it is the process's own decision: a daemon ends, another program gets an error.
#[expect(clippy::panic, reason = "this is what was asked for")]
fn panic_in(call: &str) -> ! {
    panic!("a panic in {call}, on purpose")
}

impl Rule {
    fn parse(call: &str, actions: &str) -> Result<Self, FaultError> {
        let conflict = |reason| FaultError::Conflict { call: call.to_owned(), reason };
        let (mut error, mut when, mut latency, mut panic) = (None, None, None, None);
        let mut until = None;
        for action in actions.split(',').map(str::trim) {
            let unknown =
                || FaultError::UnknownAction { call: call.to_owned(), action: action.to_owned() };
            let (key, value) = action.split_once('=').ok_or_else(unknown)?;
            if key.trim() == "until" {
                if until.replace(PathBuf::from(value.trim())).is_some() {
                    return Err(conflict("an action is given twice"));
                }
                continue;
            }
            let bad = || FaultError::BadNumber { call: call.to_owned(), action: action.to_owned() };
            let number: u64 = value.trim().parse().map_err(|_| bad())?;
            let twice = match key.trim() {
                "error" => {
                    error.replace(Status(u32::try_from(number).map_err(|_| bad())?)).is_some()
                }
                "on" => when.replace(When::On(number)).is_some(),
                "from" => when.replace(When::From(number)).is_some(),
                "oom_after" => {
                    let from = number.checked_add(1).ok_or_else(bad)?;
                    error.replace(Status::OUT_OF_MEMORY).is_some()
                        | when.replace(When::From(from)).is_some()
                }
                "latency_us" => latency.replace(Duration::from_micros(number)).is_some(),
                "panic" => panic.replace(number).is_some(),
                _ => return Err(unknown()),
            };
            if twice {
                return Err(conflict("an action is given twice"));
            }
        }
        if matches!(when, Some(When::On(0) | When::From(0))) || panic == Some(0) {
            return Err(conflict("calls are counted from 1"));
        }
        let error = match (error, when) {
            (Some(Status::SUCCESS), _) => return Err(conflict("error=0 is not an error")),
            (Some(status), when) => Some((status, when.unwrap_or(When::From(1)))),
            (None, Some(_)) => return Err(conflict("on= and from= need error=")),
            (None, None) => None,
        };
        let (call, seen) = (call.to_owned(), AtomicU64::new(0));
        Ok(Self { call, error, latency, until, panic, seen })
    }
}

static ACTIVE: AtomicBool = AtomicBool::new(false);
static PLAN: RwLock<Option<Arc<FaultPlan>>> = RwLock::new(None);

/// Replaces this process's fault plan, for tests that link the driver. Counting starts again.
///
/// # Errors
/// As [`FaultPlan::parse`]; the old plan then stays.
pub fn set(text: &str) -> Result<(), FaultError> {
    install(Arc::new(FaultPlan::parse(text, crate::bridge::full_name)?));
    Ok(())
}

/// Removes this process's fault plan.
pub fn clear() {
    install(Arc::default());
}

pub(crate) fn install(plan: Arc<FaultPlan>) {
    let active = plan.is_set();
    *PLAN.write().unwrap_or_else(PoisonError::into_inner) = Some(plan);
    ACTIVE.store(active, Ordering::Release);
}

/// The check at the start of every call: one load while there is no plan.
pub(crate) fn meet(call: &str) -> Result<(), Status> {
    if !ACTIVE.load(Ordering::Acquire) {
        return Ok(());
    }
    let plan = PLAN.read().unwrap_or_else(PoisonError::into_inner).clone();
    plan.map_or(Ok(()), |plan| plan.meet(call))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(name: &str) -> Option<&'static str> {
        ["cuMemCreate", "cuMemMap"].into_iter().find(|known| *known == name)
    }

    fn refused(text: &str) -> FaultError {
        FaultPlan::parse(text, known).unwrap_err()
    }

    #[test]
    fn the_documented_forms_work() {
        let plan =
            FaultPlan::parse("cuMemCreate:oom_after=2; cuMemMap:error=999,on=2 ;", known).unwrap();
        let create: Vec<_> = (0..4).map(|_| plan.meet("cuMemCreate")).collect();
        assert_eq!(
            create,
            [Ok(()), Ok(()), Err(Status::OUT_OF_MEMORY), Err(Status::OUT_OF_MEMORY)]
        );
        let map: Vec<_> = (0..3).map(|_| plan.meet("cuMemMap")).collect();
        assert_eq!(map, [Ok(()), Err(Status::UNKNOWN), Ok(())]);
        assert_eq!(plan.meet("cuMemUnmap"), Ok(()));
    }

    #[test]
    fn latency_alone_fails_nothing() {
        let plan = FaultPlan::parse("cuMemMap:latency_us=2000", known).unwrap();
        let start = std::time::Instant::now();
        assert_eq!(plan.meet("cuMemMap"), Ok(()));
        assert!(start.elapsed() >= Duration::from_millis(2));
    }

    #[test]
    fn a_call_waits_until_a_file_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a=b");
        let plan = FaultPlan::parse(&format!("cuMemMap:until={}", file.display()), known).unwrap();
        std::thread::scope(|scope| {
            let call = scope.spawn(|| plan.meet("cuMemMap"));
            assert_eq!(plan.meet("cuMemCreate"), Ok(()), "others do not wait");
            assert!(!call.is_finished());
            std::fs::File::create(&file).unwrap();
            assert_eq!(call.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn what_is_not_in_the_grammar_is_refused() {
        assert!(matches!(refused("cuMemCreate"), FaultError::NoCall(_)));
        assert!(matches!(refused("cuNothing:error=1"), FaultError::UnknownCall(_)));
        assert!(matches!(refused("cuMemMap:error"), FaultError::UnknownAction { .. }));
        assert!(matches!(refused("cuMemMap:"), FaultError::UnknownAction { .. }));
        assert!(matches!(refused("cuMemMap:errors=1"), FaultError::UnknownAction { .. }));
        assert!(matches!(refused("cuMemMap:error=x"), FaultError::BadNumber { .. }));
        assert!(matches!(refused("cuMemMap:error=5000000000"), FaultError::BadNumber { .. }));
        for text in [
            "cuMemMap:on=1",
            "cuMemMap:error=0",
            "cuMemMap:error=1,on=0",
            "cuMemMap:error=1,error=2",
            "cuMemMap:oom_after=1,from=2",
            "cuMemMap:until=a,until=b",
        ] {
            assert!(matches!(refused(text), FaultError::Conflict { .. }), "{text}");
        }
    }
}
