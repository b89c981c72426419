//! What this program can change, as data: what will be done, what that means for others, and what became
//! of it.

use millpond::{GpuUuid, GroupLimit, GroupName, VersionId};
use millpond_view::size::Size;
use millpond_view::units;

/// A change of the pond.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Makes another version current.
    Swap { model: String, tag: String, from: Option<String> },
    /// Makes the version current that was so before.
    Rollback { model: String, to: String, from: Option<String> },
    /// Ends a version.
    Retire { version: VersionId, label: String, readers: u32, own_bytes: u64 },
    /// Changes what a group may have on one GPU.
    Limit { group: GroupName, device: GpuUuid, gpu: Option<u32>, limit: Limit, used_bytes: u64 },
}

/// A limit as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Size(Size),
    None,
}

impl Limit {
    /// Reads `10G`, `50%` or `none`.
    ///
    /// # Errors
    /// What is wrong with the text.
    pub fn read(text: &str) -> Result<Self, String> {
        match text.trim() {
            "none" => Ok(Self::None),
            text => text.parse().map(Self::Size).map_err(|error| {
                format!("{error}; write a size such as 10G, a part such as 50%, or none")
            }),
        }
    }

    pub fn wire(self) -> GroupLimit {
        match self {
            Self::Size(size) => size.limit(),
            Self::None => GroupLimit::Unlimited,
        }
    }

    fn shown(self) -> String {
        match self {
            Self::Size(size) => size.to_string(),
            Self::None => "no limit".to_owned(),
        }
    }
}

impl Action {
    /// The question, with the name of the thing.
    pub fn question(&self) -> String {
        match self {
            Self::Swap { model, tag, .. } => format!("Make {model}@{tag} the current version?"),
            Self::Rollback { model, to, .. } => format!("Roll {model} back to {to}?"),
            Self::Retire { label, .. } => format!("Retire {label}?"),
            Self::Limit { group, gpu, limit, .. } => {
                let place = gpu.map(|gpu| format!(" on GPU {gpu}")).unwrap_or_default();
                format!("Give group {group} {}{place}?", limit.shown_as_object())
            }
        }
    }

    /// What it means for those who use the thing.
    pub fn effect(&self) -> Vec<String> {
        match self {
            Self::Swap { from, .. } | Self::Rollback { from, .. } => {
                let before = match from {
                    Some(from) => format!("Processes that have {from} keep it until they refresh."),
                    None => "The model has no current version now.".to_owned(),
                };
                vec![before, "A process that attaches from now on gets the other one.".to_owned()]
            }
            Self::Retire { readers, own_bytes, .. } => {
                let bytes = units::bytes(*own_bytes);
                let frees = match readers {
                    0 => format!("{bytes} are freed at once."),
                    _ => format!(
                        "{bytes} are freed when {} let go.",
                        units::count(u64::from(*readers), "reader")
                    ),
                };
                vec!["Nobody can attach to it any more.".to_owned(), frees]
            }
            Self::Limit { limit, used_bytes, .. } => {
                let used = units::bytes(*used_bytes);
                let mut lines = vec![format!("The group has {used} in use.")];
                if let Limit::Size(size) = limit
                    && let GroupLimit::Bytes(bytes) = size.limit()
                    && bytes < *used_bytes
                {
                    lines.push(
                        "That is more: caches give pages back, programs get no more memory."
                            .to_owned(),
                    );
                }
                lines
            }
        }
    }

    /// What is said when it was done.
    pub fn done(&self) -> String {
        match self {
            Self::Swap { model, tag, .. } => format!("{model}@{tag} is current"),
            Self::Rollback { model, to, .. } => format!("{model}@{to} is current again"),
            Self::Retire { label, .. } => format!("{label} is retired"),
            Self::Limit { group, limit, .. } => format!("group {group}: {}", limit.shown()),
        }
    }
}

impl Limit {
    fn shown_as_object(self) -> String {
        match self {
            Self::Size(size) => format!("a limit of {size}"),
            Self::None => "no limit".to_owned(),
        }
    }
}

/// Why something was not done, and the way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub message: String,
    pub hint: Option<String>,
}

impl Refusal {
    pub fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: Some(hint.into()) }
    }
}

impl From<millpond::Error> for Refusal {
    fn from(error: millpond::Error) -> Self {
        Self { message: error.to_string(), hint: error.hint() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_a_size_a_part_or_none() {
        assert_eq!(Limit::read("10G").unwrap().shown(), "10 GiB");
        assert_eq!(Limit::read(" 50% ").unwrap().wire(), GroupLimit::Permille(500));
        assert_eq!(Limit::read("none").unwrap().wire(), GroupLimit::Unlimited);
        for text in ["", "ten", "0", "-1", "10X", "101%"] {
            assert!(Limit::read(text).unwrap_err().contains("10G"), "{text}");
        }
    }

    #[test]
    fn a_question_names_the_thing_and_says_what_it_means() {
        let group: GroupName = "team-a".parse().unwrap();
        let limit = Action::Limit {
            group,
            device: GpuUuid([1; 16]),
            gpu: Some(0),
            limit: Limit::read("1G").unwrap(),
            used_bytes: 2 << 30,
        };
        assert_eq!(limit.question(), "Give group team-a a limit of 1 GiB on GPU 0?");
        assert_eq!(limit.effect().len(), 2);
        let retire = Action::Retire {
            version: VersionId::random(),
            label: "llama@v1".into(),
            readers: 2,
            own_bytes: 1 << 30,
        };
        assert_eq!(retire.question(), "Retire llama@v1?");
        assert_eq!(retire.effect()[1], "1 GiB are freed when 2 readers let go.");
    }
}
